"""OpenNMT-py as one more peer in training, in packages of its own (tests/support/oracles/opennmt.py says which and
why).

Its interpreter runs this file, so nothing of ours is imported but its architecture: what it trains on comes in a file.
Its Transformer is pre-norm: one LayerNorm more on top of each stack. Model and loss are its own, with the smoothing and
the dropout of all others; the counts of right tokens that its own trainer makes as well are left out.
"""

import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.oracles.opennmt import architecture

if TYPE_CHECKING:  # its interpreter need not have what ours has
    from transformer.config import ModelConfig
    from transformer.data.batches import Batch


def save_contest(
    path: Path, config: "ModelConfig", batches: "Sequence[Batch]", settings: Mapping[str, str | float]
) -> Path:
    """Writes what `main` needs. `settings`: precision, threads, library, rate, smoothing, dropout, clip."""
    import torch

    names = ("vocab_size", "encoder_layers", "decoder_layers", "d_model", "d_ff", "heads")
    sizes = {name: getattr(config, name) for name in names}
    pairs = [(batch.source, torch.cat([batch.target[:, :1], batch.labels], 1)) for batch in batches]  # (B, S), (B, T+1)
    torch.save({"sizes": sizes, "pairs": pairs, "settings": dict(settings)}, path)
    return path


def main(path: str) -> None:
    """For each line on stdin an update with each batch; prints target tokens a second, and 0 for the MFU."""
    warnings.simplefilter("ignore", FutureWarning)  # of what torch will no longer have: this torch still has it
    import torch
    from torch import nn

    saved = torch.load(path)
    settings = saved["settings"]
    if settings["threads"]:
        torch.set_num_threads(settings["threads"])
    backend: Any = torch.backends.mkldnn
    backend.matmul.fp32_precision = settings["library"]
    torch.manual_seed(0)
    model = architecture(saved["sizes"], settings["dropout"]).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=settings["rate"], betas=(0.9, 0.98), eps=1e-9)
    criterion = nn.CrossEntropyLoss(ignore_index=0, reduction="sum", label_smoothing=settings["smoothing"])
    tokens = [int((target[:, 1:] != 0).sum()) for _, target in saved["pairs"]]

    def turn() -> None:
        for (source, target), count in zip(saved["pairs"], tokens, strict=True):
            lengths = (source != 0).sum(1)  # (B)
            with torch.autocast("cpu", torch.bfloat16, enabled=settings["precision"] == "bfloat16"):
                states, _ = model(source[..., None], target[..., None], lengths)  # (B, T, D)
                logits = model.generator(states.flatten(0, 1))  # (B * T, V)
                loss = criterion(logits.float(), target[:, 1:].flatten()) / count
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), settings["clip"])
            optimizer.step()
            optimizer.zero_grad()

    turn()
    print("ready", flush=True)
    for _ in sys.stdin:
        began = time.perf_counter()
        turn()
        print(sum(tokens) / (time.perf_counter() - began), 0.0, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

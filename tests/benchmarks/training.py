"""How fast is training? Target tokens per second of ours and of two peers, on this machine.

    python -m tests.benchmarks.training [--size small|base|paper-base] [--rounds 5] [--threads 2] [--device auto]

The peers are `torch.nn.Transformer`, put together plainly, and Hugging Face's MarianMT. All get the same batches of
about 4,000 target pieces (at `paper-base` 25,000, for a GPU), with lengths like those of sentences, and make whole
updates: forward, backward, clipping, Adam, with dropout. Ours is `one_update` of the trainer. Each contestant is a
process of its own, so that none changes the settings of another; they take turns, and the fastest of several rounds
counts: other programs can only slow them down. The share of peak is what the products of our model need, of what large
square products reach on this device in that precision (transformer/training/arithmetic.py).
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import torch
import typer
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear

from transformer.config import BOS, EOS, PAD, DataConfig, ModelConfig, Recipe, TrainingConfig
from transformer.model import Transformer
from transformer.model.positions import sinusoids
from transformer.text.batches import Batch, collate
from transformer.training.arithmetic import measured_peak, training_flop
from transformer.training.data import Position
from transformer.training.device import autocast, choose_device
from transformer.training.memory import keep_memory
from transformer.training.optimizer import make_optimizer
from transformer.training.ranks import Ranks
from transformer.training.state import Progress
from transformer.training.update import one_update


@dataclass(frozen=True)
class Size:
    """Of the model, its vocabulary, and a batch."""

    layers: int
    d_model: int
    d_ff: int
    pieces: int  # V
    tokens: int  # target pieces in a batch


SIZES = {
    "small": Size(3, 256, 1024, 8_000, 4_000),
    "base": Size(6, 512, 2048, 8_000, 4_000),
    "paper-base": Size(6, 512, 2048, 37_000, 25_000),  # section 5.1: for a GPU
}
RATE, SMOOTHING, DROPOUT, CLIP = 1e-4, 0.1, 0.1, 1.0
LENGTHS = (9, 14, 22, 35)  # of the sentences, in pieces: a batch each, and all of them in one turn

Update = Callable[[Batch], object]


def config_of(size: str) -> ModelConfig:
    of = SIZES[size]
    return ModelConfig(
        vocab_size=of.pieces, encoder_layers=of.layers, decoder_layers=of.layers, d_model=of.d_model, d_ff=of.d_ff,
        heads=8, dropout=DROPOUT, embedding_dropout=DROPOUT,
    )  # fmt: skip


def sentences(length: int, size: str, generator: torch.Generator) -> Batch:
    """A batch of random pieces, `length` and a little more or less in each sentence."""
    vocab_size = SIZES[size].pieces
    sources: list[list[int]] = []
    targets: list[list[int]] = []
    while sum(map(len, targets)) + len(targets) < SIZES[size].tokens:
        for side in (sources, targets):
            count = int(torch.randint(length - 2, length + 3, (1,), generator=generator))
            side.append(torch.randint(EOS + 1, vocab_size, (count,), generator=generator).tolist())
    return collate(sources, targets)


def headlight(config: ModelConfig, precision: str, device: torch.device) -> Update:
    """Our trainer."""
    keep_memory()
    training: dict[str, Any] = {"precision": precision, "clip_norm": CLIP}
    recipe = Recipe(data=DataConfig(toy="copy"), model=config, training=TrainingConfig(**training))
    model = Transformer(config).to(device)
    optimizer, progress = make_optimizer(model, recipe.training), Progress()

    def batches(batch: Batch) -> Iterator[tuple[Batch, Position]]:
        yield batch, Position(0, 0)

    return lambda batch: one_update(model, optimizer, batches(batch), progress, recipe, RATE, Ranks())


class Plain(nn.Module):
    """What a good tutorial builds of torch's own parts."""

    positions: Tensor

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.embedding = nn.Embedding(config.vocab_size, config.d_model, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        self.register_buffer("positions", sinusoids(config.max_positions, config.d_model, "interleaved"))
        self.dropout = nn.Dropout(DROPOUT)
        layers = config.encoder_layers, config.decoder_layers
        self.transformer = nn.Transformer(config.d_model, 8, *layers, config.d_ff, DROPOUT, batch_first=True)

    def embed(self, ids: Tensor) -> Tensor:
        """(B, T) -> (B, T, D)."""
        scaled = self.embedding(ids) * self.embedding.embedding_dim**0.5
        return self.dropout(scaled + self.positions[: ids.shape[1]])

    def forward(self, batch: Batch) -> Tensor:
        """The mean loss of the batch."""
        causal = nn.Transformer.generate_square_subsequent_mask(batch.target.shape[1], device=batch.target.device) < 0
        padding = batch.source == PAD
        states = self.transformer(
            self.embed(batch.source),
            self.embed(batch.target),
            tgt_mask=causal,
            src_key_padding_mask=padding,
            tgt_key_padding_mask=batch.labels == PAD,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )  # (B, T, D)
        logits = linear(states, self.embedding.weight).float().flatten(0, 1)  # (B * T, V)
        return cross_entropy(logits, batch.labels.flatten(), ignore_index=PAD, label_smoothing=SMOOTHING)


def trained(model: nn.Module, loss_of: Callable[[Batch], Tensor], precision: str, device: torch.device) -> Update:
    """A training step as it is commonly written."""
    model.to(device).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, betas=(0.9, 0.98), eps=1e-9)

    def update(batch: Batch) -> None:
        with autocast(device, precision):
            loss = loss_of(batch.to(device))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        optimizer.zero_grad()

    return update


def torch_transformer(config: ModelConfig, precision: str, device: torch.device) -> Update:
    model = Plain(config)
    return trained(model, model, precision, device)


def marian(config: ModelConfig, precision: str, device: torch.device) -> Update:
    """Its loss has no label smoothing, which saves it a little."""
    from transformers import MarianConfig, MarianMTModel

    settings: dict[str, Any] = {
        "vocab_size": config.vocab_size, "d_model": config.d_model, "dropout": DROPOUT, "scale_embedding": True,
        "encoder_layers": config.encoder_layers, "decoder_layers": config.decoder_layers,
        "encoder_ffn_dim": config.d_ff, "decoder_ffn_dim": config.d_ff, "activation_function": "relu",
        "encoder_attention_heads": 8, "decoder_attention_heads": 8, "attn_implementation": "sdpa",
        "pad_token_id": PAD, "bos_token_id": BOS, "eos_token_id": EOS, "decoder_start_token_id": BOS,
        "forced_eos_token_id": None,
    }  # fmt: skip
    model = MarianMTModel(MarianConfig(**settings))

    def loss_of(batch: Batch) -> Tensor:
        labels = batch.labels.masked_fill(batch.labels == PAD, -100)
        found = model(
            input_ids=batch.source,
            attention_mask=(batch.source != PAD).long(),
            decoder_input_ids=batch.target,
            labels=labels,
            use_cache=False,
        )
        return found.loss

    return trained(model, loss_of, precision, device)


CONTESTANTS = {"Headlight": headlight, "torch.nn.Transformer": torch_transformer, "MarianMT": marian}


def contest(name: str, size: str, precision: str, device: str, threads: int) -> None:
    """One contestant: for each line on stdin, makes one turn and prints its target tokens per second."""
    if threads:
        torch.set_num_threads(threads)
    torch.manual_seed(0)
    where = choose_device(device)
    config = config_of(size)
    update = CONTESTANTS[name](config, precision, where)
    generator = torch.Generator().manual_seed(1)
    batches = [sentences(length, size, generator) for length in LENGTHS]
    compete(update, config, batches, precision, where)


def compete(update: Update, config: ModelConfig, batches: list[Batch], precision: str, where: torch.device) -> None:
    """For each line on stdin an update with each batch; prints target tokens a second and the share of peak."""
    flop = sum(training_flop(config, batch) for batch in batches)

    def turn() -> None:
        for batch in batches:
            update(batch)

    turn()
    peak = measured_peak(where, precision)
    print("ready", flush=True)
    for _ in sys.stdin:
        began = time.perf_counter()
        turn()
        if where.type == "cuda":
            torch.cuda.synchronize()
        took = time.perf_counter() - began
        print(sum(batch.target_tokens for batch in batches) / took, flop / took / peak, flush=True)


def main(
    size: Annotated[Literal["small", "base", "paper-base"], typer.Option(help="Of model and batch.")] = "small",
    rounds: Annotated[int, typer.Option(help="The fastest of so many counts.")] = 5,
    threads: Annotated[int, typer.Option(help="0: as many as torch likes.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    only: Annotated[str, typer.Option(hidden=True)] = "",  # be this contestant
    precision: Annotated[str, typer.Option(hidden=True)] = "",
) -> None:
    """Prints the table."""
    if only:
        return contest(only, size, precision, device, threads)
    table = Table(title=f"Target tokens per second in training, size {size}")
    for column in ("precision", *CONTESTANTS, "ratio to the faster peer", "our share of peak"):
        table.add_column(column, justify="right")
    options = ["--size", size, "--device", device, "--threads", str(threads)]
    for each in ("float32", "bfloat16"):
        running = {name: started(__spec__.name, name, *options, "--precision", each) for name in CONTESTANTS}
        best = best_of(rounds, running)
        peer = max(speed for name, (speed, _) in best.items() if name != "Headlight")
        ours, share = best["Headlight"]
        speeds = [f"{speed:,.0f}" for speed, _ in best.values()]
        table.add_row(each, *speeds, f"{ours / peer:.2f}", f"{share:.0%}")
    Console().print(table)
    return None


def started(module: str, name: str, *options: str) -> "subprocess.Popen[str]":
    """A contestant as a process of its own, when it is ready."""
    command = [sys.executable, "-m", module, "--only", name, *options]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    if process.stdout.readline().strip() != "ready":
        raise SystemExit(f"{name} did not start.")
    return process


def best_of(rounds: int, running: dict[str, "subprocess.Popen[str]"]) -> dict[str, tuple[float, float]]:
    """They take turns; (target tokens a second, share of peak) of each one's fastest. Ends them."""
    best = dict.fromkeys(running, (0.0, 0.0))
    for _ in range(rounds):
        for name, process in running.items():
            assert process.stdin
            assert process.stdout
            process.stdin.write("\n")
            process.stdin.flush()
            speed, share = map(float, process.stdout.readline().split())
            best[name] = max(best[name], (speed, share))
    for process in running.values():
        process.communicate()
    return best


if __name__ == "__main__":
    typer.run(main)

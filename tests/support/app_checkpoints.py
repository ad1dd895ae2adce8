"""Tiny checkpoints for the tests of the app: random weights, a tokenizer trained on a few lines."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch

from transformer.checkpoint.checkpoint_file import TrainedModel, save_checkpoint
from transformer.config import EOS, ModelConfig, TokenizerConfig
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer

LINES = (
    "The animal didn't cross the street because it was too tired.",
    "Das Tier überquerte die Straße nicht, weil es zu müde war.",
    "Where is the nearest train station? I have never seen such a beautiful garden.",
    "Wo ist der nächste Bahnhof? Ich habe noch nie einen so schönen Garten gesehen.",
    "the the the The cat sat on the mat",
)


@cache
def tokenizer_of_lines(byte_fallback: bool = True) -> Tokenizer:
    """The tokenizer of these checkpoints. Without `byte_fallback`, one that knows only the letters of `LINES`."""
    if byte_fallback:
        return Tokenizer.train(LINES, TokenizerConfig(kind="bpe", vocab_size=420))
    return Tokenizer.train(LINES, TokenizerConfig(kind="unigram", vocab_size=90, byte_fallback=False))


@dataclass(frozen=True)
class Size:
    """Depth of encoder and decoder, and heads."""

    encoder: int = 2
    decoder: int = 3
    heads: int = 4


def write_checkpoint(
    path: Path,
    size: Size = Size(),
    seed: int = 1,
    options: Mapping[str, Any] | None = None,
    *,
    longer: int = 2,
    search: Mapping[str, Any] | None = None,
    ends_at_once: bool = False,
    byte_fallback: bool = True,
    **data: Any,
) -> Path:
    """A checkpoint at `path`, whose translations have at most `longer` tokens more than their source.

    `options` are those of the model (norm, positions, ...), `search` and `data` those of the recipe's sections
    `decoding` and `data`. One that ends at once writes `</s>` and nothing before it. Without `byte_fallback` letters
    that it never met are unknown.
    """
    tokenizer = tokenizer_of_lines(byte_fallback)
    torch.manual_seed(seed)
    sizes = {"encoder_layers": size.encoder, "decoder_layers": size.decoder, "heads": size.heads}
    config = ModelConfig(
        **{"vocab_size": tokenizer.vocab_size, "d_model": 32, "d_ff": 64, "max_positions": 128}
        | sizes
        | dict(options or {})
    )
    model = Transformer(config).eval()
    with torch.no_grad():  # far from 0, so that attention is not flat and heads differ
        for name, weight in model.named_parameters():
            if ".query." in name or ".key." in name:
                weight.mul_(3.0)
        if ends_at_once:
            last = model.decoder.norm or model.decoder.layers[-1].feed_forward_residual.norm
            end = torch.nn.functional.normalize(torch.ones(config.d_model), dim=0)
            model.output.weight[EOS] = 10 * end
            last.bias.copy_(100 * end)
    recipe = {
        "data": {"source_language": "en", "target_language": "de"} | data,
        "decoding": {"max_extra_length": longer} | dict(search or {}),
    }
    save_checkpoint(path, TrainedModel(model, tokenizer, recipe, {"bleu": 1.5}))
    return path

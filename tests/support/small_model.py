"""Small models and batches for the tests of this folder.

Every parameter is random, biases and norms too: with their initial 0 and 1 many mistakes would have no effect.
Source and target never have the same length, nor encoder and decoder the same depth.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from transformer.config import BOS, EOS, PAD, ModelConfig
from transformer.model import DecoderState, Probe, Transformer, census

SMALL = ModelConfig(vocab_size=13, encoder_layers=1, decoder_layers=2, d_model=8, d_ff=12, heads=2, max_positions=32)
B, S, T = 3, 7, 4


def small(**changes: Any) -> ModelConfig:
    return replace(SMALL, **changes)


def randomised(config: ModelConfig, dtype: torch.dtype = torch.float64, seed: int = 3) -> Transformer:
    """A model in eval mode, none of whose parameters is 0 or 1."""
    torch.manual_seed(seed)
    model = Transformer(config).to(dtype).eval()
    scramble(model)
    return model


def scramble(module: nn.Module) -> None:
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)


def batch(padded: bool = True, vocab_size: int = 13) -> tuple[Tensor, Tensor]:
    """Source (B, S) and target (B, T) ids; the padding of the two is in different rows and columns."""
    generator = torch.Generator().manual_seed(5)
    source = torch.randint(4, vocab_size, (B, S), generator=generator)
    target = torch.randint(4, vocab_size, (B, T), generator=generator)
    source[:, -1], target[:, 0] = EOS, BOS
    if padded:
        source[0, 5:], source[2, 6:], target[1, 2:] = PAD, PAD, PAD
    return source, target


def sites(config: ModelConfig) -> list[str]:
    """The census of the model with these layers and norm; no other option changes a name (test_census proves it)."""
    depths = {"encoder_layers": config.encoder_layers, "decoder_layers": config.decoder_layers}
    return list(census(small(norm=config.norm, **depths)))


def probe_of(model: Transformer, *patterns: str, **edits: Any) -> Probe:
    """A probe of this model; keyword names of edits have `__` for the dot."""
    return Probe(sites(model.config), patterns, {name.replace("__", "."): edit for name, edit in edits.items()})


def everything(model: Transformer, source: Tensor, target: Tensor) -> dict[str, Tensor]:
    """All records of one teacher-forced pass."""
    probe = probe_of(model, "*")
    model(source, target, probe)
    return probe.records


def cached_logits(model: Transformer, source: Tensor, target: Tensor) -> Tensor:
    """The rows of all decoding steps, joined: target (R, T) -> (R, T, V)."""
    state: DecoderState = model.start(source)
    return torch.stack([model.step(target[:, t], state) for t in range(target.shape[1])], dim=1)  # (R, T, V)


class Counting:
    """A backend that compiles nothing and keeps the graphs it is given."""

    def __init__(self) -> None:
        self.graphs: list[torch.fx.GraphModule] = []

    def __call__(self, graph: torch.fx.GraphModule, inputs: Any) -> Callable[..., Any]:
        self.graphs.append(graph)
        return graph.forward

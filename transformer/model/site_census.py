"""The census: the names and shapes of all sites of a model, found by running a small model once.

No list is kept by hand, so the names that can be probed always match the code.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

import torch
from torch import Tensor

from transformer.config import ModelConfig
from transformer.model.probe import BaseProbe, Probe
from transformer.model.transformer import Transformer

# The small model has the layers and options of the model, so it has the same sites. No two axes have the
# same length, so each length stands for one axis.
_LETTERS = {3: "B", 29: "S", 31: "T", 7: "H", 22: "E", 154: "D", 157: "F", 163: "V"}


class _AllSites(Probe):
    """Records every site, whatever its name."""

    def __init__(self) -> None:
        super().__init__(sites=())

    def __call__(self, name: str, value: Tensor) -> Tensor:
        self.records[self._prefix + name] = value
        return value

    def at(self, *path: object) -> "BaseProbe | Probe":
        below = object.__new__(_AllSites)
        below.__dict__ = {**self.__dict__, "_prefix": self._prefix + "".join(f"{part}." for part in path)}
        return below

    def is_probed(self, name: str) -> bool:
        return True


@lru_cache(maxsize=32)
def census(config: ModelConfig) -> Mapping[str, tuple[str, ...]]:
    """Every site of the model, in the order of the computation, with a letter for each axis.

    For example `{"encoder.layers.0.self_attention.weights": ("B", "H", "S", "S"), ...}`: S for positions of the source,
    T for those of the target.
    """
    probe = _AllSites()
    sizes = replace(config, heads=7, d_model=154, d_ff=157, vocab_size=163, max_positions=64)
    with torch.random.fork_rng(devices=[]), torch.inference_mode():
        model = Transformer(sizes).eval()
        model(torch.ones(3, 29, dtype=torch.long), torch.ones(3, 31, dtype=torch.long), probe)
    shapes = {name: tuple(_LETTERS[length] for length in value.shape) for name, value in probe.records.items()}
    return MappingProxyType(shapes)  # it is cached, so it must not change

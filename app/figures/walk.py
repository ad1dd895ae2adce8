"""The walk through the model: every station from characters to the chosen piece, in the order of the computation.

The list is made from the checkpoint's own config: its layers, the place of its norms, its positions. A station is known
by the name of its site (contract 1 of the design), or by a plain name where the model has no tensor of its own there:
`characters`, `pieces`, `chosen`; and `….concatenated`, which is the site `context` with its heads joined. What is said
at each station stands in walk.toml.
"""

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Template
from typing import Any, Literal

from transformer.config import ModelConfig

Detail = Literal["lecture", "exam"]
Look = Literal[
    "characters", "pieces", "stream", "head", "scores", "mask", "weights", "norm", "hidden", "logits", "chosen"
]
Stack = Literal["encoder", "decoder", "output"]

_WORDS: dict[str, dict[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("walk.toml").read_text(encoding="utf-8")
)
_PLAIN = ("characters", "pieces", "chosen")
_HEAD = ("query", "key", "value", "products", "scores", "mask", "masked_scores", "weights", "context", "concatenated")
_LECTURE = ("query", "key", "value", "weights", "context", "activated")


@dataclass(frozen=True)
class Station:
    """One stop of the walk.

    Attributes:
        id: the site's name, or a plain one.
        look: which kind of picture shows it.
        part: "input", "self_attention", "cross_attention", "feed_forward" or "top".
        layer: from 0; None outside the layers.
        letters: the shape, in the alphabet of the design, without the batch axis.
        formula: LaTeX.
    """

    id: str
    title: str
    look: Look
    stack: Stack
    part: str
    layer: int | None
    letters: tuple[str, ...]
    section: str
    formula: str
    text: str

    @property
    def name(self) -> str:
        """The last part of the id."""
        return self.id.rsplit(".", 1)[-1]

    @property
    def site(self) -> str | None:
        """The tensor that is shown; None where there is only text."""
        if self.id in _PLAIN:
            return "logits" if self.id == "chosen" else None
        return self.id.replace(".concatenated", ".context")

    @property
    def block(self) -> str:
        """The box of the map in which it lies: a prefix of its site, where it has one."""
        place = f"{self.stack}.layers.{self.layer}" if self.layer is not None else self.stack
        return f"{place}.{self.part}"


@lru_cache(maxsize=16)
def stations(config: ModelConfig, detail: Detail = "exam") -> tuple[Station, ...]:
    """Every station in order; `lecture` leaves out those that a first look can do without."""
    found = [_station(config, "encoder", "input", None, "text", name) for name in _WORDS["text"]]
    for stack, layers in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        found += [_station(config, stack, "input", None, "embedding", name) for name in _WORDS["embedding"]]
        attentions = ["self_attention"] if stack == "encoder" else ["self_attention", "cross_attention"]
        for layer in range(layers):
            for part in attentions:
                found += [
                    _station(config, stack, part, layer, "attention", name) for name in _order(config, "attention")
                ]
            names = _order(config, "feed_forward")
            found += [_station(config, stack, "feed_forward", layer, "feed_forward", name) for name in names]
        if config.norm == "pre":
            found.append(_station(config, stack, "top", None, "top", "norm_out"))
    found += [_station(config, "output", "top", None, "output", name) for name in _WORDS["output"]]
    return tuple(station for station in found if detail == "exam" or _is_for_a_lecture(station, config))


def nearest(wanted: str, walk: tuple[Station, ...]) -> int:
    """The place in the walk of a station, or of the one whose name begins most alike: walks differ."""
    parts = wanted.split(".")

    def shared(station: Station) -> int:
        own = station.id.split(".")
        different = (i for i, (a, b) in enumerate(zip(parts, own, strict=False)) if a != b)
        return next(different, min(len(parts), len(own))) + (station.id == wanted)

    return max(range(len(walk)), key=lambda i: (shared(walk[i]), -i))


def _order(config: ModelConfig, words: str) -> list[str]:
    names = [name for name in _WORDS[words] if name != "norm_out"]
    return [names[0], "norm_out", *names[1:]] if config.norm == "pre" else [*names, "norm_out"]


def _is_for_a_lecture(station: Station, config: ModelConfig) -> bool:
    if station.part == "input":
        return station.name in ("characters", "pieces", "output")
    closing = "residual_sum" if config.norm == "pre" else "norm_out"
    return station.part == "top" or station.name in (*_LECTURE, closing)


def _station(config: ModelConfig, stack: Any, part: str, layer: int | None, words: str, name: str) -> Station:
    said = _WORDS[words][name]
    place = {"text": "", "output": "", "embedding": f"{stack}.embedding.", "top": f"{stack}."}
    prefix = place.get(words, f"{stack}.layers.{layer}.{part}.")
    rows = "S" if stack == "encoder" else "T"
    seen = "T" if part == "self_attention" and stack == "decoder" else "S"
    fill = _fill(config, stack, part)
    return Station(
        id=prefix + name,
        title=Template(said["title"]).substitute(fill),
        look=said["look"],
        stack=stack,
        part=part,
        layer=layer,
        letters=tuple({"Q": rows, "K": seen}.get(letter, letter) for letter in said.get("shape", "")),
        section=said["section"],
        formula=Template(said.get("formula", "")).substitute(fill),
        text=Template(said["text"]).substitute(fill),
    )


def _fill(config: ModelConfig, stack: str, part: str) -> dict[str, str]:
    """The words that depend on the checkpoint."""
    pre = config.norm == "pre"
    norm = "Each row to mean 0 and deviation 1, then a learned gain and shift for each dimension."
    activation = {"relu": "ReLU", "gelu": "GELU", "silu": "SiLU"}[config.activation]
    inner = "x W_1 + b_1"
    causal = stack == "decoder" and part == "self_attention"
    window = "" if config.attention_window is None or part == "cross_attention" else (
        f" This checkpoint looks no further than {config.attention_window} positions away."
    )  # fmt: skip
    wave = r"PE_{(pos,2i)}=\sin\frac{pos}{10000^{2i/d}}\quad PE_{(pos,2i+1)}=\cos\frac{pos}{10000^{2i/d}}"
    return {
        "input": "source" if stack == "encoder" else "output so far, with `<s>` before it",
        "memory": "the encoder's output" if part == "cross_attention" else "the same rows",
        "masked": (
            "What comes later in the output is masked: row t may look at rows 1 to t." if causal
            else "Padding would be masked; one sentence alone has none, so every position may be seen."
        ) + window,
        "positions": {
            "sinusoidal": "Sines and cosines of the position, a wavelength for each pair of dimensions.",
            "learned": "This checkpoint learned a vector for each position; the paper tried that too (Table 3, row E).",
            "none": "This checkpoint has no positions: zeros are added.",
        }[config.positions],
        "positions_formula": wave if config.positions == "sinusoidal" else "",
        "activation": activation,
        "activation_formula": rf"\max(0,\,{inner})" if activation == "ReLU" else rf"\mathrm{{{activation}}}({inner})",
        "norm_formula": (
            r"\mathrm{Sublayer}(\mathrm{LayerNorm}(x))" if pre else r"\mathrm{LayerNorm}(x + \mathrm{Sublayer}(x))"
        ),
        "norm": (
            "This checkpoint normalises before the sub-layer (pre-norm, later work); the paper does it after the sum. "
            if pre else ""
        ) + norm,
    }  # fmt: skip

"""The walk through the model: every station from characters to the chosen token, in the order of the computation.

The list is made from the checkpoint's own config: its layers, the place of its norms, its positions. A station has the
name of its site (transformer/model/probe.py), or a plain name where the model has no tensor of its own there:
`characters`, `token_ids`, `shifted`, `chosen`; and `….concatenated`, which is the site `context` with its heads joined.
What is said at each station is in stations.toml, and what depends on the checkpoint in app/figures/station_texts.py.

With the detail "exam" the walk has all stations. With "lecture", for a first lecture, it has fewer: of the layers only
some stations of the first one and the end of the last one.
"""

import tomllib
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from string import Template
from typing import Any, Literal

from app.figures.station_texts import words_for
from app.languages import Language, _, gettext_noop, language
from app.views.shared.shapes import length_letter
from app.views.steps.edited_sites import NO_EDITS, EditedSites
from transformer.config import ModelConfig
from transformer.model.attention_kinds import depth

Detail = Literal["lecture", "exam"]
ShownAs = Literal[
    "characters",
    "token_ids",
    "shifted",
    "stream",
    "sum",
    "head",
    "scores",
    "mask",
    "weights",
    "norm",
    "hidden",
    "logits",
    "chosen",
]
Stack = Literal["encoder", "decoder", "output"]

_WORDS: dict[str, dict[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("stations.toml").read_text(encoding="utf-8")
)
STACKS: dict[Stack, str] = {
    "encoder": gettext_noop("encoder"),
    "decoder": gettext_noop("decoder"),
    "output": gettext_noop("output"),
}
_PARTS = {
    "self_attention": gettext_noop("self-attention"),
    "cross_attention": gettext_noop("encoder-decoder attention"),
    "feed_forward": gettext_noop("feed-forward"),
}
_PLAIN = ("characters", "token_ids", "shifted", "chosen")
_LECTURE = {
    "encoder.self_attention": ("norm_out", "query", "key", "value", "products", "scores", "weights", "context"),
    "encoder.feed_forward": ("activated",),
    "decoder.self_attention": ("mask", "weights"),
    "decoder.cross_attention": ("weights", "context"),
    "decoder.feed_forward": ("activated",),
}


@dataclass(frozen=True)
class Station:
    """One station of the walk.

    Attributes:
        id: the site's name, or a plain one.
        shown_as: the kind of picture that shows it.
        part: "input", "self_attention", "cross_attention", "feed_forward" or "top".
        layer: from 0; None outside the layers.
        letters: the shape in the letters of the README (H heads, S source length ...), without the batch axis.
        in_paper: whether `section` is a section of the paper.
        formula: LaTeX.
        text: one to three sentences about it.
        training: what dropout does here in training; "" where it does nothing.
        edited: what an edit changes here; "" where there is nothing to say.
    """

    id: str
    title: str
    shown_as: ShownAs
    stack: Stack
    part: str
    layer: int | None
    letters: tuple[str, ...]
    section: str
    in_paper: bool
    formula: str
    text: str
    training: str
    edited: str

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
    def rows(self) -> Literal["encoder", "decoder"]:
        """The stack whose tokens are the rows. Keys and values of encoder-decoder attention have source tokens."""
        of_source = self.part == "cross_attention" and self.name in ("key", "value")
        return "encoder" if self.stack == "encoder" or of_source else "decoder"

    @property
    def block(self) -> str:
        """The part of the model that contains it: inside a layer, the prefix of its site."""
        place = f"{self.stack}.layers.{self.layer}" if self.layer is not None else self.stack
        return f"{place}.{self.part}"


def where(station: Station) -> str:
    """The place of a station in the model, in words."""
    stack = _(STACKS[station.stack])
    if station.layer is None:
        return _("{stack}, input", stack=stack) if station.part == "input" else stack
    return _("{stack}, layer {layer}, {part}", stack=stack, layer=station.layer + 1, part=part_of(station))


def part_of(station: Station) -> str:
    """The sub-layer of a station, in words."""
    return _(_PARTS[station.part])


def stations(
    config: ModelConfig, detail: Detail = "exam", beside: str = "", edited: EditedSites = NO_EDITS
) -> tuple[Station, ...]:
    """Every station in order; with "lecture" those of a first lecture and the station `beside`, which the reader may
    have opened from the map although the lecture leaves it out."""
    return _stations(config, detail, beside, edited, language())


@lru_cache(maxsize=64)
def _stations(
    config: ModelConfig, detail: Detail, beside: str, edited: EditedSites, _spoken: Language
) -> tuple[Station, ...]:
    """`_spoken`: the language of the texts. Visitors with the same language share the cached result."""
    if detail == "lecture":
        return tuple(
            _for_a_lecture(station, config, edited)
            for station in stations(config, edited=edited)
            if station.id == beside or _is_for_a_lecture(station, config)
        )
    station = partial(_station, config, edited)
    found = [station("encoder", "input", None, "text", name) for name in ("characters", "token_ids")]
    for stack, layers in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        if stack == "decoder":
            found.append(station(stack, "input", None, "text", "shifted"))
        found += [station(stack, "input", None, "embedding", name) for name in _WORDS["embedding"]]
        attentions = ["self_attention"] if stack == "encoder" else ["self_attention", "cross_attention"]
        for layer in range(layers):
            for part in (*attentions, "feed_forward"):
                words = "feed_forward" if part == "feed_forward" else "attention"
                found += [station(stack, part, layer, words, name) for name in _order(config, words)]
        if config.norm == "pre":
            found.append(station(stack, "top", None, "top", "norm_out"))
    found += [station("output", "top", None, "output", name) for name in _WORDS["output"]]
    return tuple(found)


def nearest(wanted: str, walk: tuple[Station, ...]) -> int:
    """The place of a station in the walk. If this walk does not have it: the place of the first station whose name
    begins with the most of its parts."""
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
    if station.layer is None:
        return station.part == "top" or station.name in ("characters", "token_ids", "shifted", "output")
    if station.layer > 0:
        return _ends_a_stack(station, config)
    ends = station.name == _closing(config) and (station.stack == "encoder" or station.part == "feed_forward")
    return ends or station.name in _LECTURE[f"{station.stack}.{station.part}"]


def _for_a_lecture(station: Station, config: ModelConfig, edited: EditedSites) -> Station:
    """The station; at the end of the last layer with words for all layers after the first."""
    if not station.layer or not _ends_a_stack(station, config):
        return station
    last = station.layer + 1
    entry = _WORDS["lecture"]["second" if last == 2 else "rest"]
    title = Template(_(entry["title"])).substitute(last=last)
    text = Template(_(entry["text"])).substitute(stack=_(STACKS[station.stack]))
    if edited.layers_differ(station.stack, last):
        text += " " + _("Edits make these layers differ.")
    return replace(station, title=title, text=text, shown_as="stream", formula="")


def _ends_a_stack(station: Station, config: ModelConfig) -> bool:
    layers = depth(config, station.stack)
    return station.layer == layers - 1 and station.part == "feed_forward" and station.name == _closing(config)


def _closing(config: ModelConfig) -> str:
    """The last site of a sub-layer."""
    return "residual_sum" if config.norm == "pre" else "norm_out"


def _station(
    config: ModelConfig, edited: EditedSites, stack: Any, part: str, layer: int | None, words: str, name: str
) -> Station:
    entry = _WORDS[words][name]
    place = {"text": "", "output": "", "embedding": f"{stack}.embedding.", "top": f"{stack}."}
    prefix = place.get(words, f"{stack}.layers.{layer}.{part}.")
    rows = length_letter(stack)
    seen = "T" if part == "self_attention" and stack == "decoder" else "S"
    fill = words_for(config, stack, part, edited.below(prefix), has_positions=stack not in edited.without_positions)

    def text(key: str) -> str:
        return Template(_(entry[key])).substitute(fill).strip() if key in entry else ""

    return Station(
        id=prefix + name,
        title=text("title"),
        shown_as=entry["shown_as"],
        stack=stack,
        part=part,
        layer=layer,
        letters=tuple({"Q": rows, "K": seen}.get(letter, letter) for letter in entry.get("shape", "")),
        section=text("section"),
        in_paper=name != "characters" and not (name in ("norm_out", "residual_sum") and config.norm == "pre"),
        formula=Template(entry.get("formula", "")).substitute(fill),
        text=text("text"),
        training=text("training"),
        edited=edited.said_at((prefix + name).replace(".concatenated", ".context")),
    )

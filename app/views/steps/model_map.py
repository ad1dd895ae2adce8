"""The map of the whole model: the paper's Figure 1, drawn from the checkpoint's own config.

A box names the option that the checkpoint uses: which positions, how far self-attention reaches, which activation, and
whether embeddings and logits share one matrix. A model that adds nothing for the positions has no box for them.

The encoder is at the left, the decoder at the right, both read from the bottom up. One layer of each stack is drawn
with its sub-layers; the row of numbers below it says which layer that is. Arrows lead from box to box, and around each
sub-layer to its sum (the residual connection). The layout is made here, in plain numbers, and is the same for every
layer; the browser draws it and moves the token.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from app.figures.theme import kind_color
from app.languages import _, gettext_noop, ngettext
from app.views.steps.stations import Station
from transformer.config import ModelConfig
from transformer.model.attention_kinds import depth

COLUMN = 154.0
LEFT, RIGHT = 18.0, 264.0
WIDTH = RIGHT + COLUMN + 18.0
ROUND = 10.0  # distance of the path around a sub-layer from the column
HEIGHTS = {"plain": 22.0, "part": 22.0, "norm": 19.0, "add": 19.0}  # of a box with one line, by kind
TWO_LINES = 35.0
GAP = 7.0

ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "silu": "SiLU"}
_NAMES = {
    "self_attention": gettext_noop("Self-attention"),
    "cross_attention": gettext_noop("Encoder-decoder"),
    "feed_forward": gettext_noop("Feed-forward"),
}
_ATTENTION = ("query", "key", "value", "products", "scores", "mask", "masked_scores", "weights", "context")
_INSIDE = {
    "self_attention": (*_ATTENTION, "concatenated", "output"),
    "cross_attention": (*_ATTENTION, "concatenated", "output"),
    "feed_forward": ("hidden", "activated", "output"),
}
_ANY = "*"  # in place of the number of a layer


@dataclass(frozen=True)
class Box:
    """A box of the map. `stations` are the names of the stations in it, with * for the layer; a click on the box opens
    the first of them that is in the walk."""

    stations: tuple[str, ...]
    label: str
    second: str
    x: float
    y: float  # of its bottom, counted upwards
    height: float
    kind: str  # "part", "norm", "add" or "plain"

    @property
    def middle(self) -> float:
        return self.y + self.height / 2

    @property
    def top(self) -> float:
        return self.y + self.height


class _Column:
    """One stack, put together from the bottom up."""

    def __init__(self, stack: str, x: float):
        self.stack, self.x, self.end = stack, x, 2.0
        self.boxes: list[Box] = []
        self.around: list[list[tuple[float, float]]] = []  # the residual connections
        self.layer = (0.0, 0.0)  # lower and upper edge of the layer
        self.numbers = 0.0  # lower edge of the row with the numbers of the layers

    def put(
        self, stations: tuple[str, ...], label: str, second: str = "", kind: str = "part", *, tall: bool = False
    ) -> Box:
        """Adds a box. Only a `tall` box has room for its second line, `second`; in others the pointer shows it."""
        box = Box(stations, label, second, self.x, self.end, TWO_LINES if tall else HEIGHTS[kind], kind)
        self.boxes.append(box)
        self.end += box.height + GAP
        return box

    def add(self, first: Box, total: Box) -> None:
        """Adds a residual connection: the path from below the first box of a sub-layer, around it, to its sum."""
        middle = self.x + COLUMN / 2
        edge, beside = (self.x, -ROUND) if self.stack == "encoder" else (self.x + COLUMN, ROUND)
        begin = first.y - GAP / 2
        points = [(middle, begin), (edge + beside, begin), (edge + beside, total.middle), (edge, total.middle)]
        self.around.append(points)


def box_of(boxes: list[dict[str, Any]], station: Station) -> int:
    """The number of the box of the map in which a station is."""
    name = station.id.replace(f".layers.{station.layer}.", f".layers.{_ANY}.")
    return next(number for number, box in enumerate(boxes) if name in box["stations"])


def model_map(config: ModelConfig, has_causal_mask: bool = True) -> dict[str, Any]:
    """Boxes and arrows of the map: part of the data of the component `model_walk`. An edit may take the causal mask
    away."""
    encoder, decoder = _column("encoder", LEFT, config, False), _column("decoder", RIGHT, config, has_causal_mask)
    decoder.put(("logits",), _("Linear (logits)"), _matrix(config))
    decoder.put(("probabilities", "chosen"), _("Softmax"))
    height = max(encoder.end, decoder.end) - GAP + 2
    columns = (encoder, decoder)

    def arrow(stack: str, points: list[tuple[float, float]], head: bool = True) -> dict[str, Any]:
        return {"stack": stack, "points": [(x, height - y) for x, y in points], "head": head}

    arrows = [arrow(column.stack, path) for column in columns for path in column.around]
    for column in columns:
        middle = column.x + COLUMN / 2
        for low, high in pairwise(column.boxes):
            start = low.top
            if low.top <= column.numbers < high.y:  # the arrow is interrupted by the numbers of the layers
                arrows.append(arrow(column.stack, [(middle, start), (middle, column.numbers)], head=False))
                start = column.numbers + HEIGHTS["part"]
            arrows.append(arrow(column.stack, [(middle, start), (middle, high.y)]))
    return {
        "width": WIDTH,
        "height": height,
        "lane": (LEFT + COLUMN + RIGHT) / 2,
        "between": kind_color("cross"),
        "label": _(
            "Map of the model: {encoder} encoder and {decoder} decoder layers.",
            encoder=config.encoder_layers,
            decoder=config.decoder_layers,
        ),
        "boxes": [
            {
                "stations": list(box.stations),
                "label": box.label,
                "second": box.second,
                "x": box.x,
                "y": height - box.top,  # the browser counts from the top
                "width": COLUMN,
                "height": box.height,
                "kind": box.kind,
                "stack": column.stack,
            }
            for column in columns
            for box in column.boxes
        ],
        "layers": [
            {
                "stack": column.stack,
                "count": depth(config, column.stack),
                "x": column.x - (ROUND + 5 if column is encoder else 4),
                "y": height - column.layer[1] - 4,
                "width": COLUMN + ROUND + 9,
                "height": column.layer[1] - column.layer[0] + 4,
                "numbers": height - column.numbers - HEIGHTS["part"],
                "column": column.x,
            }
            for column in columns
        ],
        "arrows": [*arrows, arrow("between", _memory(encoder, decoder))],
    }


def _memory(encoder: _Column, decoder: _Column) -> list[tuple[float, float]]:
    """The path of the encoder's output, which goes to every decoder layer."""
    target = next(box for box in decoder.boxes if box.stations[0].endswith(".cross_attention.query"))
    middle, between = encoder.x + COLUMN / 2, decoder.x - 16
    top = encoder.boxes[-1].top
    return [(middle, top), (middle, top + 8), (between, top + 8), (between, target.middle), (decoder.x, target.middle)]


def _column(stack: str, x: float, config: ModelConfig, is_causal: bool) -> _Column:
    """The boxes of a stack with one layer."""
    column = _Column(stack, x)
    if stack == "encoder":
        column.put(("token_ids", "characters"), _("Tokens and ids"), kind="plain")
    else:
        column.put(("shifted",), _("Output so far"), kind="plain")
    site = f"{stack}.embedding"
    tokens, positions = (f"{site}.tokens", f"{site}.scaled"), (f"{site}.positions", f"{site}.output")
    if config.positions == "none":
        column.put((*tokens, *positions), _("Embedding · √d"), _matrix(config))
    else:
        column.put(tokens, _("Embedding · √d"), _matrix(config))
        column.put(positions, _("+ positions"), _positions(config))
    column.numbers = column.end
    bottom = column.end - 3
    column.end += HEIGHTS["part"] + GAP + 2
    _layer(column, f"{stack}.layers.{_ANY}", config, is_causal)
    column.layer = (bottom, column.boxes[-1].top)
    column.end += 4
    if config.norm == "pre":
        column.put((f"{stack}.norm_out",), _("Norm"), kind="norm")
    return column


def _layer(column: _Column, base: str, config: ModelConfig, is_causal: bool) -> None:
    """The sub-layers of one layer."""
    for part, inside in _INSIDE.items():
        if part == "cross_attention" and column.stack == "encoder":
            continue
        name = _(_NAMES[part])
        if is_causal and part == "self_attention":
            name = _("Masked self-attention")
        site, second, tall = f"{base}.{part}", _second(part, config), part != "feed_forward"
        within = tuple(f"{site}.{tensor}" for tensor in inside)
        if config.norm == "pre":
            first = column.put((f"{site}.norm_out", f"{site}.residual_in"), _("Norm"), kind="norm")
            column.put(within, name, second, tall=tall)
            total = column.put((f"{site}.residual_sum",), _("Add"), kind="add")
        else:
            first = column.put((*within, f"{site}.residual_in"), name, second, tall=tall)
            total = column.put((f"{site}.norm_out", f"{site}.residual_sum"), _("Add & Norm"), kind="norm")
        column.add(first, total)


def _matrix(config: ModelConfig) -> str:
    """Whether source, target and output have one matrix of embeddings (section 3.4)."""
    return _("shared matrix") if config.shared_embeddings else _("own matrix")


def _positions(config: ModelConfig) -> str:
    if config.positions == "learned":
        return _("learned")
    return _("sine, cosine") if config.sinusoid_layout == "interleaved" else _("sines, then cosines")


def _second(part: str, config: ModelConfig) -> str:
    """The second line of a sub-layer: how many heads, how far they reach, or the activation."""
    if part == "feed_forward":
        return ACTIVATIONS[config.activation]
    heads = ngettext("{count} head", "{count} heads", config.heads)
    if part == "cross_attention":
        return _("attention, {heads}", heads=heads)
    return heads if config.attention_window is None else f"{heads}, ± {config.attention_window}"

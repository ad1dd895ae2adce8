"""The map of the whole model: the paper's Figure 1, drawn from the checkpoint's own config.

A box says which of its options the checkpoint has: which positions, how far self-attention looks, the activation, and
whether embeddings and logits share one matrix. Where nothing is added for the position there is no box for it.

The encoder stands left, the decoder right, both read from the bottom up. All layers are there; the one that is looked
at is opened into its sub-layers, the others are bars. Arrows lead from box to box, and around each sub-layer to its sum
(the residual connection). The layout is made here, in plain numbers; the browser draws it.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from app.figures.theme import role_color
from app.views.steps.stations import Station
from transformer.config import ModelConfig
from transformer.model.attention_kinds import depth

WIDTH = 316.0
COLUMN = 118.0
LEFT, RIGHT = 24.0, 174.0
ROUND = 13.0  # from a column to the way around a sub-layer
TALL, TWO_LINES, BAR = 25.0, 35.0, 17.0
GAP, BAR_GAP = 9.0, 5.0

_NAMES = {
    "self_attention": "Multi-head",
    "cross_attention": "Encoder-decoder",
    "feed_forward": "Feed-forward",
}
ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "silu": "SiLU"}
_ATTENTION = ("query", "key", "value", "products", "scores", "mask", "masked_scores", "weights", "context")
_INSIDE = {
    "self_attention": (*_ATTENTION, "concatenated", "output"),
    "cross_attention": (*_ATTENTION, "concatenated", "output"),
    "feed_forward": ("hidden", "activated", "output"),
}


@dataclass(frozen=True)
class Box:
    """A box of the map; `stations` are those for which it lights up, the first of them its own."""

    stations: tuple[str, ...]
    label: str
    second: str
    x: float
    y: float  # of its bottom, counted upwards
    height: float
    kind: str  # "part", "bar", "norm" or "plain"

    @property
    def middle(self) -> float:
        return self.y + self.height / 2

    @property
    def top(self) -> float:
        return self.y + self.height


class _Column:
    """One stack, put together from the bottom up."""

    def __init__(self, stack: str, x: float):
        self.stack, self.x, self.end = stack, x, GAP
        self.boxes: list[Box] = []
        self.ways: list[list[tuple[float, float]]] = []  # around sub-layers
        self.layers = (0.0, 0.0)  # from where to where they are

    def put(self, stations: tuple[str, ...], label: str, second: str = "", kind: str = "part") -> Box:
        height = TWO_LINES if second else BAR if kind in ("bar", "norm") else TALL
        box = Box(stations, label, second, self.x, self.end, height, kind)
        self.boxes.append(box)
        self.end += height + (BAR_GAP if kind == "bar" else GAP)
        return box

    def add(self, first: Box, total: Box) -> None:
        """The way from below the first box of a sub-layer around it, into its sum."""
        middle = self.x + COLUMN / 2
        edge, beside = (self.x, -ROUND) if self.stack == "encoder" else (self.x + COLUMN, ROUND)
        begin = first.y - GAP / 2
        self.ways.append([(middle, begin), (edge + beside, begin), (edge + beside, total.middle), (edge, total.middle)])


def model_map(config: ModelConfig, here: Station, walk: tuple[Station, ...]) -> dict[str, Any]:
    """Boxes and arrows of the map with the station `here` marked; data of the component `map`.

    Args:
        walk: a box leads to the first of its stations that is in it, or else to its own.
    """
    encoder, decoder = _column("encoder", LEFT, config, here), _column("decoder", RIGHT, config, here)
    decoder.put(("logits",), "Linear (logits)", _matrix(config))
    decoder.put(("probabilities", "chosen"), "Softmax")
    height = max(encoder.end, decoder.end)
    known = {station.id for station in walk}

    def arrow(stack: str, points: list[tuple[float, float]], head: bool = True) -> dict[str, Any]:
        return {"stack": stack, "points": [(x, height - y) for x, y in points], "head": head}

    columns = (encoder, decoder)
    arrows = [arrow(column.stack, way) for column in columns for way in column.ways]
    for column in columns:
        middle = column.x + COLUMN / 2
        for low, high in pairwise(column.boxes):
            arrows.append(arrow(column.stack, [(middle, low.top), (middle, high.y)], head=high.y - low.top >= GAP))
    return {
        "width": WIDTH,
        "height": height,
        "label": f"Map of the model: {config.encoder_layers} encoder and {config.decoder_layers} decoder layers. "
        f"You are at: {here.title}.",
        "encoder": role_color("encoder"),
        "decoder": role_color("decoder"),
        "boxes": [
            {
                "station": next((station for station in box.stations if station in known), box.stations[0]),
                "label": box.label,
                "second": box.second,
                "x": box.x,
                "y": height - box.top,  # the browser counts from the top
                "width": COLUMN,
                "height": box.height,
                "kind": box.kind,
                "stack": column.stack,
                "on": here.id in box.stations,
            }
            for column in columns
            for box in column.boxes
        ],
        "stacks": [
            {
                "x": column.x - (ROUND + 6 if column is encoder else 5),
                "y": height - column.layers[1] - 4,
                "width": COLUMN + ROUND + 11,
                "height": column.layers[1] - column.layers[0] + 4,
                "stack": column.stack,
            }
            for column in columns
        ],
        "arrows": [*arrows, arrow("encoder", _memory(encoder, decoder))],
    }


def _memory(encoder: _Column, decoder: _Column) -> list[tuple[float, float]]:
    """The encoder's output goes to every decoder layer: drawn to the one that is open."""
    target = next(box for box in decoder.boxes if box.label.startswith("Encoder-decoder"))
    middle, between = encoder.x + COLUMN / 2, (encoder.x + COLUMN + decoder.x) / 2
    top = encoder.boxes[-1].top
    return [(middle, top), (middle, top + 8), (between, top + 8), (between, target.middle), (decoder.x, target.middle)]


def _column(stack: str, x: float, config: ModelConfig, here: Station) -> _Column:
    """The boxes of a stack, its layers included."""
    column = _Column(stack, x)
    if stack == "encoder":
        column.put(("pieces", "characters"), "Tokens and ids", kind="plain")
    else:
        column.put(("shifted",), "Output so far", kind="plain")
    site = f"{stack}.embedding"
    tokens, positions = (f"{site}.tokens", f"{site}.scaled"), (f"{site}.positions", f"{site}.output")
    if config.positions == "none":
        column.put((*tokens, *positions), "Embedding · √d", _matrix(config))
    else:
        column.put(tokens, "Embedding · √d", _matrix(config))
        column.put(positions, "+ positions", _positions(config))
    column.end += GAP
    bottom = column.end - GAP
    layers = depth(config, stack)
    opened = here.layer if here.stack == stack and here.layer is not None else 0
    for layer in range(layers):
        base = f"{stack}.layers.{layer}"
        if layer == opened:
            _open(column, base, config)
        else:
            column.put((f"{base}.self_attention.residual_in",), f"layer {layer + 1}", kind="bar")
    column.layers = (bottom, column.boxes[-1].top)
    column.end = column.boxes[-1].top + GAP + 3
    if config.norm == "pre":
        column.put((f"{stack}.norm_out",), "Norm", kind="norm")
    return column


def _open(column: _Column, base: str, config: ModelConfig) -> None:
    """The sub-layers of one layer."""
    for part, inside in _INSIDE.items():
        if part == "cross_attention" and column.stack == "encoder":
            continue
        name, second = _NAMES[part], _second(part, config)
        if column.stack == "decoder" and part == "self_attention":
            name = "Masked multi-head"
        site = f"{base}.{part}"
        within = tuple(f"{site}.{tensor}" for tensor in inside)
        if config.norm == "pre":
            first = column.put((f"{site}.norm_out", f"{site}.residual_in"), "Norm", kind="norm")
            column.put(within, name, second)
            total = column.put((f"{site}.residual_sum",), "Add", kind="norm")
        else:
            first = column.put((*within, f"{site}.residual_in"), name, second)
            total = column.put((f"{site}.norm_out", f"{site}.residual_sum"), "Add & Norm", kind="norm")
        column.add(first, total)


def _matrix(config: ModelConfig) -> str:
    """Whether source, target and output have one matrix of embeddings (section 3.4)."""
    return "shared matrix" if config.shared_embeddings else "own matrix"


def _positions(config: ModelConfig) -> str:
    if config.positions == "learned":
        return "learned"
    return "sine, cosine" if config.sinusoid_layout == "interleaved" else "sines, then cosines"


def _second(part: str, config: ModelConfig) -> str:
    """The second line of a sub-layer: its option, where it has one."""
    if part == "feed_forward":
        return ACTIVATIONS[config.activation]
    near = part == "self_attention" and config.attention_window is not None
    return f"attention, ± {config.attention_window}" if near else "attention"

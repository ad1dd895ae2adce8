"""The map of the whole model: the paper's Figure 1, drawn from the checkpoint's own config.

The encoder stands left, the decoder right, both read from the bottom up. All layers are there; the one that is looked
at is opened into its sub-layers, the others are bars. The layout is made here, in plain numbers; the browser draws it.
"""

from dataclasses import dataclass
from typing import Any

from app.figures.walk import Station, stations
from app.theme import role_color
from transformer.config import ModelConfig

WIDTH = 360.0
COLUMN = 150.0
LEFT, RIGHT = 12.0, 198.0
TALL, BAR, GAP = 30.0, 17.0, 7.0

_NAMES = {
    "self_attention": ("Multi-head", "attention"),
    "cross_attention": ("Encoder-decoder", "attention"),
    "feed_forward": ("Feed-forward", ""),
}


@dataclass(frozen=True)
class Box:
    """A box of the map; `station` is where a click goes."""

    station: str
    block: str  # as in Station.block
    label: str
    second: str
    x: float
    y: float  # of its top
    width: float
    height: float
    kind: str  # "part", "bar", "norm" or "plain"


def model_map(config: ModelConfig, here: Station, *, dark: bool = False) -> dict[str, Any]:
    """Boxes and lines of the map with the station `here` marked; data of the component `map`."""
    walk = stations(config)
    first: dict[str, str] = {}
    for station in walk:
        first.setdefault(station.block, station.id)
    left, left_top, layers_left = _column("encoder", LEFT, config, here, first)
    right, right_top, layers_right = _column("decoder", RIGHT, config, here, first)
    height = max(left_top, right_top) + 2 * (TALL + GAP) + GAP
    out = [
        Box("logits", "output.top", "Linear (logits)", "", RIGHT, right_top + GAP, COLUMN, TALL, "part"),
        Box("probabilities", "output.top", "Softmax", "", RIGHT, right_top + 2 * GAP + TALL, COLUMN, TALL, "part"),
    ]
    boxes = left + right + out
    here_block = here.block
    marked = {"output.top": "probabilities" if here.id in ("probabilities", "chosen") else "logits"}.get(here_block)
    # The encoder's output goes to every decoder layer: drawn to the one that is open.
    top_of_encoder = max(box.y + box.height for box in left)
    crossing = next((box for box in right if box.block.endswith("cross_attention")), None)
    target = crossing or next(box for box in right if box.kind == "bar")
    return {
        "width": WIDTH,
        "height": height,
        "label": f"Map of the model: {config.encoder_layers} encoder and {config.decoder_layers} decoder layers. "
        f"You are at: {here.title}.",
        "encoder": role_color("encoder", dark),
        "decoder": role_color("decoder", dark),
        "boxes": [
            {
                "station": box.station,
                "label": box.label,
                "second": box.second,
                "x": box.x,
                "y": height - box.y - box.height,  # the browser counts from the top
                "width": box.width,
                "height": box.height,
                "kind": box.kind,
                "stack": "encoder" if box.x == LEFT else "decoder",
                "on": box.station == marked if marked else _is_on(box, here),
            }
            for box in boxes
        ],
        "stacks": [
            {"x": x - 8, "y": height - top - 5, "height": top - bottom + 10, "stack": stack}
            for stack, x, (bottom, top) in (("encoder", LEFT, layers_left), ("decoder", RIGHT, layers_right))
        ],
        "column": COLUMN,
        "memory": {
            "x0": LEFT + COLUMN / 2,
            "y0": height - top_of_encoder,
            "x1": RIGHT,
            "y1": height - target.y - target.height / 2,
            "middle": (LEFT + COLUMN + RIGHT) / 2,
        },
    }  # fmt: skip


def _is_on(box: Box, here: Station) -> bool:
    if box.block != here.block:
        return False
    if here.part != "input":
        return box.kind == "part" or here.part == "top"
    last = here.id.rsplit(".", 1)[-1]
    wanted = {"characters": "pieces", "pieces": "pieces", "tokens": "tokens", "scaled": "tokens"}.get(last, "positions")
    return box.station.endswith(wanted)


def _column(
    stack: str, x: float, config: ModelConfig, here: Station, first: dict[str, str]
) -> tuple[list[Box], float, tuple[float, float]]:
    """Boxes from the bottom up; how high they reach; from where to where the layers are."""
    y = GAP
    boxes: list[Box] = []
    block = f"{stack}.input"

    def put(station: str, block: str, label: str, second: str, height: float, kind: str) -> None:
        nonlocal y
        boxes.append(Box(station, block, label, second, x, y, COLUMN, height, kind))
        y += height + GAP

    if stack == "encoder":
        put("pieces", block, "Pieces and ids", "", TALL, "plain")
    else:
        put("decoder.embedding.tokens", "decoder.fed", "Output so far", "", TALL, "plain")
    put(f"{stack}.embedding.tokens", block, "Embedding · √d", "", TALL, "part")
    put(f"{stack}.embedding.positions", block, "+ positions", "", TALL, "part")
    y += 8
    bottom = y
    layers = config.encoder_layers if stack == "encoder" else config.decoder_layers
    opened = here.layer if here.stack == stack and here.layer is not None else 0
    parts = (
        ["self_attention", "feed_forward"]
        if stack == "encoder"
        else ["self_attention", "cross_attention", "feed_forward"]
    )
    for layer in range(layers):
        base = f"{stack}.layers.{layer}"
        if layer != opened:
            put(first[f"{base}.self_attention"], f"{base}.bar", f"layer {layer + 1}", "", BAR, "bar")
            continue
        for part in parts:
            name, second = _NAMES[part]
            if stack == "decoder" and part == "self_attention":
                name = "Masked multi-head"
            block = f"{base}.{part}"
            if config.norm == "pre":
                put(f"{block}.norm_out", f"{block}.norm", "Norm", "", BAR, "norm")
            put(first[block], block, name, second, TALL + (12 if second else 0), "part")
            last = "residual_sum" if config.norm == "pre" else "norm_out"
            put(f"{block}.{last}", f"{block}.norm", "Add" if config.norm == "pre" else "Add & Norm", "", BAR, "norm")
    top = y - GAP
    y += 8
    if config.norm == "pre":
        put(f"{stack}.norm_out", f"{stack}.top", "Norm", "", BAR, "norm")
    return boxes, y, (bottom, top)

"""All heads and sub-layers as data for the browser component `head_switches`."""

from collections.abc import Iterable
from typing import Any

from app.figures.theme import kind_color, signed_scale
from app.stage.heads import SHORT
from app.state.choices import EDITS, MOST_EDITS
from app.views.whatif.part_ranking import Ranking
from transformer.analysis.edits import Edit, HeadOff, SublayerOff, edit_text
from transformer.analysis.edits.model_edits import Stack
from transformer.config import ModelConfig
from transformer.model.attention_kinds import Kind, depth

MARKED = 3  # heads that cost most
OF_PARTS = ("off=", "skip=")  # how the texts of these edits begin
ORDER: tuple[Kind, ...] = ("encoder", "decoder", "cross")


def switch_data(config: ModelConfig, ranking: Ranking | None) -> dict[str, Any]:
    """What is on and off, and what each part costs if all were ranked."""
    data: dict[str, Any] = {
        "panels": [_panel(config, kind) for kind in ORDER],
        "off": off_parts(config),
        "alt": "Switches of all heads and sub-layers: layers down, heads across.",
        "hint": "Click a head to switch it off, and again to switch it on.",
        "strongest": [],
    }
    if ranking:
        heads = ranking.heads
        data["change"] = {edit_text(part): round(-lost, 5) for part, lost in ranking.lost.items()}
        data["largest"] = max(max(abs(lost) for _, lost in heads), 1e-6)
        data["strongest"] = [edit_text(head) for head, lost in heads[:MARKED] if lost > 0]
        data["scale"] = [list(stop) for stop in signed_scale()]
        data["hint"] = (
            f"Amber: the translation loses log-probability without it, up to {data['largest']:.2f} nats or more; "
            "teal: it gains. Framed: the heads that cost most."
        )
    return data


def off_parts(config: ModelConfig) -> list[str]:
    """The texts of the parts that are off; where all heads of a layer are, the text of each."""
    heads = _heads_of_layers(config)
    return [part for text in EDITS.value if text.startswith(OF_PARTS) for part in heads.get(text, [text])]


def edits_with(config: ModelConfig, parts: Iterable[str]) -> tuple[str, ...]:
    """The texts of all edits if exactly these parts are off. All heads of a layer are one edit, with a short text."""
    off = dict.fromkeys(parts)
    for text, heads in _heads_of_layers(config).items():
        if len(heads) > 1 and all(head in off for head in heads):
            off = dict.fromkeys([*(part for part in off if part not in heads), text])
    kept = [text for text in EDITS.value if not text.startswith(OF_PARTS) or text in off]
    return tuple(dict.fromkeys((*kept, *off)))[:MOST_EDITS]


def _heads_of_layers(config: ModelConfig) -> dict[str, list[str]]:
    """The text of all heads of a layer, and those of each."""
    return {
        edit_text(HeadOff(kind, layer, None)): [edit_text(HeadOff(kind, layer, head)) for head in range(config.heads)]
        for kind in ORDER
        for layer in range(depth(config, kind))
    }


def _panel(config: ModelConfig, kind: Kind) -> dict[str, Any]:
    return {
        "title": f"{SHORT[kind]} attention".replace("self attention", "self-attention"),
        "color": kind_color(kind),
        "heads": config.heads,
        "rows": [_row(config, kind, layer) for layer in range(depth(config, kind))],
    }


def _row(config: ModelConfig, kind: Kind, layer: int) -> list[dict[str, str]]:
    where = f"{SHORT[kind]} layer {layer + 1}"
    heads = [
        _part(HeadOff(kind, layer, head), str(head + 1), f"{where} head {head + 1}") for head in range(config.heads)
    ]
    stack: Stack = "encoder" if kind == "encoder" else "decoder"
    attention = SublayerOff(stack, layer, "cross_attention" if kind == "cross" else "self_attention")
    sublayers = [_part(attention, "all", f"{where}, whole sub-layer")]
    if kind != "decoder":
        feed_forward = SublayerOff(stack, layer, "feed_forward")
        sublayers.append(_part(feed_forward, "FFN", f"{stack.capitalize()} layer {layer + 1} feed-forward"))
    return heads + sublayers


def _part(edit: Edit, column: str, name: str) -> dict[str, str]:
    return {"edit": edit_text(edit), "column": column, "name": name}

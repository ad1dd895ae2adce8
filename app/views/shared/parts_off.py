"""The parts of the model that the visitor has taken away, among its edits: heads, sub-layers, residual connections.

If all heads of a layer are off, or the residual connections of the same sub-layer in all layers, one edit with a short
text stands for all of them.
"""

from collections.abc import Iterable

from app.state.choices import EDITS, MOST_EDITS
from transformer.analysis.each_edit import SUBLAYERS
from transformer.analysis.edits import HeadOff, ResidualOff, edit_text
from transformer.config import ModelConfig
from transformer.model.attention_kinds import KINDS, depth

OF_PARTS = ("off=", "skip=", "noresidual=")  # how the texts of these edits begin


def off_parts(config: ModelConfig) -> list[str]:
    """The text of each single part that is off."""
    together = _together(config)
    return [part for text in EDITS.value if text.startswith(OF_PARTS) for part in together.get(text, [text])]


def edits_with(config: ModelConfig, parts: Iterable[str]) -> tuple[str, ...]:
    """The texts of all edits, those of other kinds included, if exactly these parts are off."""
    off = dict.fromkeys(parts)
    for text, some in _together(config).items():
        if len(some) > 1 and all(part in off for part in some):
            off = dict.fromkeys([*(part for part in off if part not in some), text])
    kept = [text for text in EDITS.value if not text.startswith(OF_PARTS) or text in off]
    return tuple(dict.fromkeys((*kept, *off)))[:MOST_EDITS]


def take_away(config: ModelConfig, text: str, is_off: bool) -> None:
    """Takes a part away, or puts it back."""
    others = [part for part in off_parts(config) if part != text]
    EDITS.choose(edits_with(config, [*others, text] if is_off else others))


def _together(config: ModelConfig) -> dict[str, list[str]]:
    """For the text of each edit that takes several parts away: the texts of the single parts."""
    heads = {
        edit_text(HeadOff(kind, layer, None)): [edit_text(HeadOff(kind, layer, head)) for head in range(config.heads)]
        for kind in KINDS
        for layer in range(depth(config, kind))
    }
    connections = {
        edit_text(ResidualOff(stack, None, sublayer)): [
            edit_text(ResidualOff(stack, layer, sublayer)) for layer in range(depth(config, stack))
        ]
        for stack, sublayers in SUBLAYERS.items()
        for sublayer in sublayers
    }
    return heads | connections

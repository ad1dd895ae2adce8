"""An edit in a few words, for the line that names all of them. Layers, heads and positions count from 1."""

from app.stage.heads import SHORT
from transformer.analysis.edits import (
    Edit,
    HeadOff,
    HeadUniform,
    MaskCell,
    MaskOff,
    PositionsOff,
    PositionsShifted,
    PositionsShuffled,
    PositionsSwapped,
    SublayerOff,
    Temperature,
    VectorPatched,
    WeightsSet,
)
from transformer.model.attention_kinds import Kind


def edit_words(edit: Edit) -> str:
    """For example "Encoder-decoder layer 2 head 6 off"."""
    match edit:
        case HeadOff(kind, layer, head):
            which = ": all heads" if head is None else f" head {head + 1}"
            return f"{SHORT[kind]} layer {layer + 1}{which} off"
        case HeadUniform(kind, layer, head):
            return f"{SHORT[kind]} layer {layer + 1} head {head + 1} uniform"
        case SublayerOff(stack, layer, sublayer):
            return f"{stack.capitalize()} layer {layer + 1} without {sublayer.replace('_', '-')}"
        case MaskOff(part):
            return f"No {'encoder-decoder' if part == 'cross' else part} mask"
        case MaskCell(kind, layer, head, query, key, allowed):
            may = "may" if allowed else "may not"
            return f"{_place(kind, layer, head)}: query {query + 1} {may} attend to key {key + 1}"
        case WeightsSet(kind, layer, head, query, _):
            return f"{_place(kind, layer, head)}: weights of query {query + 1} set"
        case PositionsOff(stack):
            return f"No positions in the {stack}"
        case PositionsShifted(by):
            return f"Positions shifted by {by}"
        case PositionsShuffled(seed):
            return f"Positions shuffled (seed {seed})"
        case PositionsSwapped(first, second):
            return f"Positions {first + 1} and {second + 1} swapped"
        case Temperature(kind, layer, head, value):
            return f"{SHORT[kind]} layer {layer + 1} head {head + 1} at temperature {value:g}"
        case VectorPatched(layer, position, _):
            after = "the embedding" if layer is None else f"encoder layer {layer + 1}"
            return f"Position {position + 1} patched after {after}"


def _place(kind: Kind, layer: int | None, head: int | None) -> str:
    layers = "all layers" if layer is None else f"layer {layer + 1}"
    heads = "all heads" if head is None else f"head {head + 1}"
    return f"{SHORT[kind]} {layers}, {heads}"

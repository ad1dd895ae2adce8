"""An edit in a few words, for the line that names all edits. Layers, heads and positions count from 1."""

from app.languages import _, gettext_noop
from transformer.analysis.edits import (
    AttentionWindow,
    Edit,
    HeadOff,
    HeadUniform,
    MaskCell,
    MaskOff,
    PositionsOff,
    PositionsShifted,
    PositionsShuffled,
    PositionsSwapped,
    ResidualOff,
    SublayerOff,
    Temperature,
    VectorPatched,
    WeightsSet,
)
from transformer.analysis.edits.checks import Stack, Sublayer
from transformer.analysis.edits.mask_edits import MaskPart
from transformer.model.attention_kinds import Kind

_SHORT: dict[Kind, str] = {
    "cross": gettext_noop("Enc.-dec."),
    "encoder": gettext_noop("Encoder"),
    "decoder": gettext_noop("Decoder"),
}
_NAMES: dict[Kind, str] = {
    "cross": gettext_noop("Encoder-decoder"),
    "encoder": gettext_noop("Encoder self-attention"),
    "decoder": gettext_noop("Decoder self-attention"),
}
_ALL_OF: dict[Kind, str] = {
    "cross": gettext_noop("All of encoder-decoder layer {layer}"),
    "encoder": gettext_noop("All of encoder self-attention layer {layer}"),
    "decoder": gettext_noop("All of decoder self-attention layer {layer}"),
}
_SUBLAYERS: dict[Sublayer, str] = {
    "self_attention": gettext_noop("self-attention"),
    "cross_attention": gettext_noop("encoder-decoder attention"),
    "feed_forward": gettext_noop("feed-forward"),
}
_NO_MASK: dict[MaskPart, str] = {
    "causal": gettext_noop("No causal mask"),
    "padding": gettext_noop("No padding mask"),
    "cross": gettext_noop("No encoder-decoder mask"),
}
_NO_POSITIONS: dict[Stack, str] = {
    "encoder": gettext_noop("No positions in the encoder"),
    "decoder": gettext_noop("No positions in the decoder"),
}


def edit_words(edit: Edit) -> str:
    """For example "Encoder-decoder layer 2 head 6 off"."""
    match edit:
        case HeadOff() | SublayerOff():
            return _("{part} off", part=part_words(edit))
        case HeadUniform(kind, layer, head):
            return _(
                "{attention} layer {layer} head {head} uniform",
                attention=attention_name(kind),
                layer=layer + 1,
                head=head + 1,
            )
        case ResidualOff(stack, layer, sublayer):
            return _(
                "{stack} {layers}: no residual connection around {part}",
                stack=_(_SHORT[stack]),
                layers=_layers(layer),
                part=_(_SUBLAYERS[sublayer]),
            )
        case MaskOff(part):
            return _(_NO_MASK[part])
        case AttentionWindow(distance):
            return _("Self-attention to r = {r} neighbours", r=distance)
        case MaskCell(kind, layer, head, query, key, allowed):
            place = _place(kind, layer, head)
            if allowed:
                return _("{place}: query {query} may attend to key {key}", place=place, query=query + 1, key=key + 1)
            return _("{place}: query {query} may not attend to key {key}", place=place, query=query + 1, key=key + 1)
        case WeightsSet(kind, layer, head, query):
            return _("{place}: weights of query {query} set", place=_place(kind, layer, head), query=query + 1)
        case PositionsOff(stack):
            return _(_NO_POSITIONS[stack])
        case PositionsShifted(by):
            return _("Positions shifted by {by}", by=by)
        case PositionsShuffled(seed):
            return _("Positions shuffled (seed {seed})", seed=seed)
        case PositionsSwapped(first, second):
            return _("Positions {first} and {second} swapped", first=first + 1, second=second + 1)
        case Temperature(kind, layer, head, value):
            return _(
                "{attention} layer {layer} head {head} at temperature {value:g}",
                attention=attention_name(kind),
                layer=layer + 1,
                head=head + 1,
                value=value,
            )
        case VectorPatched(int(layer), position):
            return _("Position {position} patched after encoder layer {layer}", position=position + 1, layer=layer + 1)
        case VectorPatched(position=position):
            return _("Position {position} patched after the embedding", position=position + 1)


def part_words(edit: HeadOff | SublayerOff) -> str:
    """The part that the edit switches off: "Encoder-decoder layer 2 head 6"."""
    layer = edit.layer + 1
    match edit:
        case HeadOff(kind, _layer, int(head)):
            name = attention_name(kind)
            return _("{attention} layer {layer} head {head}", attention=name, layer=layer, head=head + 1)
        case HeadOff(kind):
            return _("{attention} layer {layer}: all heads", attention=attention_name(kind), layer=layer)
        case SublayerOff(stack, _layer, "feed_forward"):
            return _("{stack} layer {layer} feed-forward", stack=_(_SHORT[stack]), layer=layer)
        case SublayerOff(stack, _layer, sublayer):
            return _(_ALL_OF["cross" if sublayer == "cross_attention" else stack], layer=layer)


def edit_label(edit: Edit) -> str:
    """As `edit_words`, but shorter, for a narrow button; 2.6 is head 6 of layer 2: "Enc.-dec. head 2.6 off"."""
    match edit:
        case HeadOff(kind, layer, int(head)):
            return _("{attention} head {head} off", attention=_(_SHORT[kind]), head=f"{layer + 1}.{head + 1}")
        case HeadOff(kind, layer):
            return _("{attention} layer {layer}: all heads off", attention=_(_SHORT[kind]), layer=layer + 1)
        case HeadUniform(kind, layer, head):
            return _("{attention} head {head} uniform", attention=_(_SHORT[kind]), head=f"{layer + 1}.{head + 1}")
        case SublayerOff(_stack, layer, "cross_attention"):
            return _("{attention} layer {layer} off", attention=_(_SHORT["cross"]), layer=layer + 1)
        case SublayerOff(stack, layer, "self_attention"):
            return _("{stack} attention {layer} off", stack=_(_SHORT[stack]), layer=layer + 1)
        case SublayerOff(stack, layer, _sublayer):
            return _("{stack} feed-forward {layer} off", stack=_(_SHORT[stack]), layer=layer + 1)
        case Temperature(kind, layer, head, value):
            return _(
                "{attention} head {head}: temperature {value:g}",
                attention=_(_SHORT[kind]),
                head=f"{layer + 1}.{head + 1}",
                value=value,
            )
    return edit_words(edit)


def _place(kind: Kind, layer: int | None, head: int | None) -> str:
    heads = _("all heads") if head is None else _("head {head}", head=head + 1)
    return _("{attention} {layers}, {heads}", attention=attention_name(kind), layers=_layers(layer), heads=heads)


def _layers(layer: int | None) -> str:
    return _("all layers") if layer is None else _("layer {layer}", layer=layer + 1)


def attention_name(kind: Kind) -> str:
    """ "Encoder self-attention", and "Encoder-decoder" for the attention between the stacks."""
    return _(_NAMES[kind])

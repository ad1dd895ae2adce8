"""The names of heads and sub-layers: as labels, in a sentence, and on the switches. They count from 1."""

from app.languages import _, gettext_noop
from transformer.analysis.edits import HeadOff, ResidualOff, SublayerOff
from transformer.analysis.edits.checks import Stack, Sublayer
from transformer.model.attention_kinds import Kind

ByKind = dict[Kind, str]
BySublayer = dict[tuple[Stack, Sublayer], str]

HEADS: ByKind = {
    "encoder": gettext_noop("Encoder self-attention, layer {layer}, head {head}"),
    "decoder": gettext_noop("Decoder self-attention, layer {layer}, head {head}"),
    "cross": gettext_noop("Encoder-decoder attention, layer {layer}, head {head}"),
}
HEADS_IN_SENTENCE: ByKind = {
    "encoder": gettext_noop("encoder self-attention, layer {layer}, head {head}"),
    "decoder": gettext_noop("decoder self-attention, layer {layer}, head {head}"),
    "cross": gettext_noop("encoder-decoder attention, layer {layer}, head {head}"),
}
SUBLAYERS: BySublayer = {
    ("encoder", "self_attention"): gettext_noop("All of encoder self-attention layer {layer}"),
    ("encoder", "feed_forward"): gettext_noop("Encoder layer {layer} feed-forward"),
    ("decoder", "self_attention"): gettext_noop("All of decoder self-attention layer {layer}"),
    ("decoder", "cross_attention"): gettext_noop("All of encoder-decoder layer {layer}"),
    ("decoder", "feed_forward"): gettext_noop("Decoder layer {layer} feed-forward"),
}
SUBLAYERS_IN_SENTENCE: BySublayer = {
    ("encoder", "self_attention"): gettext_noop("all of encoder self-attention layer {layer}"),
    ("encoder", "feed_forward"): gettext_noop("encoder layer {layer} feed-forward"),
    ("decoder", "self_attention"): gettext_noop("all of decoder self-attention layer {layer}"),
    ("decoder", "cross_attention"): gettext_noop("all of encoder-decoder layer {layer}"),
    ("decoder", "feed_forward"): gettext_noop("decoder layer {layer} feed-forward"),
}
SWITCHES: BySublayer = {
    ("encoder", "self_attention"): gettext_noop("Encoder self-attention layer {layer}, whole sub-layer"),
    ("encoder", "feed_forward"): gettext_noop("Encoder layer {layer} feed-forward"),
    ("decoder", "self_attention"): gettext_noop("Decoder self-attention layer {layer}, whole sub-layer"),
    ("decoder", "cross_attention"): gettext_noop("Encoder-decoder layer {layer}, whole sub-layer"),
    ("decoder", "feed_forward"): gettext_noop("Decoder layer {layer} feed-forward"),
}
CONNECTIONS: BySublayer = {
    ("encoder", "self_attention"): gettext_noop("Residual connection around encoder self-attention layer {layer}"),
    ("encoder", "feed_forward"): gettext_noop("Residual connection around encoder layer {layer} feed-forward"),
    ("decoder", "self_attention"): gettext_noop("Residual connection around decoder self-attention layer {layer}"),
    ("decoder", "cross_attention"): gettext_noop("Residual connection around encoder-decoder layer {layer}"),
    ("decoder", "feed_forward"): gettext_noop("Residual connection around decoder layer {layer} feed-forward"),
}


def part_name(
    part: HeadOff | SublayerOff | ResidualOff, heads: ByKind = HEADS, sublayers: BySublayer = SUBLAYERS
) -> str:
    """The name of a part of one layer, from these texts."""
    layer = (part.layer or 0) + 1
    if isinstance(part, HeadOff):
        return _(heads[part.kind], layer=layer, head=(part.head or 0) + 1)
    return _(sublayers[part.stack, part.sublayer], layer=layer)

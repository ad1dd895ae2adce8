"""The name of a head: its kind of attention, its layer and its number. Layers and heads count from 1 on the screen."""

from app.languages import _
from transformer.model.attention_kinds import KINDS, Kind


def head_name(kind: Kind, layer: int, head: int) -> str:
    """For example "Encoder-decoder attention, layer 4, head 4"; layer and head are from 0."""
    return _("{kind}, layer {layer}, head {head}", kind=_(KINDS[kind]), layer=layer + 1, head=head + 1)

"""The names of the three kinds of attention inside a sentence; at the start of a title they are `_(KINDS[kind])`."""

from app.languages import _
from transformer.model.attention_kinds import Kind


def kind_in_sentence(kind: Kind) -> str:
    names: dict[Kind, str] = {
        "cross": _("encoder-decoder attention"),
        "encoder": _("encoder self-attention"),
        "decoder": _("decoder self-attention"),
    }
    return names[kind]

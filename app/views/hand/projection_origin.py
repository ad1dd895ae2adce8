"""What queries, keys and values of a head are made from, in words."""

from app.languages import _, gettext_noop
from transformer.model.attention_kinds import Kind

_OF_ENCODER = {
    "stream": gettext_noop(
        "Queries, keys and values all come from the encoder's normalised stream: S queries, S keys."
    ),
    "below": gettext_noop("Queries, keys and values all come from the encoder's layer below: S queries, S keys."),
    "embedding": gettext_noop("Queries, keys and values all come from the encoder's embedding: S queries, S keys."),
}
_OF_DECODER = {
    "stream": gettext_noop(
        "Queries, keys and values all come from the decoder's normalised stream: T queries, T keys."
    ),
    "below": gettext_noop("Queries, keys and values all come from the decoder's layer below: T queries, T keys."),
    "embedding": gettext_noop("Queries, keys and values all come from the decoder's embedding: T queries, T keys."),
}


def origin(kind: Kind, layer: int, pre_norm: bool) -> str:
    """What the projections of a layer (from 0) are made from."""
    if kind == "cross":
        return _("The queries come from the decoder, the keys and values from the encoder's output: T queries, S keys.")
    below = "stream" if pre_norm else "below" if layer else "embedding"
    return _((_OF_ENCODER if kind == "encoder" else _OF_DECODER)[below])

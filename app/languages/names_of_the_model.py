"""English names that the package `transformer` gives. They are translated where they are drawn: `_(KINDS[kind])`."""

from app.languages.messages import gettext_noop

KINDS_OF_ATTENTION = (  # transformer/model/attention_kinds.py
    gettext_noop("Encoder-decoder attention"),
    gettext_noop("Encoder self-attention"),
    gettext_noop("Decoder self-attention"),
)
KINDS_INSIDE = {  # inside a sentence
    "cross": gettext_noop("encoder-decoder attention"),
    "encoder": gettext_noop("encoder self-attention"),
    "decoder": gettext_noop("decoder self-attention"),
}
STACKS = (gettext_noop("encoder"), gettext_noop("decoder"))

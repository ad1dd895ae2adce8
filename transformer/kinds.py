"""The three kinds of attention (paper, section 3.2.3): their names, and the sites where a layer of each is recorded."""

from typing import Literal

Kind = Literal["cross", "encoder", "decoder"]

KINDS: dict[Kind, str] = {
    "cross": "Encoder-decoder attention",
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
}
SITES: dict[Kind, str] = {  # of a layer, counted from 0
    "cross": "decoder.layers.{}.cross_attention",
    "encoder": "encoder.layers.{}.self_attention",
    "decoder": "decoder.layers.{}.self_attention",
}

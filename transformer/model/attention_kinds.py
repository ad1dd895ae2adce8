"""The three kinds of attention (paper, section 3.2.3): their names, and the sites where a layer of each is recorded."""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from transformer.config import ModelConfig

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


def depth(config: "ModelConfig", place: str) -> int:
    """How many layers a stack has, or the stack that the queries of this kind of attention come from."""
    return config.encoder_layers if place == "encoder" else config.decoder_layers

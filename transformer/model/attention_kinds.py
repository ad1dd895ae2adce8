"""The three kinds of attention (paper, section 3.2.3): their titles, and the names of their modules in a layer.

A site (transformer/model/probe.py) has a name that begins with that of its module.
"""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from transformer.config import ModelConfig

Kind = Literal["cross", "encoder", "decoder"]

KINDS: dict[Kind, str] = {
    "cross": "Encoder-decoder attention",
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
}
IN_ORDER: tuple[Kind, ...] = ("encoder", "decoder", "cross")  # in which a pass of the model computes them
# What the calculation of a head records, from its query to its weighted sum: the last parts of the sites' names.
STAGES = ("query", "key", "value", "products", "scores", "mask", "masked_scores", "weights", "context")
SITES: dict[Kind, str] = {  # {}: the number of the layer, from 0
    "cross": "decoder.layers.{}.cross_attention",
    "encoder": "encoder.layers.{}.self_attention",
    "decoder": "decoder.layers.{}.self_attention",
}


def depth(config: "ModelConfig", place: str) -> int:
    """The number of layers of a stack, or of the stack that has this kind of attention ("cross": the decoder)."""
    return config.encoder_layers if place == "encoder" else config.decoder_layers

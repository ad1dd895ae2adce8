"""Whether a model has the layer, the sub-layer or the head that an edit names."""

from typing import Literal

from transformer.config import ModelConfig
from transformer.errors import HeadlightError
from transformer.model.attention_kinds import KINDS, Kind, depth

Stack = Literal["encoder", "decoder"]
Sublayer = Literal["self_attention", "cross_attention", "feed_forward"]


def check_layer(config: ModelConfig, stack: Stack, layer: int) -> None:
    """Raises HeadlightError: the encoder or the decoder has no such layer."""
    layers = depth(config, stack)
    if not 0 <= layer < layers:
        raise HeadlightError(f"There is no layer {layer + 1} in the {stack}. Number of its layers: {layers}.")


def check_sublayer(config: ModelConfig, stack: Stack, layer: int, sublayer: Sublayer) -> None:
    """Raises HeadlightError: the model has no such sub-layer."""
    check_layer(config, stack, layer)
    if stack == "encoder" and sublayer == "cross_attention":
        raise HeadlightError("The encoder has no cross_attention. Choose self_attention or feed_forward.")


def check_head(config: ModelConfig, kind: Kind, layer: int, head: int) -> None:
    """Raises HeadlightError: the model has no such head."""
    if kind not in KINDS:
        raise HeadlightError(f"There is no kind of attention {kind!a}. Choose one of: {', '.join(KINDS)}.")
    check_layer(config, "encoder" if kind == "encoder" else "decoder", layer)
    if not 0 <= head < config.heads:
        raise HeadlightError(f"There is no head {head + 1}. Heads in each layer of this model: {config.heads}.")

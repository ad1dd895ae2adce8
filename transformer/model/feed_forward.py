"""The position-wise feed-forward network (paper, section 3.3, equation 2).

    FFN(x) = max(0, x W_1 + b_1) W_2 + b_2

The same two matrices are applied to every position, each by itself. Without the ReLU in the middle the network would
be one linear map.
"""

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn.functional import gelu, relu, silu

from transformer.config import ModelConfig
from transformer.kernels.dropout import Dropout
from transformer.model.probe import NULL_PROBE, BaseProbe

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": relu, "gelu": gelu, "silu": silu}


class FeedForward(nn.Module):
    """d_model -> d_ff -> d_model."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.hidden = nn.Linear(config.d_model, config.d_ff)  # W_1, b_1
        self.output = nn.Linear(config.d_ff, config.d_model)  # W_2, b_2
        self.activation = ACTIVATIONS[config.activation]
        self.dropout = Dropout(config.activation_dropout)

    def forward(self, x: Tensor, probe: BaseProbe = NULL_PROBE) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        hidden = probe("hidden", self.hidden(x))  # (B, T, F)
        activated = probe("activated", self.activation(hidden))  # (B, T, F)
        return probe("output", self.output(self.dropout(activated)))  # (B, T, D)

"""Cross-attention of one sentence that is decoded by itself, with W^Q and W^O folded into its keys and values.

    head_i = softmax((x W_i^Q + b_i^Q) K_i^T / sqrt(d_k)) V_i           (equation 1 and section 3.2.2)
    sum over i of head_i W_i^O, and b^O
        = sum over i of softmax(x A_i + a_i) C_i

    A_i = W_i^Q K_i^T / sqrt(d_k),   a_i = b_i^Q K_i^T / sqrt(d_k),   C_i = V_i W_i^O + b^O / h

(C_i may contain b^O because each row of weights sums to 1.) All three are computed once per sentence. If the sentence
has fewer than E tokens, they are smaller than W^Q and W^O. That makes a decoding step faster, because its time is the
time to read its matrices. They are not used for a batch: each sentence would need its own, and padding a mask.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transformer.kernels.packed_linear import Linear


@dataclass(frozen=True)
class FoldedAttention:
    """Cross-attention of one layer as a function of x alone."""

    scores: Linear  # A and a, of all heads side by side: D -> H*S
    written: Tensor  # C, of all heads one below the other: (H*S, D)
    source_length: int  # S

    def __call__(self, x: Tensor, residual: Tensor) -> Tensor:
        """x (R, D), and the residual (R, D), which is added to the output -> (R, D)."""
        weights = self.scores(x).view(-1, self.source_length).softmax(dim=-1)  # (R*H, S)
        return torch.addmm(residual, weights.view(len(x), -1), self.written)  # (R, D)


class FoldableWeights:
    """W^Q and W^O of all layers. One product folds W^Q into the keys of all layers, another folds W^O into the values.

    Args:
        queries: W^Q and b^Q of each layer.
        outputs: W^O and b^O of each layer.
    """

    def __init__(self, queries: Sequence[nn.Linear], outputs: Sequence[nn.Linear], heads: int):
        split = (len(queries), heads, queries[0].out_features // heads)  # N, H, E
        query = torch.stack([linear.weight.detach() for linear in queries])  # (N, D, D)
        self.query = query.view(*split, -1).transpose(-2, -1).contiguous()  # (N, H, D, E)
        self.query_bias = torch.stack([linear.bias.detach() for linear in queries]).view(*split, 1)  # (N, H, E, 1)
        output = torch.stack([linear.weight.detach().t() for linear in outputs])  # (N, D, D)
        self.output = output.view(*split, -1)  # (N, H, E, D)
        self.output_bias = torch.stack([linear.bias.detach() for linear in outputs])[:, None, None] / heads

    def __call__(self, keys: Tensor, values: Tensor) -> list[FoldedAttention]:
        """Keys and values (N, H, S, E) -> the attention of each layer; [] for a sentence longer than E,
        for which folded weights would not be faster."""
        layers, heads, length, width = keys.shape
        if length > width:
            return []
        turned = keys.transpose(-2, -1) / math.sqrt(width)  # (N, H, E, S)
        scores = (self.query @ turned).transpose(1, 2).reshape(layers, -1, heads * length)  # (N, D, H*S)
        bias = (self.query_bias * turned).sum(dim=-2).view(layers, 1, -1)  # (N, 1, H*S)
        written = (values @ self.output + self.output_bias).flatten(1, 2)  # (N, H*S, D)
        maps = zip(scores.unbind(), bias.unbind(), written.unbind(), strict=True)
        return [FoldedAttention(Linear(matrix, added), out, length) for matrix, added, out in maps]

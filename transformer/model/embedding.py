"""From ids to vectors (paper, sections 3.4 and 3.5): embedding times sqrt(d_model), plus the position, then dropout.

The matrix is drawn from N(0, 1/d_model), because it also turns the decoder's output, of variance 1, into logits, which
should have variance 1, too. As an input it is multiplied by sqrt(d_model): its numbers then have variance 1 and are
about as large as the positions (mean square 1/2). Trap: initialisation and scale belong together; if only one of them
is changed, tokens and positions differ in size. Test: test_scaled_embeddings_have_unit_deviation_at_the_start.
"""

import math

import torch
from torch import Tensor, nn

from transformer.config import ModelConfig
from transformer.kernels.dropout import Dropout
from transformer.model.positions import PositionalEncoding, draw_normal
from transformer.model.probe import NULL_PROBE, BaseProbe


def token_embedding(config: ModelConfig) -> nn.Embedding:
    """The matrix of one vector per token: (V, D), drawn from N(0, 1/d_model)."""
    weight = torch.empty(config.vocab_size, config.d_model)  # (V, D)
    return nn.Embedding.from_pretrained(draw_normal(weight, config), freeze=False)


class InputEmbedding(nn.Module):
    """The input of a stack: embedding, position, dropout. Both stacks may share `tokens` and `positions`. The output
    projection may share `tokens`, too (section 3.4)."""

    def __init__(self, config: ModelConfig, tokens: nn.Embedding, positions: PositionalEncoding):
        super().__init__()
        self.tokens = tokens
        self.positions = positions
        self.dropout = Dropout(config.embedding_dropout)
        self.scale = math.sqrt(config.d_model)

    def forward(self, ids: Tensor, probe: BaseProbe = NULL_PROBE, start: int = 0) -> Tensor:
        """ids (B, T), the first of them at position `start` -> (B, T, D)."""
        tokens = probe("tokens", self.tokens(ids))  # (B, T, D)
        scaled = probe("scaled", tokens * self.scale)  # (B, T, D)
        position = self.positions(ids.shape[1], start).to(scaled.dtype)  # (T, D), or (T, 1) where there are none
        positions = probe("positions", position.expand_as(scaled)) if probe else position  # (B, T, D), or as above
        return self.dropout(probe("output", scaled + positions))  # (B, T, D)

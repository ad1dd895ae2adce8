"""Attention rollout (Abnar and Zuidema, 2020): what reaches a position from each token of the input, over all layers.

Half of a position comes unchanged through the residual connection, and the other half through attention (that the
halves are equal is the authors' assumption, not a measurement). All heads have the same share:

    A_l = 1/2 mean over heads of W_l + 1/2 I,    R_l = A_l R_{l-1},    R_0 = I

In the decoder, both attentions are treated in the same way: equal halves, equal heads. Row t is a mixture of the tokens
that the decoder reads (O) and, through the encoder's output, of the source tokens (C). The feed-forward network mixes
no positions:

    self-attention:   O <- A_l O,      C <- A_l C
    cross-attention:  O <- 1/2 O,      C <- 1/2 C + 1/2 X_l R      X_l = head mean, R = the encoder's rollout

Each row of O and C together sums to 1. A row that an edit masks fully gets nothing from attention, so all of it comes
through the residual connection (test_the_rollout_of_a_fully_masked_row_is_that_of_the_residual_connection). LayerNorm
and the sizes of the value vectors are ignored, so the numbers are shares, not effects.
"""

import numpy as np


def head_mean(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean over the heads (H, Q, K) -> (Q, K), whose rows sum to 1, or to 0 if all heads mask the row; and the
    share of attention in each row (Q, 1): 1/2, or 0 for such a row."""
    mean = weights.astype(np.float64).mean(axis=0)  # (Q, K)
    total = mean.sum(axis=-1, keepdims=True)  # (Q, 1)
    return mean / np.where(total > 0, total, 1.0), np.where(total > 0, 0.5, 0.0)


def mixed(weights: np.ndarray) -> np.ndarray:
    """Attention and residual of one self-attention: (H, N, N) -> (N, N), rows sum to 1."""
    mean, half = head_mean(weights)
    return np.asarray(half * mean + (1 - half) * np.eye(len(mean)))


def rollout(weights: np.ndarray) -> np.ndarray:
    """Self-attention of one stack, (L, H, N, N) -> its rollout after each layer, (L, N, N)."""
    arrived = np.eye(weights.shape[-1])  # (N, N)
    after = []
    for layer in weights:
        arrived = mixed(layer) @ arrived
        after.append(arrived)
    return np.stack(after)


def decoder_rollout(own: np.ndarray, cross: np.ndarray, encoder: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rollout from the decoder to the tokens that it reads and to the source.

    Args:
        own: self-attention of the decoder (L, H, T, T).
        cross: encoder-decoder attention (L, H, T, S).
        encoder: the encoder's rollout after its last layer (S, S).

    Returns:
        O (L, T, T) and C (L, T, S), after each layer; each row of both together sums to 1.
    """
    read, source = np.eye(own.shape[-1]), np.zeros(cross.shape[-2:])  # (T, T), (T, S)
    reads, sources = [], []
    for self_weights, cross_weights in zip(own, cross, strict=True):
        step = mixed(self_weights)  # (T, T)
        attended, half = head_mean(cross_weights)  # (T, S), (T, 1)
        read = (1 - half) * (step @ read)
        source = (1 - half) * (step @ source) + half * attended @ encoder
        reads.append(read)
        sources.append(source)
    return np.stack(reads), np.stack(sources)

"""Masks: which position may attend to which (paper, section 3.2.3).

All masks are built here, by one convention: boolean, True = may attend, broadcastable to (B, H, Q, K). (In
`scaled_dot_product_attention` True means the same, in `torch.nn.MultiheadAttention` the opposite.)

Masks are never added to scores as large negative numbers: -1e9 overflows in half precision (Trap: see
test_half_precision_attention_over_a_padded_batch_is_finite).
"""

import torch
from torch import Tensor

from transformer.config import PAD


def padding_mask(ids: Tensor) -> Tensor:
    """Every query may attend to tokens, not to padding: ids (B, K) -> (B, 1, 1, K)."""
    return (ids != PAD)[:, None, None, :]  # (B, 1, 1, K)


def causal_mask(length: int, device: torch.device | None = None) -> Tensor:
    """Position q may attend to positions 0 to q, not to later ones: (1, 1, Q, K) with Q = K = length.

    This is what keeps the decoder auto-regressive while all of its positions are trained at once.
    """
    position = torch.arange(length, device=device)  # (T)
    return (position[None, :] <= position[:, None])[None, None]  # (1, 1, Q, K)


def window_mask(length: int, window: int, device: torch.device | None = None) -> Tensor:
    """Restricted self-attention (section 4): position q may attend to k where |q - k| <= r = window: (1, 1, Q, K).

    The paper speaks of a neighbourhood of size r around each position and does not say how r counts. Here r is the
    largest distance: with r = 1 a position attends to itself and one neighbour on each side.
    """
    position = torch.arange(length, device=device)  # (T)
    return ((position[None, :] - position[:, None]).abs() <= window)[None, None]  # (1, 1, Q, K)


def source_mask(source: Tensor, window: int | None = None) -> Tensor:
    """Encoder self-attention: source (B, S) -> (B, 1, 1, S), or (B, 1, S, S) with a window."""
    mask = padding_mask(source)
    if window is not None:
        mask = mask & window_mask(source.shape[1], window, source.device)  # (B, 1, S, S)
    return mask


def target_mask(target: Tensor, window: int | None = None, causal: bool = True) -> Tensor:
    """Decoder self-attention, padding and causal mask in one: target (B, T) -> (B, 1, T, T).

    Without the causal mask (`model.causal_training = false`, in training only) each position also attends to the token
    that it has to predict. Without a window, too, the mask is (B, 1, 1, T).
    """
    mask = padding_mask(target)  # (B, 1, 1, T)
    if causal:
        mask = mask & causal_mask(target.shape[1], target.device)  # (B, 1, T, T)
    if window is not None:
        mask = mask & window_mask(target.shape[1], window, target.device)
    return mask


def step_mask(length: int, window: int | None, device: torch.device) -> Tensor | None:
    """The newest row of the causal mask, for one decoding step with `length` keys in the cache: (1, 1, 1, K) or None.

    The newest position may attend to all past keys, so without a window there is nothing to mask. (Trap: the
    `is_causal` flag of fused attention is aligned top-left: a single query would attend only to the first
    key. Test: test_cached_decoding_equals_one_teacher_forced_pass.)
    """
    if window is None:
        return None
    position = torch.arange(length, device=device)  # (K)
    return (position >= length - 1 - window)[None, None, None]  # (1, 1, 1, K)

"""Masks without one of their parts, or with a window: pure functions of the mask at its site, (B, H, Q, K)."""

from typing import Literal

from torch import Tensor

from transformer.model.masks import window_mask

MaskPart = Literal["causal", "padding", "cross"]


def without_causal_part(mask: Tensor, window: int | None) -> Tensor:
    """The mask of decoder self-attention without its causal part; padding and window are kept: (B, H, T, T).

    Each token may attend to itself unless it is padding, so the diagonal shows which keys are padding. In a decoding
    step, (B, H, 1, K), there is nothing to remove: later tokens do not exist yet.
    """
    queries, keys = mask.shape[-2:]
    if queries != keys:
        return mask
    is_token = mask.diagonal(dim1=-2, dim2=-1)[..., None, :]  # (B, H, 1, T)
    within = mask.new_ones(()) if window is None else window_mask(keys, window, mask.device)  # (1, 1, T, T)
    return (is_token & within).expand_as(mask)  # (B, H, T, T)


def without_padding_part(mask: Tensor, window: int | None) -> Tensor:
    """The mask of encoder self-attention or of encoder-decoder attention without padding: (B, H, Q, K).

    What is left is the window, which encoder self-attention may have and encoder-decoder attention never has.
    """
    if window is None:
        return mask.new_ones(()).expand_as(mask)  # (B, H, Q, K)
    return window_mask(mask.shape[-1], window, mask.device).expand_as(mask)  # (B, H, S, S)


def within_window(mask: Tensor, distance: int) -> Tensor:
    """The mask of self-attention, further than `distance` positions forbidden (section 4: restricted self-attention).

    In a decoding step, (B, H, 1, K), the query is the newest position.
    """
    queries, keys = mask.shape[-2:]
    return mask & window_mask(keys, distance, mask.device)[..., -queries:, :]  # (B, H, Q, K)

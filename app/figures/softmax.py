"""The softmax of recorded scores and logits, in float64."""

import numpy as np


def softmax(scores: np.ndarray, mask: np.ndarray | None = None, *, temperature: float = 1.0) -> np.ndarray:
    """The softmax of scores / temperature over the last axis.

    Cells that the mask (True = may attend) forbids get 0, and so do all cells of a fully masked row.
    """
    allowed = np.ones(scores.shape, dtype=bool) if mask is None else np.broadcast_to(mask, scores.shape)
    wide = np.where(allowed, scores.astype(np.float64) / temperature, -np.inf)
    top = wide.max(axis=-1, keepdims=True)
    powers = np.exp(wide - np.where(np.isfinite(top), top, 0.0))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total > 0, total, 1.0)


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """The logarithm of the softmax over the last axis, also where the softmax is too small for a number."""
    exact = logits.astype(np.float64)
    exact -= exact.max(axis=-1, keepdims=True)
    return exact - np.log(np.exp(exact).sum(axis=-1, keepdims=True))

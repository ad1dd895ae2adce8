"""Two small sentences and random attention weights between their tokens."""

import numpy as np

from app.figures.axes import TokenAxis

PIECES = ("▁The", "▁an", "im", "al", "▁didn", "'", "t", "▁stop", ".", "</s>")
SOURCE = TokenAxis("English (source)", "encoder", PIECES)
READ = ("<s>", "▁Das", "▁Ti", "er", "▁hielt", "▁nicht", ".")
TARGET = TokenAxis("German (translation)", "decoder", READ, (*READ[1:], "</s>"))


def softmax(shape: tuple[int, ...], seed: int = 0, mask: np.ndarray | None = None) -> np.ndarray:
    """Random weights of this shape, whose rows sum to 1; 0 where the mask is False."""
    scores = np.exp(2 * np.random.default_rng(seed).normal(size=shape))
    if mask is not None:
        scores = scores * mask
    return (scores / scores.sum(-1, keepdims=True)).astype(np.float32)


def causal(length: int) -> np.ndarray:
    """The causal mask, (T, T)."""
    return np.tril(np.ones((length, length), dtype=bool))

"""Numbers about heads, and which head to show first.

The entropy of a row says how spread its weights are: 0 = all on one token, log K = all equal. Attention to sinks (<s>,
</s>, punctuation) is no alignment: a head that only attends to them is sharp, but says nothing about the words.
Therefore weights on sinks do not count for the choice of the head that is shown first: it is the head that is sharp on
real tokens and attends to different ones in different rows.
"""

import unicodedata

import numpy as np

from app.figures.shares import Share

CONTROL = ("<s>", "</s>", "<pad>")


def is_control(token: str) -> bool:
    """Whether the token is one that the model adds, not one of the text."""
    return token in CONTROL


def carries_no_word(token: str) -> bool:
    """Whether a token carries no word: a control token, or nothing but punctuation and white space."""
    text = token.replace("▁", " ").strip()
    return is_control(token) or all(unicodedata.category(ch)[0] in "PZC" for ch in text)


def entropy(weights: np.ndarray) -> np.ndarray:
    """(..., K) -> (...), in bits; a weight of 0 adds 0."""
    weights = weights.astype(np.float64)
    return -np.sum(weights * np.log2(np.where(weights > 0, weights, 1.0)), axis=-1)


def clarity(weights: np.ndarray, queries: tuple[str, ...], keys: tuple[str, ...]) -> np.ndarray:
    """How clearly each head attends to words: (L, H, Q, K) -> (L, H), 0 to 1.

    It is a product. One factor is the strongest weight of a row on a real token, averaged over the rows. The other one
    is how many different tokens get the strongest weight of a row, divided by the largest possible number. A head that
    attends sharply to a different word in each row scores 1. In a long sentence, a head that always attends to the same
    token, to sinks, or evenly to all tokens scores near 0. Rows of sinks are left out if there are other rows.
    """
    real_keys = np.array([not carries_no_word(token) for token in keys])  # (K,)
    real_rows = np.array([not carries_no_word(token) for token in queries])  # (Q,)
    if not real_keys.any():
        real_keys[:] = True
    if not real_rows.any():
        real_rows[:] = True
    rows = np.where(real_keys, weights, 0.0)[:, :, real_rows]  # (L, H, Q', K)
    strongest = rows.max(axis=-1).mean(axis=-1)  # (L, H)
    targets = rows.argmax(axis=-1)  # (L, H, Q')
    possible = min(int(real_rows.sum()), int(real_keys.sum()))
    distinct = np.array([[len(set(head.tolist())) / possible for head in layer] for layer in targets])  # (L, H)
    return strongest * distinct


def clearest_head(weights: np.ndarray, queries: tuple[str, ...], keys: tuple[str, ...]) -> tuple[int, int]:
    """(layer, head), from 0, of the largest `clarity`."""
    scores = clarity(weights, queries, keys)
    layer, head = np.unravel_index(int(scores.argmax()), scores.shape)
    return int(layer), int(head)


def even_entropy(mask: np.ndarray) -> float:
    """The largest possible mean entropy of the rows, in bits: each row attends evenly to all that it may attend to.

    mask (Q, K), True = may attend.
    """
    return float(np.log2(np.maximum(mask.sum(axis=-1), 1)).mean())


def head_facts(weights: np.ndarray, mask: np.ndarray, keys: tuple[str, ...]) -> dict[str, float]:
    """Of one head (Q, K): mean entropy in bits, the most it could be, mean maximum, share on sinks.

    Rows without any weight do not count: if special tokens are hidden, all weights of a row may be hidden.
    """
    attends = weights.any(axis=-1)  # (Q)
    if attends.any():
        weights, mask = weights[attends], mask[attends]  # (Q', K)
    sinks = np.array([carries_no_word(token) for token in keys])  # (K,)
    return {
        "entropy": float(entropy(weights).mean()),
        "even": even_entropy(mask),
        "strongest": Share(weights.max(axis=-1).mean()),
        "sinks": Share(weights[:, sinks].sum(axis=-1).mean()),
    }

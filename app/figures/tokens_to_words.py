"""Tokens put together into words: rows are averaged, columns are summed.

The attention from a word is the mean over its tokens; the attention to a word is the sum over its tokens. So each row
still sums to 1. A word is the text between two spaces (SentencePiece marks its first token with ▁). Each token of
punctuation at its end is a word of its own, as in the alignments that people make, and so is a control token.
"""

import re
from collections.abc import Sequence

import numpy as np

from app.figures.head_sharpness import carries_no_word, is_control

Group = tuple[int, ...]  # the positions of the tokens of a word
_BYTE = re.compile("<0x([0-9A-F]{2})>")


def words_of(tokens: Sequence[str]) -> tuple[Group, ...]:
    """The tokens of each word, in order; every token belongs to one."""
    groups: list[list[int]] = []
    for i, token in enumerate(tokens):
        begins = not groups or token.startswith("▁") or is_control(token) or is_control(tokens[i - 1])
        if begins:
            groups.append([i])
        else:
            groups[-1].append(i)
    return tuple(part for group in groups for part in _without_its_punctuation(group, tokens))


def _without_its_punctuation(group: list[int], tokens: Sequence[str]) -> list[Group]:
    letters = [n for n, i in enumerate(group) if not carries_no_word(tokens[i])]
    if not letters:
        return [tuple(group)]
    end = letters[-1] + 1
    return [tuple(group[:end]), *((i,) for i in group[end:])]


def spelled(tokens: Sequence[str]) -> str:
    """The word that these tokens spell, bytes put together again."""
    raw = b"".join(
        bytes([int(found[1], 16)]) if (found := _BYTE.fullmatch(token)) else token.encode(errors="replace")
        for token in tokens
    )
    return raw.decode(errors="replace").replace("▁", " ").strip() or "▁"


def merged(weights: np.ndarray, rows: Sequence[Group], columns: Sequence[Group]) -> np.ndarray:
    """(..., Q, K) -> (..., Q', K'): rows averaged, columns summed.

    Rows of zeros (see `app.figures.shown_weights`) are left out of the mean.
    """
    summed = np.stack([weights[..., list(group)].sum(axis=-1) for group in columns], axis=-1)  # (..., Q, K')
    result = []
    for group in rows:
        members = summed[..., list(group), :]  # (..., n, K')
        count = (members.sum(axis=-1) > 0).sum(axis=-1)[..., None]  # (..., 1)
        result.append(members.sum(axis=-2) / np.maximum(count, 1))
    return np.stack(result, axis=-2).astype(weights.dtype)  # (..., Q', K')


def merged_mask(mask: np.ndarray, rows: Sequence[Group], columns: Sequence[Group]) -> np.ndarray:
    """(Q, K) -> (Q', K'): a word may attend to a word if a token of the one may attend to a token of the other."""
    return np.array([[mask[np.ix_(row, column)].any() for column in columns] for row in rows])

"""Words and tokens: what the model reads for a sentence that is given as words, and the attention between words.

In gold sentences, punctuation is separated from words. The model reads text as people write it, so the space before
closing punctuation is removed. The span of a token says to which word it belongs. Case is not changed.

The weight between two words is summed over the tokens of the source word and averaged over the tokens of the target
word (Clark et al. 2019, arXiv:1906.04341; the app does the same). The link is the argmax of these weights. Others take
the argmax per token and link two words if any of their tokens are linked (the scripts of Zenkel et al. 2019). With
their rule a long word may have several links, so the rates differ slightly.

There are two shifts, because row t of the decoder reads token t and predicts token t + 1. A word is aligned either by
the rows that *predict* its tokens, or by the rows that *read* them, which are one row later (Chen et al. 2020).
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from transformer.text.tokenizer import Tokenizer

Shift = Literal["predicts", "reads"]
SHIFTS: tuple[Shift, ...] = ("predicts", "reads")
_CLOSING = re.compile(r"[,.;:!?)\]%]+")


@dataclass(frozen=True)
class Sentence:
    """A sentence that is given as words, as the model reads it."""

    text: str
    ids: tuple[int, ...]  # without </s>
    word: np.ndarray  # (tokens) the word of each, from 0
    words: int


def written(words: Sequence[str]) -> str:
    """The words as a sentence."""
    return "".join(_spaced(words))


def sentence(words: Sequence[str], tokenizer: Tokenizer) -> Sentence:
    """The words as a sentence, its tokens, and the word of each token."""
    spaced = _spaced(words)
    ends = np.cumsum([len(part) for part in spaced]).tolist()
    text = "".join(spaced)
    tokens = tokenizer.analyse(text)
    # The first token of a word begins with the space before the word. In `spaced`, this space belongs to the word, too.
    word = np.array([bisect_right(ends, token.begin) for token in tokens], np.int64)
    return Sentence(text, tuple(token.id for token in tokens), np.minimum(word, len(words) - 1), len(words))


def word_weights(
    weights: np.ndarray, source: Sentence, target: Sentence, shift: Shift
) -> tuple[np.ndarray, np.ndarray]:
    """Attention between words. Special tokens are left out; rows are not normalised again.

    Args:
        weights: encoder-decoder attention (..., T, S) of a pass that read <s> and predicted </s>: T and S are one more
            than the numbers of tokens.

    Returns:
        The words of the target that have a token, (N), and their weights, (..., N, S').
    """
    first = 1 if shift == "reads" else 0
    rows = weights[..., first : first + len(target.ids), : len(source.ids)]  # (..., tokens of target, of source)
    summed = rows @ _belongs(source)  # (..., tokens of target, S')
    belongs = _belongs(target)  # (tokens of target, T')
    found = np.flatnonzero(belongs.any(axis=0))  # (N)
    mean = (belongs / np.maximum(belongs.sum(axis=0), 1))[:, found]  # (tokens of target, N)
    return found, np.swapaxes(mean, 0, 1) @ summed  # (..., N, S')


def _belongs(found: Sentence) -> np.ndarray:
    """(tokens, words) 1 where the token belongs to the word."""
    return (found.word[:, None] == np.arange(found.words)).astype(np.float64)


def _spaced(words: Sequence[str]) -> list[str]:
    """Each word with the space before it."""
    return [word if i == 0 or _CLOSING.fullmatch(word) else f" {word}" for i, word in enumerate(words)]

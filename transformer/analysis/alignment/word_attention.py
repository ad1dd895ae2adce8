"""Words <-> pieces: a sentence that was cut into words, as the model reads it, and attention between its words.

Gold sentences are cut into words, and commas stand alone. A model that was trained on text as people write it should
read that: so a word of nothing but closing punctuation loses the space before it, and which piece belongs to which word
is told by its place in the sentence. (Case stays as it is: a text that lost its capitals keeps none.)

The weight between two words is the sum over the pieces of the source word, which share what is looked at, of the mean
over the pieces of the target word, each of which looks for itself (Clark et al. 2019, arXiv:1906.04341; the app's pages
do the same). Then comes the argmax. Others take the argmax of each piece and link two words if any of their pieces are
linked (the scripts of Zenkel et al. 2019): that gives a long word several links, so rates differ by a little.

The shift: row t of the decoder reads piece t and predicts piece t + 1. A word is aligned by the rows that *predict* its
pieces, or by those that *read* them, one later, when the decoder knows what was written (Chen et al. 2020).
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
    """Words as the model reads them."""

    text: str
    ids: tuple[int, ...]  # without </s>
    word: np.ndarray  # (pieces) to which word each belongs, from 0
    words: int


def written(words: Sequence[str]) -> str:
    """The words as a sentence."""
    return "".join(_spaced(words))


def sentence(words: Sequence[str], tokenizer: Tokenizer) -> Sentence:
    """The words as a sentence in pieces, each of which knows its word."""
    spaced = _spaced(words)
    ends = np.cumsum([len(part) for part in spaced]).tolist()
    text = "".join(spaced)
    pieces = tokenizer.analyse(text)
    # A piece begins with the space before its word, which is counted to that word.
    word = np.array([bisect_right(ends, piece.begin) for piece in pieces], np.int64)
    return Sentence(text, tuple(piece.id for piece in pieces), np.minimum(word, len(words) - 1), len(words))


def word_weights(
    weights: np.ndarray, source: Sentence, target: Sentence, shift: Shift
) -> tuple[np.ndarray, np.ndarray]:
    """Attention between words. Special tokens are no words and are left out; rows are not divided by what is left.

    Args:
        weights: encoder-decoder attention (..., T, S) of a pass that read <s> and predicted </s>: T and S are one more
            than there are pieces.

    Returns:
        The words of the target that have a piece, (N), and their weights, (..., N, S').
    """
    first = 1 if shift == "reads" else 0
    rows = weights[..., first : first + len(target.ids), : len(source.ids)]  # (..., pieces of target, of source)
    summed = rows @ _belongs(source)  # (..., pieces of target, S')
    belongs = _belongs(target)  # (pieces of target, T')
    found = np.flatnonzero(belongs.any(axis=0))  # (N)
    mean = (belongs / np.maximum(belongs.sum(axis=0), 1))[:, found]  # (pieces of target, N)
    return found, np.swapaxes(mean, 0, 1) @ summed  # (..., N, S')


def _belongs(found: Sentence) -> np.ndarray:
    """(pieces, words) 1 where the piece belongs to the word."""
    return (found.word[:, None] == np.arange(found.words)).astype(np.float64)


def _spaced(words: Sequence[str]) -> list[str]:
    """Each word with the space that goes before it."""
    return [word if i == 0 or _CLOSING.fullmatch(word) else f" {word}" for i, word in enumerate(words)]

"""Subword sampling: a word is segmented at random each time it occurs, so the model learns from many segmentations.

Unigram (Kudo 2018, arXiv:1804.10959): draw a segmentation x of the word w with probability

    P(x | w) = prod_i p(x_i)^alpha / Z

The draw is exact: forward filtering, backward sampling over the lattice of pieces. With a small alpha all segmentations
are about equally probable, with a large alpha the best is drawn. BPE (BPE-dropout, Provilkov et al. 2020,
arXiv:1910.13267): at each step every possible merge is dropped with probability alpha. Pieces never cross a space, so
both work per word.

Our decision: sentencepiece has both, but its random generator can be neither saved nor restored. Here the caller passes
the `rng`, so that a resumed training draws what it would have drawn without the interruption.
"""

import math
import random
from bisect import bisect
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Protocol

import sentencepiece

UNKNOWN_PENALTY = 10.0  # a character without a piece has a score so far below the worst piece, as in sentencepiece
WORDS_REMEMBERED = 65_536  # about 1 KB each; a few words make up most of any text


class Sampler(Protocol):
    """Segments words at random."""

    def sample(self, word: str, alpha: float, rng: random.Random) -> list[int]:
        """The ids of one random segmentation of `word`, which is "▁" and the letters after it."""


def make_sampler(processor: sentencepiece.SentencePieceProcessor) -> Sampler:
    """The sampler for the kind of a model. The scores of a BPE model are minus the ranks of merges: 0, -1, -2, ..."""
    pieces = _Pieces(processor)
    by_rank = list(pieces.scores.values()) == [-float(rank) for rank in range(len(pieces.scores))]
    return BpeSampler(pieces) if by_rank else UnigramSampler(pieces)


class _Pieces:
    """The ordinary pieces with id and score (log p, or minus the rank of the merge), and the ids of bytes."""

    def __init__(self, processor: sentencepiece.SentencePieceProcessor) -> None:
        special = processor.is_control, processor.is_unknown, processor.is_byte, processor.is_unused
        texts = {processor.id_to_piece(id): id for id in range(processor.vocab_size())}
        self.ids = {text: id for text, id in texts.items() if not any(test(id) for test in special)}
        self.scores = {text: processor.get_score(id) for text, id in self.ids.items()}
        self.longest = max(map(len, self.ids), default=1)
        self._bytes = [texts.get(f"<0x{byte:02X}>", processor.unk_id()) for byte in range(256)]
        self._unknown = processor.unk_id()

    def spell(self, piece: str) -> list[int]:
        """The ids of a piece; for a character that is not a piece, of its bytes."""
        if piece in self.ids:
            return [self.ids[piece]]
        ids = [self._bytes[byte] for byte in piece.encode()]
        return [self._unknown] if self._unknown in ids else ids


class UnigramSampler:
    """Draws a segmentation by its probability (Kudo 2018)."""

    def __init__(self, pieces: _Pieces) -> None:
        self._pieces = pieces
        self._unknown_score = min(pieces.scores.values(), default=0.0) - UNKNOWN_PENALTY
        self._remembered = lru_cache(WORDS_REMEMBERED)(self._arrivals)

    def sample(self, word: str, alpha: float, rng: random.Random) -> list[int]:
        """Ids; the last piece is drawn first."""
        arrivals, end, backwards = self._remembered(word, alpha), len(word), list[str]()
        while end:
            begins, cumulative = arrivals[end]
            choice = bisect(cumulative, rng.random() * cumulative[-1], hi=len(begins) - 1) if len(begins) > 1 else 0
            backwards.append(word[begins[choice] : end])
            end = begins[choice]
        return [id for piece in reversed(backwards) for id in self._pieces.spell(piece)]

    def _arrivals(self, word: str, alpha: float) -> list[tuple[list[int], list[float]]]:
        """For each position in the word: where the pieces that end there begin, and the cumulative sums of their
        weights. The weight of a piece is summed over all segmentations of the text before it."""
        scores, longest = self._pieces.scores, self._pieces.longest
        total = [0.0]  # total[j]: log of the summed weights of all segmentations of word[:j]
        arrivals: list[tuple[list[int], list[float]]] = [([], [])]
        for end in range(1, len(word) + 1):
            begins = [begin for begin in range(max(0, end - longest), end) if word[begin:end] in scores]
            logs = [total[begin] + alpha * scores[word[begin:end]] for begin in begins]
            if end - 1 not in begins:  # a character that is not a piece must be possible, too
                begins.append(end - 1)
                logs.append(total[end - 1] + alpha * self._unknown_score)
            top = max(logs)
            weights = [math.exp(value - top) for value in logs]
            total.append(top + math.log(sum(weights)))
            arrivals.append((begins, list(accumulate(weights))))
        return arrivals


class BpeSampler:
    """BPE that drops merges at random (BPE-dropout, Provilkov et al. 2020)."""

    def __init__(self, pieces: _Pieces) -> None:
        self._pieces = pieces

    def sample(self, word: str, alpha: float, rng: random.Random) -> list[int]:
        """Ids; at each step each possible merge is dropped with probability `alpha`."""
        scores, parts = self._pieces.scores, list(word)
        while True:
            pairs = [left + right for left, right in pairwise(parts)]
            merges = [(-scores[pair], i) for i, pair in enumerate(pairs) if pair in scores and rng.random() >= alpha]
            if not merges:
                return [id for part in parts for id in self._pieces.spell(part)]
            i = min(merges)[1]  # the best score; among equals the leftmost
            parts[i : i + 2] = [pairs[i]]

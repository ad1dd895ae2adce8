"""Subword sampling: a word is cut differently each time it is met, so that the model learns from all its cuts.

Unigram (Kudo 2018, arXiv:1804.10959): draw a segmentation x of the word w with probability

    P(x | w) = prod_i p(x_i)^alpha / Z

exactly: by forward filtering, backward sampling over the lattice of pieces. A small alpha makes all cuts alike, a
large one keeps to the best. BPE (BPE-dropout, Provilkov et al. 2020, arXiv:1910.13267): merge as ever, but at each
step every possible merge is left out with probability alpha. Pieces never reach over a space, so both go word by word.

Where we decide: sentencepiece has both, but draws from a generator of its own that can be neither read nor put back.
Here all chance comes from the `rng` of the caller, so that a resumed training draws what it would have drawn.
"""

import math
import random
from bisect import bisect
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Protocol

import sentencepiece

UNKNOWN_PENALTY = 10.0  # a character without a piece costs this much more than the worst piece, as in sentencepiece
WORDS_REMEMBERED = 65_536  # at about 1 KB; a few words make up most of any text


class Sampler(Protocol):
    """Cuts words at random."""

    def sample(self, word: str, alpha: float, rng: random.Random) -> list[int]:
        """The ids of one random segmentation of `word`: "▁" and what follows it."""


def make_sampler(processor: sentencepiece.SentencePieceProcessor) -> Sampler:
    """The sampler for this model's kind, which shows in its scores: BPE numbers its merges 0, -1, -2, ..."""
    pieces = _Pieces(processor)
    by_rank = list(pieces.scores.values()) == [-float(rank) for rank in range(len(pieces.scores))]
    return BpeSampler(pieces) if by_rank else UnigramSampler(pieces)


class _Pieces:
    """The ordinary pieces with id and score (log p, or minus the rank of the merge); bytes for what has no piece."""

    def __init__(self, processor: sentencepiece.SentencePieceProcessor) -> None:
        special = processor.is_control, processor.is_unknown, processor.is_byte, processor.is_unused
        texts = {processor.id_to_piece(id): id for id in range(processor.vocab_size())}
        self.ids = {text: id for text, id in texts.items() if not any(test(id) for test in special)}
        self.scores = {text: processor.get_score(id) for text, id in self.ids.items()}
        self.longest = max(map(len, self.ids), default=1)
        self._bytes = [texts.get(f"<0x{byte:02X}>", processor.unk_id()) for byte in range(256)]
        self._unknown = processor.unk_id()

    def spell(self, piece: str) -> list[int]:
        """The ids of a piece; for a character that is none, of its bytes."""
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
        """Ids, the last piece drawn first; the smaller `alpha`, the more alike all cuts are."""
        arrivals, end, backwards = self._remembered(word, alpha), len(word), list[str]()
        while end:
            begins, cumulative = arrivals[end]
            choice = bisect(cumulative, rng.random() * cumulative[-1], hi=len(begins) - 1) if len(begins) > 1 else 0
            backwards.append(word[begins[choice] : end])
            end = begins[choice]
        return [id for piece in reversed(backwards) for id in self._pieces.spell(piece)]

    def _arrivals(self, word: str, alpha: float) -> list[tuple[list[int], list[float]]]:
        """For each place in the word: where the pieces that end there may begin, and, as cumulative sums, how likely
        each is, all cuts of what stands before it taken together."""
        scores, longest = self._pieces.scores, self._pieces.longest
        total = [0.0]  # total[j]: log of the summed weights of all cuts of word[:j]
        arrivals: list[tuple[list[int], list[float]]] = [([], [])]
        for end in range(1, len(word) + 1):
            begins = [begin for begin in range(max(0, end - longest), end) if word[begin:end] in scores]
            logs = [total[begin] + alpha * scores[word[begin:end]] for begin in begins]
            if end - 1 not in begins:  # a character that is no piece: the way on must stay open
                begins.append(end - 1)
                logs.append(total[end - 1] + alpha * self._unknown_score)
            top = max(logs)
            weights = [math.exp(value - top) for value in logs]
            total.append(top + math.log(sum(weights)))
            arrivals.append((begins, list(accumulate(weights))))
        return arrivals


class BpeSampler:
    """Merges as ever, but leaves out merges at random (BPE-dropout, Provilkov et al. 2020)."""

    def __init__(self, pieces: _Pieces) -> None:
        self._pieces = pieces

    def sample(self, word: str, alpha: float, rng: random.Random) -> list[int]:
        """Ids; each possible merge is left out with probability `alpha`, anew at each step."""
        scores, parts = self._pieces.scores, list(word)
        while True:
            pairs = [left + right for left, right in pairwise(parts)]
            merges = [(-scores[pair], i) for i, pair in enumerate(pairs) if pair in scores and rng.random() >= alpha]
            if not merges:
                return [id for part in parts for id in self._pieces.spell(part)]
            i = min(merges)[1]  # the best score; among equals the leftmost
            parts[i : i + 2] = [pairs[i]]

"""Subword sampling: the same word cut differently each time it is met, so that a model learns from all its cuts.

Unigram (Kudo 2018, arXiv:1804.10959): draw a segmentation x of word w with probability

    P(x | w) = prod_i p(x_i)^alpha / Z

exactly, by forward filtering and backward sampling over the lattice of pieces, as `nbest_size = -1` of sentencepiece
does. alpha near 0 makes all cuts alike, a large alpha keeps to the best one.

BPE (BPE-dropout, Provilkov et al. 2020, arXiv:1910.13267): merge as ever, but at each step every possible merge is
left out with probability alpha. Pieces never reach over a space, so both work word by word.

Where we decide: sentencepiece has both, but draws from a generator of its own that cannot be put back to where it was.
Here all chance comes from the `rng` that the caller hands in, so a resumed training draws what it would have drawn.
"""

import math
import random
from typing import Protocol

import sentencepiece

UNKNOWN_PENALTY = 10.0  # a character without a piece costs this much more than the worst piece, as in sentencepiece


class Sampler(Protocol):
    def sample(self, word: str, alpha: float, rng: random.Random) -> list[int]:
        """The ids of one random segmentation of `word` ("▁" and what follows it)."""


class _Vocabulary:
    """The ordinary pieces with their scores, and the way out for characters that have none."""

    def __init__(self, processor: sentencepiece.SentencePieceProcessor) -> None:
        special = processor.is_control, processor.is_unknown, processor.is_byte, processor.is_unused
        ordinary = [id for id in range(processor.vocab_size()) if not any(test(id) for test in special)]
        self.ids = {processor.id_to_piece(id): id for id in ordinary}
        self.scores = {processor.id_to_piece(id): processor.get_score(id) for id in ordinary}
        self.longest = max(map(len, self.ids), default=1)
        self.unknown = processor.unk_id()
        bytes_ = {processor.id_to_piece(id): id for id in range(processor.vocab_size()) if processor.is_byte(id)}
        self.bytes = [bytes_[f"<0x{byte:02X}>"] for byte in range(256)] if len(bytes_) == 256 else []

    def fallback(self, character: str) -> list[int]:
        return [self.bytes[byte] for byte in character.encode()] if self.bytes else [self.unknown]


class UnigramSampler:
    def __init__(self, vocabulary: _Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.unknown_score = min(vocabulary.scores.values(), default=0.0) - UNKNOWN_PENALTY

    def sample(self, word: str, alpha: float, rng: random.Random) -> list[int]:
        edges = self._lattice(word)
        # forward[j] = log of the summed weights of all cuts of word[:j]
        forward = [0.0]
        for arriving in edges[1:]:
            forward.append(_log_sum([forward[begin] + alpha * score for begin, score in arriving]))
        pieces: list[list[int]] = []
        end = len(word)
        while end:
            point, begin = rng.random(), edges[end][0][0]
            for begin, score in edges[end]:
                point -= math.exp(forward[begin] + alpha * score - forward[end])
                if point < 0:
                    break
            piece = word[begin:end]
            known = self.vocabulary.ids.get(piece)
            pieces.append(self.vocabulary.fallback(piece) if known is None else [known])
            end = begin
        return [id for piece in reversed(pieces) for id in piece]

    def _lattice(self, word: str) -> list[list[tuple[int, float]]]:
        """For each place in the word, the pieces that end there: (where it begins, its score)."""
        scores, longest = self.vocabulary.scores, self.vocabulary.longest
        edges: list[list[tuple[int, float]]] = [[]]
        for end in range(1, len(word) + 1):
            spans = ((begin, scores.get(word[begin:end])) for begin in range(max(0, end - longest), end))
            arriving = [(begin, score) for begin, score in spans if score is not None]
            if not any(begin == end - 1 for begin, _ in arriving):
                arriving.append((end - 1, self.unknown_score))
            edges.append(arriving)
        return edges


class BpeSampler:
    def __init__(self, vocabulary: _Vocabulary) -> None:
        self.vocabulary = vocabulary

    def sample(self, word: str, alpha: float, rng: random.Random) -> list[int]:
        scores = self.vocabulary.scores
        pieces = list(word)
        while True:
            merges = [
                (-scores[pair], i)  # the best score first, then the leftmost
                for i in range(len(pieces) - 1)
                if (pair := pieces[i] + pieces[i + 1]) in scores and rng.random() >= alpha
            ]
            if not merges:
                break
            _, i = min(merges)
            pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
        ids = self.vocabulary.ids
        return [id for piece in pieces for id in ([ids[piece]] if piece in ids else self.vocabulary.fallback(piece))]


def make_sampler(processor: sentencepiece.SentencePieceProcessor) -> Sampler:
    """The sampler for this model's kind, told by its scores: BPE numbers its merges 0, -1, -2, ..."""
    vocabulary = _Vocabulary(processor)
    by_rank = list(vocabulary.scores.values()) == [-float(rank) for rank in range(len(vocabulary.scores))]
    return BpeSampler(vocabulary) if by_rank else UnigramSampler(vocabulary)


def _log_sum(values: list[float]) -> float:
    top = max(values)
    return top + math.log(sum(math.exp(value - top) for value in values))

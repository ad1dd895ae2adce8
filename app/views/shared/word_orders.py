"""A sentence whose words are shuffled, as an order of its tokens, and the encoder's outputs for both orders.

Self-attention is a sum over the keys and does not depend on their order. So an encoder without positions that reads the
same tokens in another order gives the same outputs in that order. If an output changes when words are shuffled, that is
the effect of the positions.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.compute import cached_results
from app.compute.cached_results import Ids
from app.compute.projections import encoder_output_site
from app.compute.subject import Subject
from app.figures.head_sharpness import carries_no_word
from app.figures.tensor import row_norms
from app.figures.tokens_to_words import words_of
from transformer.config import EOS
from transformer.decoding.translator import Translator

Order = tuple[int, ...]
TRIES = 20  # at most so many shuffles are drawn to find one that changes the sentence


def shuffled(tokens: Sequence[str], seed: int) -> Order | None:
    """For each place after the shuffle, the number of the token that is moved there, from 0.

    Words are moved as a whole; punctuation and </s> keep their places among them. None: there are no two words that
    differ, or no shuffle changed the sentence.
    """
    groups = words_of(tokens)
    movable = [i for i, group in enumerate(groups) if not all(carries_no_word(tokens[token]) for token in group)]
    if len({tuple(tokens[token] for token in groups[i]) for i in movable}) < 2:
        return None
    rng = random.Random(seed)
    for _ in range(TRIES):
        drawn = iter(rng.sample(movable, len(movable)))
        places = [next(drawn) if i in movable else i for i in range(len(groups))]
        order = tuple(token for i in places for token in groups[i])
        if [tokens[token] for token in order] != list(tokens):
            return order
    return None


def reordered(ids: Sequence[int], order: Order) -> Ids:
    """The ids in that order."""
    return tuple(ids[token] for token in order)


def sentence_of(source_ids: Ids, translator: Translator) -> str:
    """The sentence of the tokens in an order. </s> is written only if tokens are after it."""
    tokenizer = translator.tokenizer.target  # which decodes the other language, that of the source
    end = source_ids.index(EOS)
    parts = [tokenizer.decode(source_ids[:end]), tokenizer.token(EOS), tokenizer.decode(source_ids[end + 1 :])]
    return " ".join(filter(None, parts)) if end < len(source_ids) - 1 else parts[0]


@dataclass(frozen=True)
class Moved:
    """How far the encoder's outputs are apart between the two orders of a sentence.

    Attributes:
        shares: (S), for each token in the order of the sentence: the distance between its two outputs, divided by the
            length of the first.
        largest: the largest difference between a number of an output and the same number in the other order.
    """

    shares: np.ndarray
    largest: float


def moved(subject: Subject, source_ids: Ids, target_ids: Ids, order: Order) -> Moved:
    """Compares the encoder's outputs of both orders, token by token; `target_ids` do not change the
    encoder's outputs."""
    site = encoder_output_site(subject.config)
    plain = cached_results.record(subject, source_ids, target_ids, (site,))[site]  # (S, D)
    other = cached_results.record(subject, reordered(source_ids, order), target_ids, (site,))[site]  # (S, D)
    return differences(plain, other, order)


def differences(plain: np.ndarray, other: np.ndarray, order: Order) -> Moved:
    """Compares outputs (S, D) in the order of the sentence with those in the shuffled order."""
    back = np.empty_like(other)
    back[list(order)] = other  # each output at the place that its token has in the sentence
    apart, lengths = row_norms(back - plain), row_norms(plain)
    shares = np.divide(apart, lengths, out=np.zeros_like(apart), where=lengths > 0)
    return Moved(shares, float(np.abs(back.astype(np.float64) - plain).max()))

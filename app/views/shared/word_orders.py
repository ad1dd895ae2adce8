"""A sentence whose words are shuffled, token by token, and what the encoder makes of both orders.

Self-attention adds up over its keys, whatever their order: without positions an encoder that reads the same tokens in
another order gives the same outputs in that order. So what moves when words are shuffled is the work of the positions.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.compute import cached_results
from app.compute.cached_results import Ids
from app.compute.subject import Subject
from app.figures.head_sharpness import is_sink
from app.figures.pieces_to_words import words_of
from app.figures.tensor import row_norms
from transformer.config import ModelConfig

Order = tuple[int, ...]
TRIES = 20  # shuffles of which the first that changes the sentence is taken


def shuffled(tokens: Sequence[str], seed: int) -> Order | None:
    """The token at each place after the words are shuffled, from 0.

    Words are shuffled as a whole; punctuation and </s> keep their places. None: there are not two words that differ.
    """
    groups = words_of(tokens)
    movable = [i for i, group in enumerate(groups) if not all(is_sink(tokens[token]) for token in group)]
    if len({tuple(tokens[token] for token in groups[i]) for i in movable}) < 2:
        return None
    draw = random.Random(seed)
    for _ in range(TRIES):
        drawn = iter(draw.sample(movable, len(movable)))
        places = [next(drawn) if i in movable else i for i in range(len(groups))]
        order = tuple(token for i in places for token in groups[i])
        if [tokens[token] for token in order] != list(tokens):
            return order
    return None


def reordered(ids: Sequence[int], order: Order) -> Ids:
    """The ids in that order."""
    return tuple(ids[token] for token in order)


@dataclass(frozen=True)
class Moved:
    """How far the encoder's outputs are apart between the two orders of a sentence.

    Attributes:
        shares: of each token, counted in the order of the sentence: the distance between its two outputs, as a share
            of the length of the first (S).
        largest: the largest difference between two numbers of the outputs.
    """

    shares: np.ndarray
    largest: float


def moved(subject: Subject, source_ids: Ids, target_ids: Ids, order: Order) -> Moved:
    """Compares the encoder's outputs of both orders, token by token; `target_ids` do not matter to the encoder."""
    site = output_site(subject.config)
    plain = cached_results.record(subject, source_ids, target_ids, (site,))[site]  # (S, D)
    other = cached_results.record(subject, reordered(source_ids, order), target_ids, (site,))[site]  # (S, D)
    return differences(plain, other, order)


def differences(plain: np.ndarray, other: np.ndarray, order: Order) -> Moved:
    """Of outputs (S, D) in the order of the sentence and in the shuffled one."""
    back = np.empty_like(other)
    back[list(order)] = other  # each output at the place that its token has in the sentence
    apart, lengths = row_norms(back - plain), row_norms(plain)
    shares = np.divide(apart, lengths, out=np.zeros_like(apart), where=lengths > 0)
    return Moved(shares, float(np.abs(back.astype(np.float64) - plain).max()))


def output_site(config: ModelConfig) -> str:
    """Where the encoder's output is recorded."""
    return (
        "encoder.norm_out"
        if config.norm == "pre"
        else f"encoder.layers.{config.encoder_layers - 1}.feed_forward.norm_out"
    )

"""From the record of a search to ranked hypotheses and the tree."""

import math

from transformer.config import DecodingConfig
from transformer.decoding.length_penalty import length_penalty
from transformer.decoding.search_record import Ending, SearchRecord
from transformer.decoding.translation import Hypothesis, SearchNode
from transformer.decoding.tree import search_tree
from transformer.errors import TranslationError
from transformer.text.tokenizer import Tokenizer


def hypotheses(
    found: SearchRecord, settings: DecodingConfig, tokenizer: Tokenizer, prefix_length: int | None
) -> tuple[tuple[Hypothesis, ...], tuple[SearchNode, ...]]:
    """The hypotheses, best first, and the tree of the search.

    Finished hypotheses come before those that were cut off, whatever their scores.

    Args:
        prefix_length: the length of the prefix, if the tree is wanted; None leaves it empty.

    Raises:
        TranslationError: the scores are NaN.
    """

    def rank(ending: Ending) -> tuple[bool, float]:
        return not ending.finished, -found.end(ending).sum / length_penalty(ending.length, settings)

    ranked = sorted(found.endings, key=rank)
    nodes: list[int | None] = [None] * len(ranked)
    tree: tuple[SearchNode, ...] = ()
    if prefix_length is not None:
        tree, nodes[:] = search_tree(found, ranked, settings, tokenizer, prefix_length)
    pairs = zip(ranked, nodes, strict=True)
    return tuple(_hypothesis(found, ending, node, settings, tokenizer) for ending, node in pairs), tree


def _hypothesis(
    found: SearchRecord, ending: Ending, node: int | None, settings: DecodingConfig, tokenizer: Tokenizer
) -> Hypothesis:
    path = found.path(ending)
    ids = tuple(candidate.token_id for candidate in path)
    score = path[-1].sum
    check_score(score)
    return Hypothesis(
        ids=ids,
        tokens=tuple(tokenizer.token(id) for id in ids),
        log_probabilities=tuple(candidate.log_probability for candidate in path),
        score=score,
        normalised_score=score / length_penalty(ending.length, settings),
        text=tokenizer.decode(ids),
        finished=ending.finished,
        at_limit=not ending.finished and ending.length >= found.limit,
        node=node,
    )


def check_score(score: float) -> None:
    """Raises TranslationError: the score is NaN."""
    if math.isnan(score):
        raise TranslationError(
            "The model's scores are NaN: its weights are damaged, or its training diverged. Use another checkpoint."
        )

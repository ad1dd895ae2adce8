"""From what a search found to what a caller gets: hypotheses with their pieces, ranked, and the tree."""

import math

from transformer.config import DecodingConfig
from transformer.decoding.length_penalty import length_penalty
from transformer.decoding.steps import Ending, Found
from transformer.decoding.translation import Hypothesis, SearchNode
from transformer.errors import TranslationError
from transformer.text.tokenizer import Tokenizer


def hypotheses(
    found: Found, settings: DecodingConfig, tokenizer: Tokenizer, keep_tree: bool
) -> tuple[tuple[Hypothesis, ...], tuple[SearchNode, ...]]:
    """The hypotheses, best first, and the tree of the search, empty if nobody asked for it.

    Those that finished come before those that were cut off at the length limit, whatever their scores.

    Raises:
        TranslationError: the scores are no numbers.
    """
    ranked = [hypothesis(found, ending, settings, tokenizer) for ending in found.endings]
    ranked.sort(key=lambda hypothesis: (not hypothesis.finished, -hypothesis.normalised_score))
    return tuple(ranked), ()


def hypothesis(found: Found, ending: Ending, settings: DecodingConfig, tokenizer: Tokenizer) -> Hypothesis:
    path = found.path(ending)
    ids = tuple(candidate.token for candidate in path)
    score = path[-1].sum
    if math.isnan(score):
        raise TranslationError(
            "The model's scores are no numbers: its weights are damaged, or its training has diverged. "
            "Use another checkpoint."
        )
    return Hypothesis(
        ids=ids,
        pieces=tuple(tokenizer.piece(id) for id in ids),
        log_probabilities=tuple(candidate.log_probability for candidate in path),
        score=score,
        normalised_score=score / length_penalty(ending.length, settings),
        text=tokenizer.decode(ids),
        finished=ending.finished,
    )

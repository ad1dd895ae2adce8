"""Which translation the checkpoint of the other direction would choose, computed once and kept for all sessions."""

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from app.compute.cached_results import CACHE_LIFETIME, GATE, translate_one
from app.compute.subject import Subject
from transformer.config import DecodingConfig
from transformer.decoding.reranking import ranked, reverse_scores, summed
from transformer.decoding.translation import Hypothesis
from transformer.errors import TranslationError

# The sum of both scores has to be higher by at least this much. Measured with en-de, beam 4: of a hundred sentences
# that a class might type, another translation is chosen for 3; 2 of these become right, and none becomes wrong.
MARGIN = 0.1


@dataclass(frozen=True)
class Preferred:
    """A hypothesis of the beam that is better than the first one when it is also translated back.

    Attributes:
        rank: its place in the search, from 0.
        first, own: the geometric mean probability of the source tokens, given the first hypothesis and given this one.
    """

    hypothesis: Hypothesis
    rank: int
    first: float
    own: float


@st.cache_data(max_entries=64, ttl=CACHE_LIFETIME, show_spinner=False)
def preferred(subject: Subject, reverse: Subject, sentence: str, settings: DecodingConfig) -> Preferred | None:
    """What noisy channel reranking chooses: see `transformer.decoding.reranking`. None: nothing better by `MARGIN`.

    Args:
        reverse: the model that translates the other way round.
        settings: of the search; only a beam has several hypotheses.
    """
    if settings.method != "beam" or settings.beam == 1:
        return None
    try:
        translation = translate_one(subject, sentence, replace(settings, n_best=settings.beam))
    except TranslationError:
        return None
    hypotheses = translation.hypotheses
    with GATE:
        back = reverse_scores(reverse.translator, [(sentence, each.text) for each in hypotheses])
    if not np.isfinite(back).all():
        return None
    sums, best = summed(hypotheses, back), hypotheses.index(ranked(translation, back).hypotheses[0])
    if sums[best] - sums[0] < MARGIN or hypotheses[best].text == hypotheses[0].text:
        return None
    return Preferred(hypotheses[best], best, float(np.exp(back[0])), float(np.exp(back[best])))

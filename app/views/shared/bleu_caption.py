"""A caption below a chart of BLEU: why the curve may be 0."""

from collections.abc import Iterable

import streamlit as st

from app.languages import _
from app.library.runs import Curves

MOSTLY_RIGHT = 50  # chrF above which the translations are clearly not all wrong


def say_where_bleu_is_0(measured: Iterable[Curves]) -> None:
    """Draws the caption if BLEU is always 0 while chrF is high: sentences of fewer than four words have no BLEU."""
    scores = ((found.get(("valid", "bleu")), found.get(("valid", "chrf"))) for found in measured)
    if any(bleu and chrf and not bleu[1].any() and chrf[1].max() > MOSTLY_RIGHT for bleu, chrf in scores):
        st.caption(
            _(
                "BLEU counts shared runs of up to four words. Where no sentence has four, as with numbers in words, it "
                "is 0, however right the translations are."
            )
        )

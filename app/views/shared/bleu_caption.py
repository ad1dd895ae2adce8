"""Why a curve of BLEU may be 0, below the charts that show one."""

from collections.abc import Iterable

import streamlit as st

from app.library.runs import Curves

MOSTLY_RIGHT = 50  # chrF, of which such a text shows something


def say_where_bleu_is_0(measured: Iterable[Curves]) -> None:
    """BLEU of single words is 0 however right they are, and chrF is not: whoever sees that should know why."""
    scores = ((found.get(("valid", "bleu")), found.get(("valid", "chrf"))) for found in measured)
    if any(bleu and chrf and not bleu[1].any() and chrf[1].max() > MOSTLY_RIGHT for bleu, chrf in scores):
        st.caption(
            "BLEU counts shared runs of up to four words. Where no sentence has four, as with numbers in words, it is "
            "0, however right the translations are."
        )

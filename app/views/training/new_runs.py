"""Runs that start while the page Training is open, for example on the command line, are listed without a click."""

from collections.abc import Sequence

import streamlit as st

from app.library.snapshots import run_names
from app.state.choices import RUN

EVERY = 4.0  # seconds


def notice_new_runs(listed: Sequence[str]) -> None:
    """Draws nothing. When there is a run that is not `listed`, the page is drawn again, with the same run as before."""

    def look() -> None:
        if not set(run_names()) <= set(listed):
            RUN.mark_as_chosen()
            st.rerun()

    st.fragment(look, run_every=EVERY)()

"""Pages that go on by themselves, a step at a time, and how that ends when the visitor goes to another page.

Otherwise the page, when it is opened again, would jump a step and play on
(test_what_plays_stops_when_its_page_is_left).
"""

import streamlit as st

PAGE = "page"  # which is open
STEPS, DECODING = "playing", "playing_decoding"  # whether that page plays
TIME_MACHINE = "run_plays"  # the rung it shows next, None while it stands still


def leave_behind(page: str) -> None:
    """Stops what plays if another page is open now than before."""
    if st.session_state.get(PAGE) != page:
        st.session_state[PAGE] = page
        st.session_state[STEPS] = st.session_state[DECODING] = False
        st.session_state[TIME_MACHINE] = None

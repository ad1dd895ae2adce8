"""Light or dark."""

import streamlit as st


def is_dark() -> bool:
    """Whether the page is shown on a dark background."""
    return st.context.theme.type == "dark"

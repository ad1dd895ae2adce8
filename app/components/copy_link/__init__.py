"""A button that copies the address of this view."""

from collections.abc import Callable, Mapping

import streamlit as st

from app.components.registration import component

_component = component("copy_link", styles=["buttons"])


def copy_link(
    texts: Mapping[str, str], kept: str, *, fresh: bool, host: str, key: str, on_kept: Callable[[str], None]
) -> None:
    """A button that copies the address of this view with these texts in it; they are in no address before.

    Args:
        kept: the name of the text that the browser's tab keeps.
        fresh: that text is only the example with which every visitor begins; `on_kept` is called with the text that
            this tab showed before, if there is one.
        host: where other machines reach the app; "" if they cannot.
    """

    def kept_text() -> None:
        text = st.session_state[key].kept
        if isinstance(text, str):
            on_kept(text)

    data = {"texts": dict(texts), "sentence": texts[kept], "fresh": fresh, "host": host}
    _component(data=data, key=key, on_kept_change=kept_text)

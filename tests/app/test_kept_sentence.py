"""The sentence that a tab of the browser has kept comes back when the page is loaded again."""

import time
from collections.abc import Callable

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.state import late_reports


@pytest.mark.parametrize("waited", [0.0, 2 * late_reports.TIMEOUT])
def test_the_sentence_that_the_tab_kept_is_not_replaced_by_what_was_on_its_way(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch, waited: float
) -> None:
    """A message with the example in the box is read after the one with the kept sentence, before that is drawn."""
    app, tells = open_app(), ["a b c"]
    example, reported = app.text_input(key="sentence").value, app._tree.get_widget_states()
    assert example != "a b c"

    def tab_memory(sentence: str, *, fresh: bool, key: str, on_kept: Callable[[str], None]) -> None:
        if tells:
            st.session_state.pop("sentence")
            on_kept(tells.pop())
            st.stop()

    monkeypatch.setattr("app.components.tab_memory", tab_memory)
    app.run()
    late = time.monotonic() + waited
    monkeypatch.setattr(time, "monotonic", lambda: late)
    app._run(reported)
    assert app.text_input(key="sentence").value == ("a b c" if not waited else example)
    app.text_input(key="sentence").set_value("c b a").run()
    assert app.text_input(key="sentence").value == "c b a"

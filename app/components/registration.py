"""Registers components with Streamlit. A component is a folder with its Python, JavaScript and CSS."""

import functools
from typing import Any

import streamlit as st

from app.components import recording
from app.components.bundles import style_bundle
from app.components.recording import Drawn, NoResult
from app.components.served_scripts import loader
from app.languages import Language, language
from app.languages.catalogues import ENGLISH


def sent(key: str, name: str) -> Any:
    """What the browser sent under this name for the component; None before it sent anything.

    Trap: a message that is sent just before another page opens arrives after that page has opened. The component no
    longer exists then, but its callback is still called (test_a_message_for_a_component_that_is_gone_is_ignored).
    """
    return getattr(st.session_state.get(key), name, None)


def component(name: str, *, html: str = "<div class='root'></div>", isolated: bool = True) -> Any:
    """Returns the function that draws the component of the folder NAME. The component is registered once per process
    and language.

    Args:
        isolated: whether it is in a shadow root, so that its styles do not affect the page; otherwise it has no styles.
    """

    @functools.cache
    def mount(spoken: Language) -> Any:
        registered = f"headlight_{name}" + (f"_{spoken}" if spoken != ENGLISH else "")
        return st.components.v2.component(registered, html=html, js=loader(name, spoken), isolate_styles=isolated)

    mount(ENGLISH)

    def draw(**given: Any) -> Any:
        record = recording.current()
        if record is None:
            return mount(language())(**given)
        css = style_bundle(name) if isolated else None
        record.drawn.append(Drawn(name, given["key"], html, css, given["data"]))
        return NoResult()

    return draw

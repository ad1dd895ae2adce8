"""The choices in the address: a link opens what its sender saw.

The address is read when a visitor comes. From then on the session holds what is chosen, and the address is written from
the session. When another page is opened, its address may choose what belongs to that page alone. But an address with a
sentence is a whole link, such as that of a scene of a lesson: it replaces everything that was chosen. The buttons Back
and Forward of the browser lead to an earlier address; if it has another checkpoint, that checkpoint is opened again.
Nothing private is written into the address: sentences are only in a link that the visitor copies. When that link is
opened, they are removed from the address.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app.state import late_reports
from app.state.choice import Choice
from app.state.choices import CHECKPOINT, CHOICES, DETAILS, FRAMED, SENTENCE
from app.state.edits_aside import put_aside
from app.state.events import happened
from app.state.language_choice import LANGUAGE

PAGE = "page"  # in the session: the page that is open


def arrive(page: str) -> None:
    """At the start of a run of the script: reads the address of a new visitor, or of another page."""
    before = st.session_state.get(PAGE)
    st.session_state[PAGE] = page
    texts = st.query_params.to_dict()
    if before is None:
        _read(CHOICES, _without_empty_sentence(texts))
        return
    if before != page and SENTENCE.key in texts:
        open_link(texts)
    elif before != page:
        _read([choice for choice in CHOICES if choice.page == page], texts)
    if is_history_navigation():
        _open_again(texts)


def is_history_navigation() -> bool:
    """Whether the visitor has gone back or forward in the history of the browser."""
    context = get_script_run_ctx()
    return bool(context and context.is_history_navigation)


def read_language() -> None:
    """The language in the address of a new visitor. It is read first, because the title of the page is in it."""
    if PAGE not in st.session_state:
        _read([LANGUAGE], st.query_params.to_dict())


def _open_again(texts: Mapping[str, str]) -> None:
    """Opens the checkpoint of an earlier address again, with what that address chooses for this checkpoint."""
    name = texts.get(CHECKPOINT.key, "")
    if name == (CHECKPOINT.value if _is_written(CHECKPOINT) else ""):
        return
    if name:
        CHECKPOINT.choose(name)
    else:
        CHECKPOINT.forget()
    happened("checkpoint")
    _read([choice for choice in CHOICES if "checkpoint" in choice.reset_by], texts)


def open_link(texts: Mapping[str, str]) -> None:
    """Chooses what a link with these texts chooses; everything else has its default, but details that are open stay
    open. An empty sentence counts as none.

    Call it before anything is drawn.
    """
    with put_aside():
        for choice in CHOICES:
            if choice not in (DETAILS, FRAMED, LANGUAGE):
                choice.forget()
        _read(CHOICES, _without_empty_sentence(texts))
    late_reports.mark_drawn()  # a scene that was being drawn is not shown any more


def _without_empty_sentence(texts: Mapping[str, str]) -> dict[str, str]:
    return {key: text for key, text in texts.items() if text or key != SENTENCE.key}


def _read(choices: Sequence[Choice], texts: Mapping[str, str]) -> None:
    for choice in choices:
        value = texts.get(choice.key)
        if value is not None and choice.written != "session":
            with suppress(ValueError, KeyError, IndexError):
                choice.choose(choice.read(value))


def write() -> None:
    """Writes the choices into the address, at the end of a run of the script or of a fragment."""
    wanted = _texts("address", st.session_state.get(PAGE))
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)


def private_texts() -> dict[str, str]:
    """What a copied link has in addition to the address."""
    return _texts("link", st.session_state.get(PAGE))


def link_texts(page: str) -> dict[str, str]:
    """All parameters of a link that opens another page with what is chosen now."""
    return _texts("address", page) | _texts("link", page)


def _texts(written: str, page: str | None) -> dict[str, str]:
    return {
        choice.key: choice.write(choice.value)
        for choice in CHOICES
        if choice.written == written and choice.page in (None, page) and _is_written(choice)
    }


def _is_written(choice: Choice) -> bool:
    return choice.differs_from_opening or (choice.is_chosen and (choice.varies or not choice.equals_opening))

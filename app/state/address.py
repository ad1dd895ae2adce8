"""The choices in the address: a link opens what its sender saw.

The address is read when a visitor comes; from then on the session says what is chosen, and the address follows. When
another page is opened, its address may choose what belongs to this page alone.
Nothing private is written there: sentences are only in a link that the visitor copies, and are taken out again when it
is opened.
"""

from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from app.state.choice import Choice
from app.state.choices import CHOICES

PAGE = "page"  # in the session: the page that is open


def arrive(page: str) -> None:
    """At the start of a run of the script: reads the address of a new visitor, or of another page."""
    before = st.session_state.get(PAGE)
    st.session_state[PAGE] = page
    if before is None:
        _read(CHOICES)
    elif before != page:
        _read([choice for choice in CHOICES if choice.page == page])


def _read(choices: Sequence[Choice]) -> None:
    for choice in choices:
        value = st.query_params.get(choice.key)
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
    """All that a link to another page has, which opens it with what is chosen now."""
    return _texts("address", page) | _texts("link", page)


def _texts(written: str, page: str | None) -> dict[str, str]:
    return {
        choice.key: choice.write(choice.value)
        for choice in CHOICES
        if choice.written == written and choice.page in (None, page) and _is_written(choice)
    }


def _is_written(choice: Choice) -> bool:
    return choice.key in st.session_state if choice.always else choice.is_chosen and not choice.is_usual

"""The language in which texts and numbers are drawn now.

It is the language that `speaking` sets; outside of `speaking`, that of the visitor's session
(app/state/language_choice.py). A thread that computes in advance and an answer to a phone have no session, so they use
`speaking`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from streamlit.runtime.scriptrunner import get_script_run_ctx

from app.languages.catalogues import ENGLISH, Language

KEY = "lang"  # of the language in the session and in the address

_of_thread: ContextVar[Language | None] = ContextVar("language", default=None)


def language() -> Language:
    """The language in which texts are drawn now."""
    given = _of_thread.get()
    if given:
        return given
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return ENGLISH
    state = context.session_state
    found: Language = state[KEY] if KEY in state else ENGLISH  # noqa: SIM401 (it has no `get`)
    return found


@contextmanager
def speaking(given: Language) -> Iterator[None]:
    """Inside the block, texts of this thread are in this language."""
    token = _of_thread.set(given)
    try:
        yield
    finally:
        _of_thread.reset(token)

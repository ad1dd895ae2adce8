"""Translates texts into the language of the visitor for whom they are drawn.

The language is that of the visitor's session (app/state/language_choice.py). Where there is no session, as in a thread
that computes ahead or in an answer to a phone, `speaking` says which it is.

Trap: results that visitors share (`st.cache_data`) must not contain translated text, because the next visitor may have
another language (test_pages_of_two_languages_in_one_process_do_not_mix).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from streamlit.runtime.scriptrunner import get_script_run_ctx

from app.languages import catalogues
from app.languages.catalogues import ENGLISH, Language

Text = TypeVar("Text", bound=str)
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


def _(message: str, /, **values: object) -> str:
    """The text in the visitor's language, with its values."""
    if not message:  # gettext has the header of the catalogue there
        return ""
    return _filled(catalogues.translations(language()).gettext(message), values)


def ngettext(one: str, many: str, count: int, /, **values: object) -> str:
    """The form of the text for this count, which is its value {count}."""
    found = catalogues.translations(language()).ngettext(one, many, count)
    return _filled(found, {"count": count, **values})


def pgettext(context: str, message: str, /, **values: object) -> str:
    """As `_`, for a text that has another translation in another context."""
    return _filled(catalogues.translations(language()).pgettext(context, message), values)


def gettext_noop(message: Text) -> Text:
    """Marks a text that is translated later. Returns it as it is."""
    return message


def _filled(text: str, values: dict[str, object]) -> str:
    return text.format(**values) if values else text

"""Translates texts into the language of the visitor for whom they are drawn.

Trap: results that visitors share (`st.cache_data`) must not contain translated text or formatted numbers, because the
next visitor may have another language (test_pages_of_two_languages_in_one_process_do_not_mix).
"""

from typing import TypeVar

from app.languages import catalogues
from app.languages.catalogues import Language
from app.languages.numbers import values_written
from app.languages.spoken import language

Text = TypeVar("Text", bound=str)


def _(message: str, /, **values: object) -> str:
    """The text in the visitor's language, with its values. Numbers among them are written as that language does."""
    if not message:  # gettext would return the header of the catalogue
        return ""
    spoken = language()
    return _filled(catalogues.translations(spoken).gettext(message), values, spoken)


def ngettext(one: str, many: str, count: int, /, **values: object) -> str:
    """The singular or the plural of the text, as `count` requires; `count` also replaces {count} in it."""
    spoken = language()
    return _filled(catalogues.translations(spoken).ngettext(one, many, count), {"count": count, **values}, spoken)


def pgettext(context: str, message: str, /, **values: object) -> str:
    """As `_`, for a text that has another translation in another context."""
    spoken = language()
    return _filled(catalogues.translations(spoken).pgettext(context, message), values, spoken)


def with_label(label: str, text: object, /) -> str:
    """`label: text`, with the space before the colon that French has."""
    return _("{label}: {text}", label=label, text=text)


def gettext_noop(message: Text) -> Text:
    """Marks a text that is translated later. Returns it as it is."""
    return message


def _filled(text: str, values: dict[str, object], spoken: Language) -> str:
    return text.format(**values_written(values, spoken)) if values else text

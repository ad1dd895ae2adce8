"""Catalogues of translations: for each language a folder of .po files, one for each part of the app.

    app/languages/de/views.masks.po     the texts of app/views/masks
    app/languages/de/stage.po           those of app/stage

All files of a language are read as one catalogue, by Babel; the standard library's gettext looks texts up in it. A text
that has no translation stays English (test_no_text_is_missing).
"""

import functools
import io
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import Literal, get_args

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

Language = Literal["en", "de", "fr"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
NAMES: dict[Language, str] = {"en": "English", "de": "Deutsch", "fr": "Français"}  # each in its own language
ENGLISH: Language = "en"
# Singular and plural. Babel knows a third form in French, for millions; the app never counts millions.
PLURAL_FORMS: dict[Language, str] = {"de": "nplurals=2; plural=(n != 1);", "fr": "nplurals=2; plural=(n > 1);"}
HERE = Path(__file__).parent


def read(path: Path, language: Language) -> Catalog:
    """The catalogue of one .po file. Raises PoFileError for an invalid file."""
    with path.open("rb") as file:
        return read_po(file, locale=language, abort_invalid=True)


def empty(language: Language) -> Catalog:
    """A catalogue without texts."""
    made = Catalog(locale=language, fuzzy=False)
    made.mime_headers = [("Plural-Forms", PLURAL_FORMS[language])]
    return made


def whole(language: Language) -> Catalog:
    """All files of a language as one catalogue."""
    made = empty(language)
    for path in sorted((HERE / language).glob("*.po")):
        for message in read(path, language):
            if message.id and message.string:
                made.add(message.id, message.string, context=message.context)
    return made


@functools.cache
def translations(language: Language) -> NullTranslations:
    """The object that looks up texts in a language."""
    if language == ENGLISH:
        return NullTranslations()
    compiled = io.BytesIO()
    write_mo(compiled, whole(language))
    compiled.seek(0)
    return GNUTranslations(compiled)

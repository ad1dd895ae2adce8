"""Numbers as the language of the visitor writes them: 0.42, 12,345 and 98.3% are 0,42, 12.345 and 98,3 % in German.

Python formats a number; then its signs are replaced by those of the language, which Babel has from the Unicode
CLDR. Whatever writes a number on the screen uses this module or, in the browser, app/components/shared/numbers.js; the
values of a text are written like this by `_()` itself. Numbers that programs read keep the point: in CSV files, code,
links, names of files, and JSON.
"""

import functools
from numbers import Number

from babel import Locale

from app.languages.catalogues import ENGLISH, Language
from app.languages.spoken import language


@functools.cache
def signs(spoken: Language) -> dict[str, str]:
    """What a language writes instead of the point, the comma and the per cent sign of an English number; {} for
    English."""
    if spoken == ENGLISH:
        return {}
    locale = Locale.parse(spoken)
    symbols, share = locale.number_symbols["latn"], locale.percent_formats[None].pattern
    return {".": symbols["decimal"], ",": symbols["group"], "%": share.rpartition("0")[2]}


def is_english() -> bool:
    """Whether numbers are written as Python, Streamlit and JavaScript write them."""
    return not signs(language())


def widget_format() -> str | None:
    """The argument `format` of a slider whose numbers have a decimal point. Streamlit then writes them in the language
    that document_language.js says."""
    return None if is_english() else "localized"


def localised(number: str) -> str:
    """Takes a number that is written in the English way, and writes it as the visitor's language does. The argument may
    have the number, its sign and its unit, but must not be a sentence."""
    found = _table(language())
    return number.translate(found) if found else number


def in_latex(number: str) -> str:
    """As `localised`, for a formula. LaTeX sets a space after a comma that is not in braces, and has a command of its
    own for the narrow space of French numbers."""
    return localised(number).replace(",", "{,}").replace("\u202f", r"\,")


def formatted(value: object, form: str) -> str:
    """The number with this format of Python, in the visitor's language: formatted(0.983, ".1%") is 98.3%."""
    return localised(format(value, form))


def values_written(values: dict[str, object], spoken: Language) -> dict[str, object]:
    """The values of a text; numbers among them will be written as the language writes them."""
    found = _table(spoken)
    if not found:
        return values
    return {name: _Written(value, found) if isinstance(value, Number) else value for name, value in values.items()}


@functools.cache
def _table(spoken: Language) -> dict[int, str]:
    return str.maketrans(signs(spoken))


class _Written:
    """A number that formats itself in the signs of a language."""

    __slots__ = ("signs", "value")

    def __init__(self, value: Number, signs: dict[int, str]) -> None:
        self.value, self.signs = value, signs

    def __format__(self, form: str) -> str:
        return format(self.value, form).translate(self.signs)

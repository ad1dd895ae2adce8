"""Names of languages in the language of the interface, from the Unicode CLDR by Babel.

A language is a tag of BCP 47 such as "de", "pt-BR" or "zh-Hant". Whoever trains a model may also write a name of their
own, "Bavarian": it is then shown as it is.
"""

import functools
import re

from babel import Locale

from app.languages import language
from app.languages.catalogues import ENGLISH, LANGUAGES

LONGEST = 35  # characters of a tag or a name; the BCP recommends room for as many
_TAG = re.compile(r"[a-z]{2,3}([-_][a-z0-9]{1,8})*", re.ASCII | re.IGNORECASE)


def name_of_language(tag: str) -> str:
    """The name of a language: "Brazilian Portuguese" for "pt-BR"; "" for what is not a tag of a known language."""
    return _name(tag, language())


def english_name_of(tag: str) -> str:
    """As `name_of_language`, but in English."""
    return _name(tag, ENGLISH)


def is_language(tag: str) -> bool:
    """Whether it is a tag whose language has a name."""
    return bool(english_name_of(tag))


def all_languages() -> dict[str, str]:
    """The names of all languages by tag, sorted by name."""
    return _all(language())


@functools.lru_cache(maxsize=4)
def _all(spoken: str) -> dict[str, str]:
    names = {code.replace("_", "-"): name for code, name in _locale(spoken).languages.items()}
    known = {code: name for code, name in names.items() if code not in ("mul", "und", "zxx", "root", "mis")}
    return dict(sorted(known.items(), key=lambda item: item[1].casefold()))


@functools.lru_cache(maxsize=512)
def _name(tag: str, spoken: str) -> str:
    if len(tag) > LONGEST or not _TAG.fullmatch(tag):
        return ""
    code, *others = tag.replace("_", "-").split("-")
    subtags = [_written(subtag) for subtag in others]
    locale = _locale(spoken)
    name = locale.languages.get(code.lower(), "")
    if not name or not subtags:
        return name
    named = locale.languages.get("_".join([code.lower(), *subtags]))
    return named or f"{name} ({', '.join(locale.scripts.get(s) or locale.territories.get(s) or s for s in subtags)})"


def _written(subtag: str) -> str:
    """A script as Latn, a country as BR, anything else as it is."""
    return subtag.title() if len(subtag) == 4 else subtag.upper() if len(subtag) in (2, 3) else subtag


@functools.cache
def _locale(spoken: str) -> Locale:
    return Locale.parse(spoken if spoken in LANGUAGES else ENGLISH)

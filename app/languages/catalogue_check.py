"""Finds what is wrong in the catalogues of a language: missing translations, values or tags that differ from those of
the English text, a text with two different translations, and plain spaces where there should be no-break spaces."""

import re
from string import Formatter

from babel.messages.catalog import Message

from app.languages.catalogues import HERE, Language, read
from app.languages.extraction import extract, messages

TAG = re.compile(r"</?[a-z]+")
Text = str | tuple[str, ...] | list[str] | None
# Plain spaces where README.md asks for a no-break space. What a chart or Streamlit reads (%{x}, :material) is skipped.
PLAIN_SPACE = {
    "de": re.compile(r"(?<=[\d}]) %(?!\{)"),
    "fr": re.compile(r"(?<=[\d}]) %(?!\{)|(?:(?<=[\w})»’.…])|(?<=\*\*)) [:;?!](?=[\s).,»*]|$)|« | »"),
}


def problems(language: Language) -> list[str]:
    """One sentence for each problem."""
    return [*missing(language), *_mistakes(language), *_plain_spaces(language), *_twice(language)]


def missing(language: Language) -> list[str]:
    """The texts in the code that have no translation, and the translations whose text is gone."""
    found, wanted = [], extract()
    for part, template in wanted.items():
        path = HERE / language / f"{part}.po"
        have = {(each.id, each.context): each for each in messages(read(path, language))} if path.exists() else {}
        texts = {(each.id, each.context) for each in messages(template)}
        untranslated = [text for text in texts if not _is_translated(have.get(text))]
        found += [f"{path.name}: {shown(text)} is not translated" for text in untranslated]
        found += [f"{path.name}: {shown(text)} is not in the code" for text in have.keys() - texts]
    stray = {path.stem for path in (HERE / language).glob("*.po")} - wanted.keys()
    return sorted([*found, *(f"{part}.po: no file of the app belongs to it" for part in stray)])


def shown(key: tuple[Text, str | None]) -> str:
    """A text, with its context if it has one."""
    text, context = key
    return f"{forms(text)[0]!r}" + (f" ({context})" if context else "")


def _is_translated(message: Message | None) -> bool:
    return message is not None and bool(message.string) and all(forms(message.string))


def forms(text: Text) -> tuple[str, ...]:
    """A text alone, or its singular and plural."""
    return (text or "",) if text is None or isinstance(text, str) else tuple(text)


def values_in(text: str) -> set[str]:
    """The names of the values of a text, with their format: "{loss:.2f}"."""
    return {f"{name}:{form}" for _, name, form, _ in Formatter().parse(text) if name is not None}


def _mistakes(language: Language) -> list[str]:
    """Translations whose values or tags are not those of the English text."""
    found = []
    for path in sorted((HERE / language).glob("*.po")):
        for message in messages(read(path, language)):
            if not _is_translated(message):
                continue
            try:
                wanted = set().union(*map(values_in, forms(message.id)))
                have = [values_in(each) for each in forms(message.string)]
            except ValueError:  # a text with braces that are no values, as in a formula
                continue
            if not all(each <= wanted for each in have) or set().union(*have) != wanted:
                found.append(f"{path.name}: {message.string!r} does not have the values of {message.id!r}")
            tags = [sorted(TAG.findall(one)) for one in forms(message.id)]
            for one in forms(message.string):
                if sorted(TAG.findall(one)) not in tags:
                    found.append(f"{path.name}: {message.string!r} does not have the tags of {message.id!r}")
    return found


def _plain_spaces(language: Language) -> list[str]:
    """Translations in which a line could break before a mark that belongs to the word before."""
    found = []
    for path in sorted((HERE / language).glob("*.po")):
        texts = [text for message in messages(read(path, language)) for text in forms(message.string)]
        marks = [(text, PLAIN_SPACE[language].search(text)) for text in texts]
        found += [f"{path.name}: a plain space in {mark[0]!r} of {text!r}" for text, mark in marks if mark]
    return found


def _twice(language: Language) -> list[str]:
    """Texts with different translations in two files. All files of a language are one catalogue, which has one of
    them."""
    seen: dict[object, tuple[object, str]] = {}
    found = []
    for path in sorted((HERE / language).glob("*.po")):
        for message in messages(read(path, language)):
            before = seen.setdefault((message.id, message.context), (message.string, path.name))
            if before[0] != message.string:
                found.append(
                    f"{path.name}: {message.id!r} is {message.string!r}, but {before[0]!r} in {before[1]}; "
                    "use one of them, or pgettext"
                )
    return found

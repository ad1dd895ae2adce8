"""Finds the texts on a page that are not marked for translation: the page is drawn in a language in which each
translated text is in brackets, and English words outside of brackets are reported.

    python -m tests.support.unmarked_texts masks [KEY=VALUE ...]       one page, with these choices in its address

What is in the scripts of components is not seen here, because no browser runs them.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from gettext import NullTranslations
from typing import Any, cast
from unittest.mock import patch

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message as ProtobufMessage
from streamlit import config
from streamlit.testing.v1 import AppTest

from app.languages import catalogues, numbers, spoken
from tests.support.pages import MAIN, switch_page

OPEN, CLOSE = "⟦", "⟧"
INSIDE = re.compile(f"{OPEN}[^{OPEN}{CLOSE}]*{CLOSE}")
# Three words in a row, or a text that is one or two words of letters alone
PROSE = re.compile(r"[A-Za-z’']{2,} [a-z’']{2,} [a-z’']{2,}")
LABEL = re.compile(r"^[A-Z][a-z’]+( [a-z’]+)?:?$")
# What a page has in English in every language
NOT_TEXT = re.compile(r"^\s*$|^[{\[<]|^(https?:|data:|#|\.|--)|^def |^import |^from |\\\\|\bself\.|=>")
QUOTED = re.compile(r'"((?:[^"\\]|\\.){6,})"')
UNICODE = re.compile(r"\\u([0-9a-f]{4})")
INTERNAL = {
    "id",
    "page",
    "page_script_hash",
    "icon",
    "query_string",
    "shortcut",
    "form_id",
    "key",
    "type",
    "language",
}
TRANSLATIONS = {"headlight_canvas_channel.text", "headlight_comparison.text", "headlight_choice_list.text"}
NO_LABELS = ("id", "key", "name", "kind", "role", "form", "state", "code", "lang", "page", "site", "tokens", "words")


class Bracketed(NullTranslations):
    """Every text in brackets."""

    def gettext(self, message: str) -> str:
        return f"{OPEN}{message}{CLOSE}"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)

    def pgettext(self, context: str, message: str) -> str:
        return self.gettext(message)


BRACKETS = cast(catalogues.Language, "brackets")  # what is cached for a language is not taken from another one


@contextmanager
def bracketed() -> Iterator[None]:
    """Inside the block, whatever is translated is in brackets, in every thread."""
    with (
        patch.object(spoken, "_of_thread", ContextVar("brackets", default=BRACKETS)),
        patch.dict(catalogues.PLURAL_FORMS, {BRACKETS: catalogues.PLURAL_FORMS["de"]}),  # for the scripts of components
        patch.object(catalogues, "translations", lambda language: Bracketed()),
        patch.object(numbers, "signs", lambda language: {}),
    ):
        yield


def texts(value: Any, under: str = "") -> Iterator[tuple[str, str]]:
    """The strings of a message as (key that they are under, string)."""
    if isinstance(value, str):
        yield under, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from texts(inner, str(key))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts(inner, under)


def shown(app: AppTest) -> Iterator[tuple[str, str]]:
    """The strings that a page shows, and what shows them: elements of Streamlit, and data of components."""
    for element in app:
        proto: Any = getattr(element, "proto", None)
        if element.type == "bidi_component":
            packed = proto.bytes.decode("utf-8", "ignore")
            try:
                data = json.loads(proto.json or packed or "null")
            except ValueError:  # numbers with a header of JSON
                data = [UNICODE.sub(lambda found: chr(int(found[1], 16)), text) for text in QUOTED.findall(packed)]
            name = proto.component_name.removesuffix(f"_{BRACKETS}")
            yield from ((f"{name}.{key}", text) for key, text in texts(data) if key != "subject")
        elif isinstance(proto, ProtobufMessage) and element.type not in ("code", "html", "json"):
            fields = MessageToDict(proto, preserving_proto_field_name=True)
            yield from ((f"{element.type}.{key}", text) for key, text in texts(fields) if key not in INTERNAL)


def unmarked(page: str, address: Mapping[str, str], visitor: str = "", *, labels: bool = True) -> list[str]:
    """One line for each text of a page that is not marked, with what shows it.

    Args:
        visitor: the words of sentences and translations, which are not translated.
        labels: whether single words are reported, too, among which there are tokens.
    """
    own = set(visitor.split())
    with bracketed():
        app = AppTest.from_file(str(MAIN), default_timeout=120)
        if page != "translate":
            switch_page(app, page)
        for name, value in address.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception, app.exception
        found = set()
        for where, text in shown(app):
            left = text
            while INSIDE.search(left):
                left = INSIDE.sub(" ", left)
            left = left.strip()
            key = where.rpartition(".")[2]
            is_text = PROSE.search(left) or (labels and LABEL.search(left) and key not in NO_LABELS)
            if is_text and where not in TRANSLATIONS and not NOT_TEXT.search(left) and not own.issuperset(left.split()):
                found.add(f"{where}: {text[:200]!r}")
        return sorted(found)


if __name__ == "__main__":
    config._main_script_path = str(MAIN)
    page, *given = sys.argv[1:]
    address = dict(each.split("=", 1) for each in ("details=true", *given))
    print("\n".join(unmarked(page, address)))

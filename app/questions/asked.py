"""Which question is asked, as a text: a kind, and after "?" what it is about, with the keys of a link.

    most-attended        most-attended?kind=cross&layer=4&head=4&row=3        above-half?layer=2&head=1&row=3&column=5

Layers, heads, rows and columns count from 1. A mistake in the text of a lesson is reported when the lesson is loaded
(app/lessons/link_check.py); here a wrong value counts as left out.
"""

from contextlib import suppress
from urllib.parse import parse_qsl

from app.questions import KINDS_OF_QUESTIONS
from app.questions.question import Place, QuestionKind
from app.state.address_texts import from_one
from transformer.model.attention_kinds import KINDS, Kind


def kind_and_place(asked: str, page: str = "") -> tuple[QuestionKind | None, Place | None]:
    """The kind, None if there is no such kind; and the place that is asked about, None if the text leaves it open."""
    name, _, query = asked.partition("?")
    kind = next((kind for kind in KINDS_OF_QUESTIONS if kind == name), None)
    texts = dict(parse_qsl(query))
    if not texts:
        return kind, None
    attention: Kind | None = next((kind for kind in KINDS if kind == texts.get("kind")), None)
    layer, head, row, column = (_number(texts.get(key, "")) for key in ("layer", "head", "row", "column"))
    return kind, Place(page, attention, layer, head, row, column)


def _number(text: str) -> int | None:
    with suppress(ValueError):
        return from_one(text)
    return None

"""Connects questions and pictures: what a page shows, for a question about it; and how a page shows the answer."""

from dataclasses import replace

import streamlit as st

from app.questions.question import Place, Question
from app.stage.heads import KEYS, QUERIES
from app.state import edit_choices
from app.state.address import PAGE
from app.state.choices import HEAD, KIND, LAYER, MASK_CELL, MASK_HEAD, PINNED, PINS_GIVEN, STATION, STEP, UNPINNED
from app.state.events import choose_head
from transformer.analysis.edits import HeadOff

_WITH_CANVAS = ("attention", "translate")


def open_page() -> str:
    """The page that is open."""
    return str(st.session_state.get(PAGE, ""))


def shown(page: str) -> Place:
    """What the picture of a page shows now. For a page that has no case below, the place is the whole page, so a
    question may be about anything in the scene."""
    if page in _WITH_CANVAS:
        return Place(page, KIND.value, _from_one(LAYER.value), _from_one(HEAD.value))
    if page == "hand":
        kind = KIND.value
        there = Place(page, kind, _from_one(LAYER.value), _from_one(HEAD.value), QUERIES[kind].value)
        return replace(there, key=KEYS[kind].value)
    if page == "masks":
        layer, head = MASK_HEAD.value
        return Place(page, "decoder", *((layer, head) if layer >= 0 else ()))
    if page == "decoding":
        return Place(page, row=STEP.value)
    if page == "steps":
        return Place(page, site=STATION.value)
    return Place(page)


def wider(place: Place, *, another: bool = False) -> list[Place]:
    """Where to look for a clear case, one after the other: the place itself, its head, its kind of attention, and
    everything on its page.

    Args:
        another: a question was already asked about the place itself, so begin with its head.
    """
    of_head = replace(place, row=None, key=None, site="")
    of_kind = replace(of_head, layer=None, head=None)
    places = (of_head, of_kind, Place(place.page))
    return list(dict.fromkeys(places if another else (place, *places)))


def can_show(question: Question, page: str) -> bool:
    """Whether this page shows the answer."""
    return question.place.page == page or (question.kind == "most-attended" and page in (*_WITH_CANVAS, "hand"))


def show(question: Question, page: str) -> None:
    """Chooses what the page has to show, so that the answer can be seen."""
    place = question.place
    if place.kind and place.layer is not None and place.head is not None and page in (*_WITH_CANVAS, "hand"):
        KIND.choose(place.kind)
        choose_head(place.layer, place.head)
        if place.row is not None:
            QUERIES[place.kind].choose(place.row)
            PINNED.choose((place.kind, place.row, UNPINNED, False))
            PINS_GIVEN.choose(PINS_GIVEN.value + 1)
        if place.key is not None:
            KEYS[place.kind].choose(place.key)
    elif page == "masks" and place.row is not None and place.key is not None:
        MASK_CELL.choose((place.row, place.key))
        PINS_GIVEN.choose(PINS_GIVEN.value + 1)
    elif page == "decoding" and place.row is not None:
        STEP.choose(place.row)
    elif page == "steps":
        STATION.choose(place.site)
    elif page == "whatif" and place.kind and place.layer is not None:
        edit_choices.add([HeadOff(place.kind, place.layer, place.head)])


def _from_one(number: int) -> int | None:
    """The number counted from 0; None if nothing is chosen."""
    return number - 1 if number > 0 else None

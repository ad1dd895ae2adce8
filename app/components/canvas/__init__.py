"""The canvas: tokens, arcs between them, and all heads beside them, drawn in the browser from one message.

Hovering, or choosing another head, kind or form, changes the picture without waiting for the server. The browser asks
the server only for numbers that it lacks, such as the exact weights of a head or the calculation of one weight.
Questions and answers go through a second, invisible component (`canvas_channel`). It is a fragment of its own, so an
answer does not draw the page again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import streamlit as st

from app.components.numbered import received
from app.components.registration import component, sent
from app.figures.canvas_message import FORMS, Form, message_id
from transformer.model.attention_kinds import KINDS, Kind

_canvas = component("canvas")
_wire = component("canvas_channel", html="<div class='root' hidden></div>")

Answer = dict[str, Any]
Asks = Literal["head", "link", "cell"]


@dataclass(frozen=True)
class Head:
    """Kind, layer and head; the latter two from 0."""

    kind: Kind
    layer: int
    head: int


@dataclass(frozen=True)
class Question:
    """What the browser asks for.

    Attributes:
        asks: "head": the exact weights of one head. "link": the weight of one cell in each head of the kind. "cell":
            how one weight of one head is computed.
        query, key: the cell, from 0.
    """

    asks: Asks
    head: Head
    query: int
    key: int


@dataclass(frozen=True)
class Act:
    """What else a reader does: "continue" the translation with a runner-up (its id is `index`) at `step`, "undo" that,
    show an "alternative" (`index`), or open the page "hand" at a cell (`step` is the query, `index` the key)."""

    name: Literal["continue", "undo", "alternative", "hand"]
    head: Head
    step: int
    index: int


@dataclass(frozen=True)
class Setting:
    """What surrounds the picture.

    Attributes:
        alternatives: the translations to choose from, {text, detail}; `shown` is the place of the one that is drawn.
        can_undo: whether there is something to take back.
        writes: whether the tokens of a new translation appear one after the other.
        below: rem that are kept free below the picture in the window.
        form: the form in which the picture is drawn.
        form_name: the name of `form` in the address.
        pinned: the query and the key (from 0, or -1 for none) that are pinned when the picture opens, and whether the
            calculation of their weight is open. A place that the sentence does not have is ignored.
        pins_given: `pinned` is applied when the picture opens, and again whenever this number changes.
    """

    alternatives: Sequence[dict[str, str]] = ()
    shown: int = 0
    can_undo: bool = False
    writes: bool = False
    below: float = 3.0
    form: Form = "arcs"
    form_name: str = "form"
    pinned: tuple[int, int, bool] = (-1, -1, False)
    pins_given: int = 0


def canvas(
    message: bytes,
    chosen: Head,
    setting: Setting,
    *,
    key: str,
    on_choose: Callable[[Head], None],
    on_ask: Callable[[Question], Answer | None],
    on_keep: Callable[[Form, Kind, int, int, bool], None],
    on_act: Callable[[Act], None] | None = None,
) -> None:
    """Draws the canvas, as high as the window leaves room for.

    Args:
        message: see `app.figures.canvas_message.canvas_message`.
        chosen: the head that is shown.
        on_choose: is called with the clicked head.
        on_ask: returns the numbers that the browser asks for (see `Question`), in values that JSON has; None if there
            is no such head or cell.
        on_keep: is called with the form, the kind, the query and the key that are pinned (-1 for none), and whether the
            calculation of their weight is open.
        on_act: see `Act`. Without it, runners-up cannot be clicked, and there is no link to the page `hand`.
    """

    def chose() -> None:
        found = sent(key, "chosen")
        head = _head(found)
        if head and isinstance(number := found.get("number"), int):
            st.session_state[f"{key}_received"] = number
            on_choose(head)

    def acted() -> None:
        found = sent(key, "acted")
        head = _head(found)
        if not head or not on_act or found.get("name") not in ("continue", "undo", "alternative", "hand"):
            return
        step, index = found.get("step"), found.get("index")
        if isinstance(step, int) and isinstance(index, int):
            on_act(Act(found["name"], head, step, index))

    _canvas(data=message, key=key, on_chosen_change=chose, on_acted_change=acted)
    state = {
        "canvas": key,
        "message": message_id(message),
        "chosen": {"kind": chosen.kind, "layer": chosen.layer, "head": chosen.head},
        "received": received(key),
        "acts": on_act is not None,
        "alternatives": list(setting.alternatives),
        "shown": setting.shown,
        "canUndo": setting.can_undo,
        "writes": setting.writes,
        "below": setting.below,
        "form": setting.form,
        "formName": setting.form_name,
        "pinned": setting.pinned,
        "pinsGiven": setting.pins_given,
    }
    _answers(state, key, on_ask, on_keep)


def _answers(
    state: dict[str, Any],
    key: str,
    on_ask: Callable[[Question], Answer | None],
    on_keep: Callable[[Form, Kind, int, int, bool], None],
) -> None:
    """The channel, as a fragment: a question is answered without drawing the page again."""
    name = f"{key}_wire"

    def asked() -> None:
        found = sent(name, "asked")
        question, kept = _question(found), _kept(found)
        if (question or kept) and found.get("message") == state["message"]:
            answer = on_ask(question) if question else {}
            if kept:
                on_keep(*kept)
            st.session_state[f"{name}_answer"] = {"id": found.get("id"), "answer": answer}

    def body() -> None:
        if received(key) != state["received"]:  # a head was chosen together with the question
            st.rerun()
        answer = st.session_state.pop(f"{name}_answer", None)
        _wire(data=state | {"answer": answer}, key=name, on_asked_change=asked)

    st.fragment(body)()


def _head(found: object) -> Head | None:
    """The head in a message of a browser, or None if the message is invalid: nothing from a browser is trusted."""
    if not isinstance(found, dict):
        return None
    kind, layer, head = found.get("kind"), found.get("layer"), found.get("head")
    if kind not in KINDS or not _is_index(layer) or not _is_index(head):
        return None
    return Head(cast(Kind, kind), cast(int, layer), cast(int, head))


def _question(found: object) -> Question | None:
    head = _head(found)
    if not head or not isinstance(found, dict) or found.get("asks") not in ("head", "link", "cell"):
        return None
    query, column = found.get("query"), found.get("key")
    if not _is_index(query) or not _is_index(column):
        return None
    return Question(found["asks"], head, cast(int, query), cast(int, column))


def _kept(found: object) -> tuple[Form, Kind, int, int, bool] | None:
    """The form, what is pinned, and whether its calculation is open."""
    head = _head(found)
    if not head or not isinstance(found, dict) or found.get("asks") != "kept":
        return None
    query, column, form = found.get("query"), found.get("key"), found.get("form")
    if form not in FORMS or not all(one == -1 or _is_index(one) for one in (query, column)):
        return None
    return cast(Form, form), head.kind, cast(int, query), cast(int, column), found.get("computed") is True


def _is_index(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 100_000

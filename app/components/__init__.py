"""The parts of the page that need the browser: small, offline, without a framework.

Each is a Streamlit component (v2) made of JavaScript files beside this one, joined into one script. Text reaches the
page by `textContent` alone, never as markup, so whatever a user types stays text
(test_hostile_words_are_drawn_as_words). Components are registered once, when this module is imported.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from app.components.numbered import hear, heard

_HERE = Path(__file__).parent


def script(name: str, *parts: str) -> str:
    """The script of a component: its parts, in this order, and NAME.js, which begins it."""
    return "\n".join((_HERE / f"{part}.js").read_text(encoding="utf-8") for part in (*parts, name))


def component(name: str, *parts: str, styles: Sequence[str]) -> Any:
    """The component of that script, with what all have and with these style sheets, which travel with each of them."""
    css = "".join((_HERE / f"{sheet}.css").read_text(encoding="utf-8") for sheet in ("components", *styles))
    source = script(name, *parts)
    return st.components.v2.component(f"headlight_{name}", html="<div class='root'></div>", css=css, js=source)


_headline = component("headline", styles=["folded"])
_lines = component(
    "lines", "svg", "lines_place", "lines_tokens", "lines_isolate", "lines_picture", "lines_heads",
    styles=["svg", "lines"],
)  # fmt: skip
_ranking = component("ranking", styles=["ranking"])
_pieces = component("pieces", "token", styles=["token", "pieces", "folded"])
_choices = component("choices", styles=["choices"])
_picker = component("picker", "arrows", "standing", "token", styles=["token", "picker"])
_map = component("map", "svg", styles=["svg", "map"])
_meter = component("meter", styles=["meter"])
_link = component("link", "copying", styles=["buttons"])
_export = component("export", "svg", "boxes", styles=["buttons"])
_copied = component("copied", "copying", styles=["buttons"])


def headline(text: str, language: str, *, key: str) -> None:
    """A long translation: its first two lines, and a button for the rest. `language` is a code, or ""."""
    _headline(data={"text": text, "lang": language}, key=key)


def lines(data: dict[str, Any], *, key: str, on_pin: Callable[[int | None, int | None], None] | None = None) -> None:
    """Attention as lines between two rows of tokens; data from `app.figures.attention_lines.attention_lines`.

    `on_pin` is told which row (query) the reader isolates, or which column (key); (None, None): none any more.
    """

    def pinned() -> None:
        found = st.session_state[key].pin
        if on_pin and isinstance(found, dict) and isinstance(index := found.get("index"), int):
            row, column = (
                index if found.get("side") == side and 0 <= index < len(data[whose]["tokens"]) else None
                for side, whose in ((1, "queries"), (0, "keys"))
            )
            on_pin(row, column)

    _lines(data=data | {"reports": on_pin is not None}, key=key, on_pin_change=pinned)


def ranking(data: dict[str, Any], *, key: str, on_choose: Callable[[int, int], None]) -> None:
    """A table of all heads, sorted by any column, of which one is chosen; data from `app.views.attention.head_ranking`.

    `on_choose` is told layer and head, from 0.
    """

    def changed() -> None:
        index = st.session_state[key].chosen
        if isinstance(index, int) and 0 <= index < len(data["rows"]):
            row = data["rows"][index]
            on_choose(row["layer"] - 1, row["head"] - 1)

    _ranking(data=data, key=key, on_chosen_change=changed)


def pieces(data: dict[str, Any], *, key: str) -> None:
    """A strip of pieces; data from `app.figures.token_strip`. With `headline`, that text stands above, large."""
    _pieces(data=data, key=key)


def choices(rows: list[dict[str, str]], chosen: int, label: str, *, key: str, on_choose: Callable[[int], None]) -> None:
    """A list of which one row is chosen. Rows have `text` and may have `second` and `detail`."""

    def changed() -> None:
        index = st.session_state[key].chosen
        if isinstance(index, int) and 0 <= index < len(rows):
            on_choose(index)

    _choices(data={"rows": rows, "chosen": chosen, "label": label}, key=key, on_chosen_change=changed)


def picker(
    tokens: Sequence[str],
    chosen: int,
    label: str,
    *,
    color: str,
    key: str,
    on_choose: Callable[[int], None],
    second: Sequence[str] = (),
    disabled: bool = False,
) -> None:
    """A row of tokens of which one is chosen, by click or arrow keys; `second` stands below each, after an arrow, and
    the label is then that of what is read and what is predicted."""

    def changed() -> None:
        _, index = hear(key)
        if 0 <= index < len(tokens):
            on_choose(index)

    data = {"tokens": list(tokens), "chosen": chosen, "label": label, "color": color, "disabled": disabled}
    data["heard"] = heard(key)
    _picker(data=data | ({"second": list(second)} if second else {}), key=key, on_chosen_change=changed)


def model_map(data: dict[str, Any], *, key: str, on_choose: Callable[[str], None]) -> None:
    """The map of the model; data from `app.views.steps.model_map.model_map`. `on_choose` gets the id of a station."""
    known = {box["station"] for box in data["boxes"]}

    def changed() -> None:
        station = st.session_state[key].station
        if station in known:
            on_choose(station)

    _map(data=data, key=key, on_station_change=changed)


def meter(used: int, limit: int, unit: str, *, watches: str, key: str) -> str | None:
    """Shows how much of a limit is used. While the user types into the input labelled `watches`, returns the draft."""
    result = _meter(
        data={"used": used, "limit": limit, "unit": unit, "watches": watches}, key=key, on_draft_change=_nothing
    )
    return result.draft


def link(
    texts: Mapping[str, str], kept: str, *, fresh: bool, host: str, key: str, on_kept: Callable[[str], None]
) -> None:
    """A button that copies the address of this view with these texts in it; they are in no address before.

    Args:
        kept: the name of the text that the browser's tab keeps.
        fresh: that text is only the example with which every visitor begins; `on_kept` is called with the text that
            this tab showed before, if there is one.
        host: where other machines reach the app; "" if they cannot.
    """

    def kept_text() -> None:
        text = st.session_state[key].kept
        if isinstance(text, str):
            on_kept(text)

    data = {"texts": dict(texts), "sentence": texts[kept], "fresh": fresh, "host": host}
    _link(data=data, key=key, on_kept_change=kept_text)


def export(target: str, name: str, *, key: str) -> None:
    """Buttons that save the picture inside the container with key `target` as SVG or PNG, made in the browser."""
    _export(data={"target": target, "name": name}, key=key)


def copied(text: str, label: str, help: str, *, key: str) -> None:
    """A button that copies a text; `help` appears over it."""
    _copied(data={"text": text, "label": label, "help": help}, key=key)


def _nothing() -> None:
    """Streamlit wants a callback for every value that a component reports."""

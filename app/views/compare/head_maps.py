"""The picture that compares all heads of two models, or of one model over two sentences: its data, and the head that it
opens with.
"""

import math
from collections.abc import Sequence
from functools import partial

import streamlit as st

from app import components
from app.compute.compared import HeadChange
from app.figures.axes import in_words
from app.figures.canvas_message import LEVELS, about_masks, bytes_of_masks, packed, quantised
from app.figures.tables import Table
from app.figures.theme import BACKGROUND, kind_color, signed_scale
from app.languages import _, pgettext
from app.stage.heads import SHORT
from app.state.choices import COMPARED_HEAD
from app.views.compare.compared_heads import Heads
from app.views.shared.show_figure import download_and_table
from transformer.model.attention_kinds import IN_ORDER, KINDS

FINE = 65_535  # levels of a weight (16 bits)
MOST_FINE = 600_000  # weights in a message; with more, a weight has 8 bits
KEY = "head_changes"


def draw_heads(heads: Heads, names: tuple[str, str]) -> None:
    """Draws the picture; `names` are those of both sides."""
    texts = [head_text(change) for change in heads.changes]
    at = texts.index(COMPARED_HEAD.value) if COMPARED_HEAD.value in texts else 0
    # The browser shows another head without a new message. So that the message stays equal, it always has the head with
    # which the picture was opened.
    opened = st.session_state.get(f"{KEY}_opened")
    if KEY not in st.session_state or opened is None or opened[0] != heads.readings:
        opened = st.session_state[f"{KEY}_opened"] = (heads.readings, at)
    with st.container(key=f"picture_{KEY}"):
        components.head_changes(
            _message(heads, names, opened[1]), len(texts), key=KEY,
            on_choose=lambda place: COMPARED_HEAD.choose(texts[place]),
        )  # fmt: skip
    name = _("Heads of {one} and {other}", one=names[0], other=names[1])
    download_and_table(key=KEY, name=name, table=partial(heads_table, heads.changes))


def head_text(change: HeadChange) -> str:
    """The head as the address names it: kind, layer and head, counted from 1."""
    return f"{change.kind}.{change.layer + 1}.{change.head + 1}"


def _message(heads: Heads, names: tuple[str, str], chosen: int) -> bytes:
    both = [(kind, reading.attention(kind)) for reading in heads.readings for kind in IN_ORDER]
    masks = [bytes_of_masks(found.masks) for kind, found in both]
    levels = FINE if sum(found.weights.size for kind, found in both) <= MOST_FINE else LEVELS
    header = {
        "names": list(names),
        "chosen": chosen,
        "ground": BACKGROUND,
        "scale": signed_scale(),
        "tokens": [[[in_words(token) for token in side] for side in heads.tokens[kind]] for kind in IN_ORDER],
        "order": [
            {"kind": IN_ORDER.index(change.kind), "layer": change.layer, "head": change.head, "partner": change.partner,
             "moved": round(change.moved, 4)}
            for change in heads.changes
        ],
        "alt": _(
            "All heads of {other}, coloured by how much of their weight is elsewhere than in {one}, and the weights of "
            "one head in both, with their difference, second minus first", one=names[0], other=names[1]
        ),
        "levels": levels,
        "kinds": [
            {"name": kind, "title": _(SHORT[kind]), "color": kind_color(kind), "shape": list(found.weights.shape)}
            | about_masks(mask)
            for (kind, found), mask in zip(both, masks, strict=True)
        ],
    }  # fmt: skip
    weights = [quantised(found.weights, levels) for kind, found in both]
    return packed(header, [*weights, *masks])


def heads_table(changes: Sequence[HeadChange]) -> Table:
    """One row per head, the one that changes most first."""
    return {
        _("attention"): [_(KINDS[change.kind]) for change in changes],
        _("layer"): [change.layer + 1 for change in changes],
        _("head"): [change.head + 1 for change in changes],
        _("compared with"): [_place(change.partner) for change in changes],
        _("weight moved"): [change.moved if change.partner else math.nan for change in changes],
    }


def _place(partner: tuple[int, int] | None) -> str:
    return (
        _("layer {layer}, head {head}", layer=partner[0] + 1, head=partner[1] + 1)
        if partner
        else pgettext("no head", "none")
    )

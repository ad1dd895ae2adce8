"""The picture of all heads of two models that read the same tokens: its message, and which head it opens with."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from app import components
from app.compute import cached_results
from app.compute.cached_results import Ids
from app.compute.compared import HeadChange
from app.compute.subject import Subject
from app.figures.axes import visible
from app.figures.canvas_message import LEVELS, packed, quantised
from app.figures.tables import Table
from app.figures.theme import GROUND, kind_color, signed_scale
from app.stage.heads import SHORT
from app.stage.scene import Scene
from app.state.choices import COMPARED_HEAD
from app.views.shared.placed import belongings
from transformer.model.attention_kinds import KINDS, Kind

ORDER: tuple[Kind, ...] = ("encoder", "decoder", "cross")  # in which they compute
FINE = 65_535  # levels of a weight, up to so many weights:
MOST_FINE = 600_000
KEY = "head_changes"


def draw_heads(
    models: tuple[Subject, Subject], names: tuple[str, str], read: Scene, changes: Sequence[HeadChange]
) -> None:
    """Draws the picture.

    Args:
        models, names: of both sides.
        read: whose translation both read.
        changes: in their order.
    """
    texts = [head_text(change) for change in changes]
    at = texts.index(COMPARED_HEAD.value) if COMPARED_HEAD.value in texts else 0
    ids = (read.translation.source_ids, read.hypothesis.ids)
    # The browser shows another head by itself, so the message keeps the head that it was opened with.
    of = (models, *ids)
    opened = st.session_state.get(f"{KEY}_opened")
    if KEY not in st.session_state or opened is None or opened[0] != of:
        opened = st.session_state[f"{KEY}_opened"] = (of, at)
    header = _header(read, names, changes) | {"chosen": opened[1]}
    with st.container(key=f"picture_{KEY}"):
        components.head_changes(
            _message(header, models, ids), len(changes), key=KEY,
            on_choose=lambda place: COMPARED_HEAD.choose(texts[place]),
        )  # fmt: skip
    belongings(key=KEY, name=f"Heads of {names[0]} and {names[1]}", table=partial(heads_table, changes))


def head_text(change: HeadChange) -> str:
    """As it is in the address."""
    return f"{change.kind}.{change.layer + 1}.{change.head + 1}"


def _header(read: Scene, names: tuple[str, str], changes: Sequence[HeadChange]) -> dict[str, Any]:
    axes = [read.axes(kind) for kind in ORDER]
    return {
        "names": list(names),
        "ground": GROUND,
        "scale": signed_scale(),
        "tokens": [[_visible(queries.predicts or queries.tokens), _visible(keys.tokens)] for queries, keys in axes],
        "order": [
            {"kind": ORDER.index(change.kind), "layer": change.layer, "head": change.head, "partner": change.partner,
             "moved": round(change.moved, 4)}
            for change in changes
        ],
        "alt": f"All heads of {names[1]}, coloured by how much of their weight is on other tokens than in "
        f"{names[0]}, and the weights of one head in both, with their difference",
    }  # fmt: skip


def _message(header: dict[str, Any], models: tuple[Subject, Subject], ids: tuple[Ids, Ids]) -> bytes:
    both = [(kind, cached_results.attention(model, *ids, kind)) for model in models for kind in ORDER]
    levels = FINE if sum(found.weights.size for _, found in both) <= MOST_FINE else LEVELS
    kinds = [
        {"name": kind, "title": SHORT[kind], "color": kind_color(kind), "shape": list(found.weights.shape)}
        for kind, found in both
    ]
    weights = [quantised(found.weights, levels) for _, found in both]
    masks = [found.mask.astype(np.uint8) for _, found in both]
    return packed(header | {"kinds": kinds, "levels": levels}, [*weights, *masks])


def heads_table(changes: Sequence[HeadChange]) -> Table:
    """A row a head, the one that changes most first."""
    return {
        "attention": [KINDS[change.kind] for change in changes],
        "layer": [change.layer + 1 for change in changes],
        "head": [change.head + 1 for change in changes],
        "compared with": [_place(change.partner) for change in changes],
        "weight moved": [change.moved for change in changes],
    }


def _place(partner: tuple[int, int] | None) -> str:
    return f"layer {partner[0] + 1}, head {partner[1] + 1}" if partner else "none"


def _visible(tokens: Sequence[str]) -> list[str]:
    return [visible(token) for token in tokens]

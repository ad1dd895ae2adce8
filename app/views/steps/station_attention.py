"""Stations whose picture is a matrix of queries by keys: scores, mask and weights of the chosen head."""

import numpy as np
import streamlit as st

from app.figures.charts import Figure
from app.figures.mask_matrix import mask_alt, mask_table
from app.figures.matrix import attention_matrix, matrix_alt, matrix_table, matrix_width
from app.figures.panels import frame
from app.stage.scene import Scene
from app.views.shared.placed import placed, scrolling
from app.views.steps.score_matrix import NUMBERS_UP_TO, may_look, score_matrix
from app.views.steps.station_tensors import chosen_row, chosen_source, kind_at, tensor, title_of
from app.views.steps.stations import Station
from transformer.analysis.batch_masks import mask_parts
from transformer.config import BOS


def scores(scene: Scene, here: Station, *, head: int) -> None:
    """(Q, K) of a head, from 0, before the softmax."""
    queries, keys = scene.axes(kind_at(here))
    values = tensor(scene, here)[head]
    title = f"{title_of(here)}, head {head + 1}"
    limit = None
    if here.name != "products":  # the same colours before and after the mask
        limit = float(np.abs(_beside(scene, here, "scores")[head]).max())
    with scrolling("walk_matrix", _narrowest(len(keys))):
        placed(
            _with_column(
                score_matrix(values, queries, keys, title=title, limit=limit, row=chosen_row(scene, here)),
                scene,
                here,
            ),
            key="walk_matrix",
            name=title,
            alt=f"{title}. {values.shape[0]} rows by {values.shape[1]} columns; the table has the numbers.",
            table=lambda: matrix_table(values, queries, keys),
        )
    if said := _said_of_column(here):
        st.caption(said.strip())


def mask(scene: Scene, here: Station) -> None:
    """(Q, K): which query may attend to which key, the same for all heads."""
    kind = kind_at(here)
    queries, keys = scene.axes(kind)
    found = tensor(scene, here)[0].astype(bool)  # (Q, K)
    target_ids = (BOS, *scene.hypothesis.ids[:-1])
    parts = mask_parts(scene.config, scene.translation.source_ids, target_ids, kind)
    title = title_of(here)
    with scrolling("walk_matrix", _narrowest(len(keys))):
        placed(
            may_look(found, parts, queries, keys, title=title, row=chosen_row(scene, here)),
            key="walk_matrix",
            name=title,
            alt=mask_alt(found, parts, queries, keys, title),
            table=lambda: mask_table(found, parts, queries, keys),
        )
    st.caption("One mask for all heads: a query may attend to a key or not. A masked key gets the score −∞.")


def weights(scene: Scene, here: Station, *, head: int) -> None:
    """(Q, K) of a head, from 0, after the softmax."""
    queries, keys = scene.axes(kind_at(here))
    found = tensor(scene, here)[head].astype(np.float32)  # (Q, K)
    allowed = _beside(scene, here, "mask")[head].astype(bool)  # (Q, K)
    title = f"{title_of(here)}, head {head + 1}"
    narrowest = min(matrix_width(queries, keys), _narrowest(len(keys)))
    row = chosen_row(scene, here)
    with scrolling("walk_matrix", narrowest):
        placed(
            _with_column(attention_matrix(found, queries, keys, title=title, mask=allowed, row=row), scene, here),
            key="walk_matrix",
            name=title,
            alt=matrix_alt(found, queries, keys, title),
            table=lambda: matrix_table(found, queries, keys),
        )
    st.caption("Each row sums to 1. Grey: masked. A dot: less than .005." + _said_of_column(here))


def _with_column(figure: Figure, scene: Scene, here: Station) -> Figure:
    """Frames, thinly, the key that was chosen in the source: at `Keys` and `Values` of encoder-decoder attention it is
    the row that is framed."""
    if here.part == "cross_attention":
        column = chosen_source(scene)
        figure.layout["shapes"] = [
            frame(column - 0.5, column + 0.5, -0.5, len(scene.target) - 0.5, 1.5),
            *figure.layout.get("shapes", []),
        ]
    return figure


def _said_of_column(here: Station) -> str:
    if here.part != "cross_attention":
        return ""
    return " Framed thinly: the source token that is chosen at the stations of keys and values."


def _narrowest(columns: int) -> int:
    """Px: all columns of a plain sentence stand beside the map, a longer one scrolls."""
    return 110 + columns * (24 if columns <= NUMBERS_UP_TO else 12)


def _beside(scene: Scene, here: Station, name: str) -> np.ndarray:
    """Another site of the same attention."""
    base = (here.site or "").rsplit(".", 1)[0]
    return scene.record(f"{here.stack}.layers.{here.layer}.*")[f"{base}.{name}"]

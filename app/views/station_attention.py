"""Stations whose picture is a matrix of queries by keys: scores, mask and weights of the chosen head."""

import numpy as np
import streamlit as st

from app.figures.matrix import attention_matrix, matrix_alt, matrix_table, matrix_width
from app.figures.scores import score_matrix
from app.figures.walk import Station
from app.session import is_dark
from app.views.choose import axes
from app.views.placed import placed
from app.views.stage import Scene
from app.views.station_tensors import choose_head, chosen_row, kind_at, tensor, title_of


def scores(scene: Scene, here: Station) -> None:
    """(Q, K) before the softmax; or the mask, in the same colours."""
    head = choose_head(scene, here)
    queries, keys = axes(scene, kind_at(here))
    values = tensor(scene, here)[head]
    title = f"{title_of(here)}, head {head + 1}"
    limit = None
    if here.look == "mask":
        values = np.where(values.astype(bool), 0.0, -np.inf)
        st.caption("Grey with −∞: may not look. Light: may look, and keeps its score.")
    elif here.name != "products":  # the same colours before and after the mask
        limit = float(np.abs(_beside(scene, here, "scores")[head]).max())
    placed(
        score_matrix(values, queries, keys, title=title, limit=limit, row=chosen_row(scene, here), dark=is_dark()),
        key="score_matrix",
        name=title,
        alt=f"{title}. {values.shape[0]} rows by {values.shape[1]} columns; the table has the numbers.",
        table=lambda: matrix_table(values, queries, keys),
    )


def weights(scene: Scene, here: Station) -> None:
    """(Q, K) after the softmax."""
    head = choose_head(scene, here)
    queries, keys = axes(scene, kind_at(here))
    found = tensor(scene, here)[head].astype(np.float32)  # (Q, K)
    mask = _beside(scene, here, "mask")[head].astype(bool)  # (Q, K)
    title = f"{title_of(here)}, head {head + 1}"
    narrowest = min(matrix_width(bool(queries.predicts), len(keys)), 110 + 24 * len(keys))  # beside the map, all of it
    st.html(f"<style>.st-key-walk_matrix {{ min-width: {narrowest}px; }}</style>")
    with st.container(key="matrix"):
        placed(
            attention_matrix(found, queries, keys, title=title, mask=mask, row=chosen_row(scene, here), dark=is_dark()),
            key="walk_matrix",
            name=title,
            alt=matrix_alt(found, queries, keys, title),
            table=lambda: matrix_table(found, queries, keys),
        )
    st.caption("Each row sums to 1. Grey: masked. A point: less than .005.")


def _beside(scene: Scene, here: Station, name: str) -> np.ndarray:
    """Another site of the same attention."""
    base = (here.site or "").rsplit(".", 1)[0]
    return scene.record(f"{here.stack}.layers.{here.layer}.*")[f"{base}.{name}"]

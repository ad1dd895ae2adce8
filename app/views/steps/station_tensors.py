"""Stations that show tokens by dimensions: the residual stream, a head's slice, LayerNorm, hidden units."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.compute.layer_norms import norm_at
from app.figures.axes import TokenAxis, visible
from app.figures.head_slices import beyond, reach
from app.figures.row_statistics import before_and_after, moments_table
from app.figures.strips import ENDS, of_norm, of_sum
from app.figures.tensor import NUMBERS_UP_TO, tensor_alt, tensor_heatmap, tensor_table
from app.figures.theme import beyond_text, number
from app.stage.scene import Scene
from app.state.choice import Choice
from app.state.choices import SOURCE_TOKEN, STEP
from app.views.shared.placed import placed
from app.views.shared.vector_strips import placed_strips
from app.views.steps.hidden_units import firing_table, firing_units, share_firing
from app.views.steps.stations import Station
from transformer.model.attention_kinds import Kind, depth


class Places(NamedTuple):
    """Where the pictures of a station stand: at each station all of these, in this order, some of them empty.

    Trap: a chart whose place is another one at the next station is thrown away by the browser and drawn twice, first
    what it showed before (test_a_step_draws_each_picture_once_and_the_tensor_in_the_place_where_it_stood).
    """

    first: DeltaGenerator  # what is said and drawn before the tensor, or in its stead
    whole: DeltaGenerator  # the tensor, all columns
    numbers: DeltaGenerator  # a few of them


def places() -> Places:
    """Makes them."""
    return Places(st.container(), st.container(), st.container())


def stream(scene: Scene, here: Station, at: Places) -> None:
    """(Q, D): all heads or none."""
    values = tensor(scene, here)
    if here.name == "concatenated":
        values = values.transpose(1, 0, 2).reshape(values.shape[1], -1)  # (H, Q, E) -> (Q, D)
    _pictures(at, values, rows_of(scene, here), title_of(here), chosen_row(scene, here))


def total(scene: Scene, here: Station, at: Places) -> None:
    """(Q, D), a sum; of the chosen row also what is added to what."""
    found, row = recorded(scene, here), chosen_row(scene, here)
    base, _, name = (here.site or "").rpartition(".")
    if name == "residual_sum":
        parts, names = ("residual_in", "output"), ("x", "FFN" if here.part == "feed_forward" else "Sublayer")
    else:
        parts, names = ("scaled", "positions"), ("√d_model · embedding", "position")
    if scene.config.positions != "none" or name == "residual_sum":
        first, second = (found[f"{base}.{part}"][row] for part in parts)
        rows = of_sum(first, second, found[f"{base}.{name}"][row], names)
        placed_strips(rows, key="of_row", title=f"The sum for {_row(scene, here)}")
        st.caption(f"The colours of all three end at ±{number(rows[0].limit, 2)}.")
    stream(scene, here, at)


def head(scene: Scene, here: Station, at: Places, *, chosen: int) -> None:
    """(Q, E) or (K, E): what the chosen head, from 0, has of (H, Q, E)."""
    title = f"{title_of(here)}, head {chosen + 1}"
    _pictures(at, tensor(scene, here)[chosen], rows_of(scene, here), title, chosen_row(scene, here))


def norm(scene: Scene, here: Station, at: Places) -> None:
    """(Q, D), and the mean and deviation of each row before and after."""
    before, after = before_norm(scene, here), tensor(scene, here)
    rows, title = rows_of(scene, here), title_of(here)
    placed(
        before_and_after(before, after, rows, title=title),
        key="norm",
        name=title,
        alt=f"{title}: mean and deviation of each row before and after; the table has the numbers.",
        table=lambda: moments_table(before, after, rows),
    )
    st.caption(
        "Before and after have scales of their own. The learned gain and shift may move the mean away from 0 and the "
        "deviation from 1; but rows that were long and rows that were short now have much the same length."
    )
    row = chosen_row(scene, here)
    learned = norm_at(scene.subject, here.site or "")
    placed_strips(
        of_norm(before[row], after[row], learned, "x" if here.layer is None or scene.config.norm == "pre" else "z"),
        key="of_row",
        title=f"LayerNorm of {_row(scene, here)}, number by number",
    )
    st.caption(f"The colours of each strip {ENDS}")
    _pictures(at, after, rows, f"{title}, after", chosen_row(scene, here))


def hidden(scene: Scene, here: Station, at: Places) -> None:
    """(Q, F), and the units of the chosen token before and after the activation."""
    found = scene.record(f"{here.stack}.layers.{here.layer}.*")
    base = (here.site or "").rsplit(".", 1)[0]
    before, after = found[f"{base}.hidden"], found[f"{base}.activated"]
    rows, row, title = rows_of(scene, here), chosen_row(scene, here), title_of(here)
    activation = {"relu": "ReLU", "gelu": "GELU", "silu": "SiLU"}[scene.config.activation]
    share, fire = share_firing(after), "fire" if activation == "ReLU" else "are above zero"
    st.caption(
        f"Of {after.shape[1]:,} units, {share[row]:.0%} {fire} for this token ({int((after[row] > 0).sum()):,}); "
        f"{share.mean():.0%} on average over all tokens."
    )
    placed(
        firing_units(before[row], after[row], rows, row, title=title, activation=activation),
        key="firing",
        name=title,
        alt=f"{title}: the strongest and the most silenced units of the chosen token, before and after.",
        table=lambda: firing_table(before, after, rows),
    )
    _pictures(at, before if here.name == "hidden" else after, rows, title, row, columns="unit")


def tensor(scene: Scene, here: Station) -> np.ndarray:
    """The tensor of the station."""
    return recorded(scene, here)[here.site or ""]


def recorded(scene: Scene, here: Station) -> Mapping[str, np.ndarray]:
    """The station and those beside it: a layer is recorded at once, so that the next stations are there already."""
    if here.layer is not None:
        return scene.record(f"{here.stack}.layers.{here.layer}.*")
    return scene.record(f"{here.stack}.embedding.*" if here.part == "input" else here.site or "")


def _row(scene: Scene, here: Station) -> str:
    """The chosen row, in words."""
    row = chosen_row(scene, here)
    return f"row {row + 1}, {visible(rows_of(scene, here).tokens[row])}"


def rows_of(scene: Scene, here: Station) -> TokenAxis:
    """Whose rows they are."""
    return scene.source if here.rows == "encoder" else scene.target


def chosen_row(scene: Scene, here: Station) -> int:
    """The chosen one of its rows, from 0."""
    return _chosen(SOURCE_TOKEN if here.rows == "encoder" else STEP, rows_of(scene, here))


def chosen_source(scene: Scene) -> int:
    """The chosen token of the source, from 0."""
    return _chosen(SOURCE_TOKEN, scene.source)


def _chosen(place: Choice[int], tokens: TokenAxis) -> int:
    return min(max(place.value, 0), len(tokens) - 1)


def title_of(here: Station) -> str:
    """What is shown, and where in the model it is."""
    place = f", layer {here.layer + 1}" if here.layer is not None else ""
    return f"{here.title} · {here.stack}{place}"


def kind_at(here: Station) -> Kind:
    """The kind of attention at this station of a layer."""
    if here.part == "cross_attention":
        return "cross"
    return "encoder" if here.stack == "encoder" else "decoder"


def _pictures(
    at: Places, values: np.ndarray, rows: TokenAxis, title: str, row: int | None, columns: str = "dimension"
) -> None:
    """All columns at a glance, then a few of them in numbers."""
    limit = _limit(values)
    whole = tensor_heatmap(values, rows, title=title, columns=columns, row=row, limit=limit, norms=bool(values.any()))
    with at.whole:
        placed(
            whole,
            key="tensor",
            name=f"{title}, all {columns}s",
            alt=tensor_alt(values, rows, title),
            table=lambda: tensor_table(values, rows, columns),
        )
        _say_limit(values)
    if values.shape[1] > NUMBERS_UP_TO:
        with at.numbers:
            _numbers(values, rows, title, row, columns, limit)


def _numbers(values: np.ndarray, rows: TokenAxis, title: str, row: int | None, columns: str, limit: float) -> None:
    width = values.shape[1]
    starts = list(range(0, width, NUMBERS_UP_TO))
    first = st.select_slider(
        f"Numbers of {columns}s from", starts, value=0, key=f"first_{width}", persist_state="session"
    )
    window = values[:, first : first + NUMBERS_UP_TO]
    name = f"{title}, {columns}s {first} to {first + window.shape[1] - 1}"
    placed(
        tensor_heatmap(window, rows, title=name, columns=columns, first=first, row=row, limit=limit),
        key="tensor_numbers",
        name=name,
        alt=tensor_alt(window, rows, name),
        table=lambda: tensor_table(window, rows, columns, first=first),
    )


def _limit(values: np.ndarray) -> float:
    """Where the colours end: a few large values would leave all others pale."""
    return min(reach(values), float(np.abs(values).max())) or 1.0


def _say_limit(values: np.ndarray) -> None:
    if share := beyond(values):
        st.caption(
            f"Colours end at ±{number(reach(values), 2)}, three times the root mean square; {beyond_text(share)} the "
            "values are beyond."
        )


def before_norm(scene: Scene, here: Station) -> np.ndarray:
    if here.layer is None:  # the last LayerNorm of a pre-norm stack
        layers = depth(scene.config, here.stack)
        site = f"{here.stack}.layers.{layers - 1}.feed_forward.residual_sum"
        return scene.record(site)[site]
    base = (here.site or "").rsplit(".", 1)[0]
    name = "residual_in" if scene.config.norm == "pre" else "residual_sum"
    return scene.record(f"{here.stack}.layers.{here.layer}.*")[f"{base}.{name}"]

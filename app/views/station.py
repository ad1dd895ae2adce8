"""The picture at each station of the walk: chooses the figure that fits, and places it with its table and its files."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from app import components
from app.figures.axes import TokenAxis, visible
from app.figures.distribution import distribution_bars, distribution_table, offers
from app.figures.firing import firing_table, firing_units, share_firing
from app.figures.matrix import attention_matrix, matrix_alt, matrix_csv, matrix_table, matrix_width
from app.figures.normalisation import before_and_after, moments_table
from app.figures.pieces import source_strip, source_table, target_strip, target_table
from app.figures.scores import score_matrix
from app.figures.tensor import NUMBERS_UP_TO, tensor_alt, tensor_csv, tensor_heatmap, tensor_table
from app.figures.vocabulary import logit_bars
from app.figures.walk import Station
from app.models import Kind
from app.session import HEAD, SOURCE_TOKEN, STEP, is_dark
from app.views.choose import axes
from app.views.stage import Scene

PLOT = {"displayModeBar": False}


def draw(scene: Scene, here: Station) -> None:
    """The picture of this station."""
    pictures: dict[str, Callable[[Scene, Station], None]] = {
        "characters": _characters,
        "pieces": _pieces,
        "stream": _stream,
        "head": _head,
        "scores": _scores,
        "mask": _scores,
        "weights": _weights,
        "norm": _norm,
        "hidden": _hidden,
        "logits": _logits,
        "chosen": _chosen,
    }
    with st.container(key="picture"):
        pictures[here.look](scene, here)


def chosen_row(scene: Scene, here: Station) -> int:
    """The chosen row of this stack, from 0."""
    key, axis = (SOURCE_TOKEN, scene.source) if here.stack == "encoder" else (STEP, scene.target)
    return min(max(int(st.session_state.get(key, 0)), 0), len(axis) - 1)


def _tensor(scene: Scene, here: Station) -> np.ndarray:
    """The whole layer is recorded at once, so that the next stations are there already."""
    site = here.site or ""
    if here.layer is not None:
        return scene.record(f"{here.stack}.layers.{here.layer}.*")[site]
    return scene.record(site)[site]


def _rows(scene: Scene, here: Station) -> TokenAxis:
    return scene.source if here.stack == "encoder" else scene.target


def _title(here: Station) -> str:
    place = f", layer {here.layer + 1}" if here.layer is not None else ""
    return f"{here.title}: {here.stack}{place}"


def _characters(scene: Scene, here: Station) -> None:
    text = scene.translation.source
    st.text(text)
    found = [{"place": i, "character": visible(ch), "code point": f"U+{ord(ch):04X}"} for i, ch in enumerate(text)]
    st.caption(f"{len(text)} characters. The places, counted from 0, are what the pieces point back to.")
    st.dataframe(found, hide_index=True, height=330, alt="Characters of the sentence with place and code point")


def _pieces(scene: Scene, here: Station) -> None:
    components.pieces(source_strip(scene.translation.source_pieces, dark=is_dark()), key="walk_pieces")
    st.caption(
        "Below each piece: its id, and the places of its characters in the sentence. ▁ marks the start of a word."
    )
    st.dataframe(
        source_table(scene.translation.source_pieces, scene.translation.source),
        hide_index=True,
        alt="Pieces of the source",
    )


def _stream(scene: Scene, here: Station) -> None:
    values = _tensor(scene, here)
    if here.name == "concatenated":
        values = values.transpose(1, 0, 2).reshape(values.shape[1], -1)  # (H, Q, E) -> (Q, D)
    _tensor_pictures(values, _rows(scene, here), _title(here), chosen_row(scene, here))


def _head(scene: Scene, here: Station) -> None:
    head = _choose_head(scene)
    rows = _rows(scene, here)
    if here.name in ("key", "value") and here.part == "cross_attention":
        rows = scene.source
    frame = chosen_row(scene, here) if rows.role == _rows(scene, here).role else None
    _tensor_pictures(_tensor(scene, here)[head], rows, f"{_title(here)}, head {head + 1}", frame)


def _tensor_pictures(values: np.ndarray, rows: TokenAxis, title: str, row: int | None) -> None:
    alt = tensor_alt(values, rows, title)
    st.plotly_chart(
        tensor_heatmap(values, rows, title=title, row=row, norms=True, dark=is_dark()),
        key="tensor",
        config=PLOT,
        alt=alt,
    )
    width = values.shape[1]
    if width > NUMBERS_UP_TO:
        starts = list(range(0, width, NUMBERS_UP_TO))
        first = st.select_slider(
            "Numbers of dimensions from", starts, value=0, key=f"first_{width}", persist_state="session"
        )
        window = values[:, first : first + NUMBERS_UP_TO]
        limit = float(np.abs(values).max())
        name = f"{title}, dimensions {first} to {first + window.shape[1] - 1}"
        st.plotly_chart(
            tensor_heatmap(window, rows, title=name, first=first, row=row, limit=limit, dark=is_dark()),
            key="tensor_numbers",
            config=PLOT,
            alt=tensor_alt(window, rows, name),
        )
    _twin(title, lambda: tensor_table(values, rows), lambda: tensor_csv(values, rows))


def _scores(scene: Scene, here: Station) -> None:
    head = _choose_head(scene)
    queries, keys = axes(scene, _kind(here))
    values = _tensor(scene, here)[head]
    title = f"{_title(here)}, head {head + 1}"
    if here.look == "mask":
        allowed = values.astype(bool)
        values = np.where(allowed, 0.0, -np.inf)
        st.caption("Grey with −∞: may not look. Light: may look, and keeps its score.")
    names = ("products", "scores", "masked_scores")
    all_scores = scene.record(f"{here.stack}.layers.{here.layer}.*")
    base = (here.site or "").rsplit(".", 1)[0]
    limit = None
    if here.name in names[1:]:  # the same colours before and after the mask
        limit = float(np.abs(all_scores[f"{base}.scores"][head]).max())
    st.plotly_chart(
        score_matrix(values, queries, keys, title=title, limit=limit, row=chosen_row(scene, here), dark=is_dark()),
        key="score_matrix",
        config=PLOT,
        alt=f"{title}. {values.shape[0]} rows by {values.shape[1]} columns; the table below has the numbers.",
    )
    _twin(title, lambda: matrix_table(values, queries, keys), lambda: matrix_csv(values, queries, keys))


def _weights(scene: Scene, here: Station) -> None:
    head = _choose_head(scene)
    queries, keys = axes(scene, _kind(here))
    weights = _tensor(scene, here)[head].astype(np.float32)
    base = (here.site or "").rsplit(".", 1)[0]
    mask = scene.record(f"{here.stack}.layers.{here.layer}.*")[f"{base}.mask"][head].astype(bool)
    title = f"{_title(here)}, head {head + 1}"
    narrowest = matrix_width(bool(queries.predicts), len(keys))
    st.html(f"<style>.st-key-matrix [data-testid='stElementContainer'] {{ min-width: {narrowest}px; }}</style>")
    with st.container(key="matrix"):
        st.plotly_chart(
            attention_matrix(
                weights, queries, keys, title=title, mask=mask, row=chosen_row(scene, here), dark=is_dark()
            ),
            key="walk_matrix",
            config=PLOT,
            alt=matrix_alt(weights, queries, keys, title),
        )
    st.caption("Each row sums to 1. Grey: masked. A point: less than .005.")
    _twin(title, lambda: matrix_table(weights, queries, keys), lambda: matrix_csv(weights, queries, keys))


def _norm(scene: Scene, here: Station) -> None:
    after = _tensor(scene, here)
    before = _before_norm(scene, here)
    rows = _rows(scene, here)
    title = _title(here)
    st.plotly_chart(
        before_and_after(before, after, rows, title=title, dark=is_dark()),
        key="norm",
        config=PLOT,
        alt=f"{title}: mean and deviation of each row before and after; the table below has the numbers.",
    )
    st.caption(
        "After the learned gain and shift the mean is no longer exactly 0 and the deviation no longer exactly 1; "
        "what all rows share is that none is large any more."
    )
    _tensor_pictures(after, rows, f"{title}, after", chosen_row(scene, here))
    table = st.expander("Mean and deviation as a table", on_change="rerun", key="moments")
    if table.open:
        table.dataframe(moments_table(before, after, rows), hide_index=True, alt=title)


def _before_norm(scene: Scene, here: Station) -> np.ndarray:
    if here.layer is None:  # the last LayerNorm of a pre-norm stack
        layers = scene.config.encoder_layers if here.stack == "encoder" else scene.config.decoder_layers
        site = f"{here.stack}.layers.{layers - 1}.feed_forward.residual_sum"
        return scene.record(site)[site]
    base = (here.site or "").rsplit(".", 1)[0]
    name = "residual_in" if scene.config.norm == "pre" else "residual_sum"
    return scene.record(f"{here.stack}.layers.{here.layer}.*")[f"{base}.{name}"]


def _hidden(scene: Scene, here: Station) -> None:
    found = scene.record(f"{here.stack}.layers.{here.layer}.*")
    base = (here.site or "").rsplit(".", 1)[0]
    before, after = found[f"{base}.hidden"], found[f"{base}.activated"]
    rows, row = _rows(scene, here), chosen_row(scene, here)
    activation = {"relu": "ReLU", "gelu": "GELU", "silu": "SiLU"}[scene.config.activation]
    share = share_firing(after)
    st.caption(
        f"Of {after.shape[1]:,} units, {share[row]:.0%} fire for this token ({int((after[row] > 0).sum()):,}); "
        f"{share.mean():.0%} on average over all tokens."
    )
    st.plotly_chart(
        firing_units(
            before[row], after[row], rows.tokens[row], title=_title(here), activation=activation, dark=is_dark()
        ),
        key="firing",
        config=PLOT,
        alt=f"{_title(here)}: the strongest and the most silenced units of the chosen token, before and after.",
    )
    values = before if here.name == "hidden" else after
    st.plotly_chart(
        tensor_heatmap(values, rows, title=_title(here), columns="unit", row=row, norms=True, dark=is_dark()),
        key="units",
        config=PLOT,
        alt=tensor_alt(values, rows, _title(here)),
    )
    _twin(_title(here), lambda: firing_table(before, after, rows), lambda: tensor_csv(values, rows, "unit"))


def _logits(scene: Scene, here: Station) -> None:
    step, size = chosen_row(scene, here), scene.config.vocab_size
    logits = scene.record("logits")["logits"][step]
    found = offers(logits, scene.hypothesis.ids[step], scene.opened.translator.tokenizer.piece, count=12)
    title = f"{here.title}, row {step + 1} of {len(scene.target)}"
    is_logits = here.name == "logits"
    st.plotly_chart(
        logit_bars(found, title=title, dark=is_dark())
        if is_logits
        else distribution_bars(found, size, title=title, dark=is_dark()),
        key="ranking",
        config=PLOT,
        alt=f"{title}: the best next pieces; the table below has the numbers.",
    )
    st.caption(f"The best of {size:,} pieces. The coloured one was chosen.")
    table = st.expander("The same numbers as a table", on_change="rerun", key="ranking_table")
    if table.open:
        table.dataframe(distribution_table(found), hide_index=True, alt=title)


def _chosen(scene: Scene, here: Station) -> None:
    hypothesis = scene.hypothesis
    probabilities = [float(np.exp(value)) for value in hypothesis.log_probabilities]
    strip = target_strip(hypothesis.pieces, hypothesis.ids, probabilities, dark=is_dark())
    components.pieces(strip, key="walk_chosen")
    st.caption("Each piece was predicted by the row that reads the one before it; then it is read itself.")
    st.dataframe(
        target_table(hypothesis.pieces, hypothesis.ids, probabilities),
        hide_index=True,
        alt="The pieces of the translation",
    )


def _kind(here: Station) -> Kind:
    if here.part == "cross_attention":
        return "cross"
    return "encoder" if here.stack == "encoder" else "decoder"


def _choose_head(scene: Scene) -> int:
    heads = scene.config.heads
    options = list(range(1, heads + 1))
    if heads <= 16:
        value = st.segmented_control("Head", options, default=1, required=True, key=HEAD, bind="query-params")
    else:
        value = st.selectbox("Head", options, key=HEAD, bind="query-params")
    return int(value or 1) - 1


def _twin(title: str, table: Callable[[], object], as_csv: Callable[[], str]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        components.export("picture", title, key="export_picture")
        st.download_button("CSV", as_csv, f"{title}.csv", "text/csv", key="csv", on_click="ignore")
    found = st.expander("The same numbers as a table", on_change="rerun", key="twin")
    if found.open:
        found.dataframe(table(), hide_index=True, alt=title)

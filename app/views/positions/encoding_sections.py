"""Sections of Positions: the encoding that is added to the embeddings (paper, section 3.5), of the checkpoint that is
loaded.

Each section is a fragment of its own: its sliders draw it again and nothing else.
"""

import numpy as np
import streamlit as st

from app.figures.layouts import LAYOUT_NAMES, layout_formula
from app.figures.sinusoids import Layout
from app.figures.theme import number
from app.library.source_code import lines_between, lines_from, together
from app.stage.controls import Controls, Stack
from app.stage.scene import Scene
from app.stage.section import section
from app.state.choice import Between
from app.state.choices import DIMENSION, WAVE_SPAN
from app.views.positions.encoding_matrix import encoding_heatmap, encoding_names, encoding_table, positions_shown
from app.views.positions.rotation_sections import layout_of, layouts, rotation, said_of_untrained, table_of, trained_of
from app.views.positions.similarity import (
    curve_table,
    matrix_table,
    over_distance,
    products,
    similarity_curve,
    similarity_matrix,
)
from app.views.positions.sizes_section import sizes
from app.views.positions.waves import wave, wave_table, wave_title, wavelength_chart, wavelength_table
from app.views.shared.placed import placed
from app.views.shared.triplet import shape_text, triplet
from transformer.model.positions import PositionalEncoding, sinusoids

LEARNED = (
    "This checkpoint **learned** a vector for each position instead (the paper's Table 3, row E, found the results "
    "nearly identical). What you see is what training made of it."
)


def encodings(scene: Scene, controls: Controls) -> None:
    """Draws the sections: the encoding itself, its waves, its layouts, its rotation, its size."""
    stack = controls.stack()
    row = controls.row(stack)
    if scene.config.positions == "none":
        sees = "the words as a set, without an order"
        if scene.config.attention_window is not None:
            sees = "of their order only who is near whom, by its attention window"
        st.info(
            f"This checkpoint has no positions: nothing is added to the embeddings, so its encoder sees {sees}. "
            "There is no encoding to draw; the paper's is below, and the sizes at the end."
        )
    else:
        _encoding(scene, stack, row)
        _waves(scene, stack)
        _similarity(scene, stack)
    layouts(scene)
    if scene.config.positions != "none":
        rotation(scene, stack)
    sizes(scene, stack, row)


@section
def _encoding(scene: Scene, stack: Stack, row: int) -> None:
    layout = layout_of(scene)
    st.header("The encoding", anchor=False)
    tokens = scene.source if stack == "encoder" else scene.target
    whole = table_of(scene, stack)
    rows = positions_shown(len(tokens), scene.config.d_model, len(whole))
    rows = min(rows, max(len(tokens), trained_of(scene) or rows))
    table = whole[:rows]
    kind = f"{LAYOUT_NAMES[layout]}" if layout else f"as learned by the {stack}"
    title = f"Positional encoding, {kind}: {rows} positions × {scene.config.d_model} dimensions"
    limit = 1.0 if layout else float(np.abs(table).max()) or 1.0
    placed(
        encoding_heatmap(table, tokens, title=title, limit=limit, row=row),
        key="encoding",
        name=title,
        alt=f"{title}. Each row is added to the embedding of the token at that position; the first {len(tokens)} rows "
        "are used by this sentence." + _said_of_columns(layout, scene.config.d_model),
        table=lambda: encoding_table(table, encoding_names(scene.config.d_model, layout), tokens),
    )
    st.caption(
        "One row a position, counted from 0 as in the formula. The marks at the left are the tokens of this "
        "sentence; the one that is chosen above is framed, and named over the picture. The table has them all."
        + said_of_untrained(scene, "are drawn only where this sentence reaches them")
    )
    triplet(
        "section 3.5",
        layout_formula(layout) if layout else "",
        "Attention by itself does not know order. So each position has a vector of its own, which is added to the "
        "embedding: sines and cosines, a wavelength for each pair of dimensions."
        + (" This checkpoint has them half and half; the paper's formula has 2i and 2i+1." * (layout == "concatenated"))
        if layout
        else LEARNED,
        lines_between("model/positions.py", "sinusoids" if layout else "PositionalEncoding.__init__"),
        shape=shape_text("PD", table.shape),
    )


def _said_of_columns(layout: Layout | None, d_model: int) -> str:
    """What the heatmap of sinusoids looks like; of a single pair there is nothing to compare."""
    if not layout or d_model < 4:
        return ""
    where = "" if layout == "interleaved" else " of each half"
    return f" Left columns{where} change from position to position, right columns hardly at all."


@section
def _waves(scene: Scene, stack: Stack) -> None:
    layout, d_model = layout_of(scene), scene.config.d_model
    available = len(table_of(scene, stack))
    st.header("One dimension, one wave" if layout else "One dimension over the positions", anchor=False)
    triplet(
        "section 3.5",
        r"\lambda_i = 2\pi\cdot 10000^{2i/d_{model}}" if layout else "",
        "“The wavelengths form a geometric progression from 2π to 10000 · 2π.” Short waves tell neighbours apart, long "
        "ones the beginning from the end."
        if layout
        else "Without a formula there is no wavelength: a dimension is whatever training made of it.",
        lines_from(sinusoids, "exponent =", "angle =") if layout else lines_from(PositionalEncoding, "nn.Parameter"),
        shape=("angle: " + shape_text(("P", "D/2"), (scene.config.max_positions, (d_model + 1) // 2)))
        if layout
        else shape_text("PD", (scene.config.max_positions, d_model)),
    )
    DIMENSION.open(min(8, d_model - 1), Between(0, d_model - 1))
    spans = [n for n in (32, 64, 128, 256, 512, 1024) if n < available] + [available]
    WAVE_SPAN.open(spans[min(1, len(spans) - 1)], spans)
    with st.container(key="wave_controls", horizontal=True, vertical_alignment="bottom"):
        dimension = st.slider("Dimension", 0, d_model - 1, key=DIMENSION.key, persist_state="session")
        span = available
        if len(spans) > 1:
            span = int(st.select_slider("Positions", spans, key=WAVE_SPAN.key, persist_state="session"))
    table = table_of(scene, stack, span)
    tokens = scene.source if stack == "encoder" else scene.target
    title = wave_title(dimension, d_model, layout)
    left, *right = st.columns([5, 3], gap="medium") if layout else [st.container()]
    with left:
        placed(
            wave(table, dimension, layout, len(tokens), trained=trained_of(scene)),
            key="wave",
            name=title,
            alt=f"{title}. Values at the first {span} positions"
            + (", together with the other function of the same pair." if layout else "."),
            table=lambda: wave_table(table, dimension, layout),
        )
    for column in right:
        with column:
            assert layout
            placed(
                wavelength_chart(d_model, dimension, layout, len(tokens)),
                key="wavelengths",
                name="Wavelength of each pair",
                alt="Wavelengths of all pairs on a logarithmic axis: a straight line from 6.28 positions upwards.",
                table=lambda: wavelength_table(d_model),
            )
    if layout:
        st.caption("Dots are the numbers of the checkpoint's table; the line is the formula between whole positions.")
    elif said := said_of_untrained(scene, "stand on the red ground"):
        st.caption(said.strip())


@section
def _similarity(scene: Scene, stack: Stack) -> None:
    layout, table = layout_of(scene), table_of(scene, stack, min(64, trained_of(scene) or 64))
    st.header("How alike two positions are", anchor=False)
    triplet(
        "section 3.5",
        r"PE_p\cdot PE_{p+k}=\sum_i\cos\frac{k}{10000^{2i/d_{model}}}" if layout else r"PE_p\cdot PE_{p+k}",
        "Sine and cosine stand in pairs, and sin a sin b + cos a cos b = cos(a − b): the product of two positions "
        "depends on their distance alone, and is largest for a position with itself."
        if layout
        else "Nothing forces learned positions to depend on the distance alone. The band shows how far they do not.",
        together(lines_from(products, "wide =", "return"), lines_from(over_distance, "matrix =", "diagonals =")),
        shape="products: " + shape_text("PP", (len(table), len(table))),
    )
    title = f"PE · PE, {len(table)} × {len(table)} positions"
    left, right = st.columns([1, 1], gap="medium")
    with left:
        placed(
            similarity_matrix(table, title=title),
            key="similarity",
            name=title,
            alt=f"{title}: largest on the diagonal." if layout else title,
            table=lambda: matrix_table(table),
        )
    found = over_distance(table)
    with right:
        placed(
            similarity_curve(table, title="PE(p) · PE(p+k) over the distance k", formula=bool(layout)),
            key="distance",
            name="PE(p) · PE(p+k) over the distance k",
            alt=f"At distance 0 the product is {found.mean[0]:.2f} on average, at the longest {found.mean[-1]:.2f}. At "
            f"one distance it differs by at most {number(found.spread, 2)} from place to place.",
            table=lambda: curve_table(table),
        )
    st.caption(
        f"At the same distance, products differ by at most **{number(found.spread, 2)}** from place to place among "
        f"the first {len(table)} positions"
        + (": rounding of float32. Only the distance counts." if layout else ".")
        + said_of_untrained(scene, "are left out")
    )

"""Sections of Positions: the encoding that the loaded checkpoint adds to the embeddings (paper, section 3.5)."""

import numpy as np
import streamlit as st

from app.figures.layouts import LAYOUT_NAMES, layout_formula
from app.figures.sinusoids import Layout
from app.languages import _, gettext_noop
from app.library.source_code import lines_from, lines_of_definition
from app.stage.controls import Controls
from app.stage.scene import Scene
from app.stage.section import section
from app.state.choice import Between
from app.state.choices import DIMENSION, WAVE_SPAN
from app.views.positions.encoding_matrix import encoding_heatmap, encoding_names, encoding_table, positions_shown
from app.views.positions.rotation_sections import layout_of, layouts, rotation, table_of, trained_of, untrained_text
from app.views.positions.similarity_section import similarity
from app.views.positions.sizes_section import sizes
from app.views.positions.waves import wave, wave_table, wave_title, wavelength_chart, wavelength_table
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet
from transformer.analysis.edits.checks import Stack
from transformer.model.positions import PositionalEncoding, sinusoids

LEARNED = gettext_noop(
    "This checkpoint **learned** a vector for each position instead (the paper's Table 3, row E, found the results "
    "nearly identical). What you see is what training made of it."
)


def encodings(scene: Scene, controls: Controls) -> None:
    """Draws the sections: the encoding itself, its waves, its layouts, its rotation, its size."""
    stack = controls.stack()
    row = controls.row(stack)
    if scene.config.positions == "none":
        sees = (
            _(
                "This checkpoint has no positions: nothing is added to the embeddings, so its encoder sees the words "
                "as a set, without an order."
            )
            if scene.subject.window is None
            else _(
                "This checkpoint has no positions: nothing is added to the embeddings, so its encoder sees of their "
                "order only who is near whom, by its attention window."
            )
        )
        none = _("There is no encoding to draw; the paper's is below, and the sizes at the end.")
        st.info(f"{sees} {none}")
    else:
        _encoding(scene, stack, row)
        _waves(scene, stack)
        similarity(scene, stack, row)
    layouts(scene)
    if scene.config.positions != "none":
        rotation(scene, stack)
    sizes(scene, stack, row)


@section
def _encoding(scene: Scene, stack: Stack, row: int) -> None:
    layout = layout_of(scene)
    st.header(_("The encoding"), anchor=False)
    tokens = scene.source if stack == "encoder" else scene.target
    whole = table_of(scene, stack)
    rows = positions_shown(len(tokens), scene.config.d_model, len(whole))
    rows = min(rows, max(len(tokens), trained_of(scene) or rows))
    table = whole[:rows]
    kind = _(LAYOUT_NAMES[layout]) if layout else _("as learned by the {stack}", stack=_(stack))
    title = _(
        "Positional encoding, {kind}: {positions} positions × {dimensions} dimensions",
        kind=kind,
        positions=rows,
        dimensions=scene.config.d_model,
    )
    limit = 1.0 if layout else float(np.abs(table).max()) or 1.0
    show_figure(
        encoding_heatmap(table, tokens, title=title, limit=limit, row=row),
        key="encoding",
        name=title,
        alt=_rows_text(scene, stack, title, len(tokens)) + _columns_text(layout, scene.config.d_model),
        table=lambda: encoding_table(table, encoding_names(scene.config.d_model, layout), tokens),
    )
    st.caption(
        _(
            "One row per position. The pos of the formula counts from 0: position 1 has pos 0. The marks at the left "
            "are the tokens of this sentence; the one that is chosen above is framed, and named over the picture. The "
            "table has them all."
        )
        + untrained_text(scene, _("are drawn only where this sentence reaches them"))
    )
    triplet(
        _("section 3.5"),
        layout_formula(layout) if layout else "",
        " ".join(_formula_sentences(layout)) if layout else _(LEARNED),
        lines_of_definition("model/positions.py", "sinusoids" if layout else "PositionalEncoding.__init__"),
        shape=shape_text("PD", table.shape),
    )


def _rows_text(scene: Scene, stack: Stack, title: str, count: int) -> str:
    """What the rows of the heatmap are; `count`: the tokens of the sentence."""
    if scene.subject.is_edited_at(f"{stack}.embedding.positions"):
        return _(
            "{title}. Without edits, each row is added to the embedding of the token at that position, and the first "
            "{count} rows are used by this sentence.",
            title=title,
            count=count,
        )
    return _(
        "{title}. Each row is added to the embedding of the token at that position; the first {count} rows are "
        "used by this sentence.",
        title=title,
        count=count,
    )


def _formula_sentences(layout: Layout) -> list[str]:
    sentences = [
        _(
            "Attention by itself does not know order. So each position has a vector of its own, which is added to the "
            "embedding: sines and cosines, a wavelength for each pair of dimensions."
        )
    ]
    if layout == "concatenated":
        sentences.append(_("This checkpoint has them half and half; the paper's formula has 2i and 2i+1."))
    return sentences


def _columns_text(layout: Layout | None, d_model: int) -> str:
    """What the heatmap of sinusoids looks like; "" for a learned table, and for a single pair of dimensions."""
    if not layout or d_model < 4:
        return ""
    if layout == "interleaved":
        return " " + _("Left columns change from position to position, right columns hardly at all.")
    return " " + _("Left columns of each half change from position to position, right columns hardly at all.")


@section
def _waves(scene: Scene, stack: Stack) -> None:
    layout, d_model = layout_of(scene), scene.config.d_model
    available = len(table_of(scene, stack))
    st.header(_("One dimension, one wave") if layout else _("One dimension over the positions"), anchor=False)
    triplet(
        _("section 3.5"),
        r"\lambda_i = 2\pi\cdot 10000^{2i/d_{model}}" if layout else "",
        _(
            "“The wavelengths form a geometric progression from 2π to 10000 · 2π.” Short waves tell neighbours apart, "
            "long ones the beginning from the end."
        )
        if layout
        else _("Without a formula there is no wavelength: a dimension is whatever training made of it."),
        lines_from(sinusoids, "exponent =", "angle =") if layout else lines_from(PositionalEncoding, "nn.Parameter"),
        shape=("angle: " + shape_text(("P", "D/2"), (scene.config.max_positions, (d_model + 1) // 2)))
        if layout
        else shape_text("PD", (scene.config.max_positions, d_model)),
    )
    DIMENSION.open(min(8, d_model - 1), Between(0, d_model - 1))
    spans = [n for n in (32, 64, 128, 256, 512, 1024) if n < available] + [available]
    WAVE_SPAN.open(spans[min(1, len(spans) - 1)], spans)
    with st.container(key="wave_controls", horizontal=True, vertical_alignment="bottom"):
        dimension = st.slider(_("Dimension"), 0, d_model - 1, key=DIMENSION.key, persist_state="session")
        span = available
        if len(spans) > 1:
            span = int(st.select_slider(_("Positions"), spans, key=WAVE_SPAN.key, persist_state="session"))
    table = table_of(scene, stack, span)
    tokens = scene.source if stack == "encoder" else scene.target
    title = wave_title(dimension, d_model, layout)
    left, right = st.columns([5, 3], gap="medium") if layout else (st.container(), None)
    with left:
        show_figure(
            wave(table, dimension, layout, len(tokens), trained=trained_of(scene)),
            key="wave",
            name=title,
            alt=_(
                "{title}. Values at the first {count} positions, together with the other function of the same pair.",
                title=title,
                count=span,
            )
            if layout
            else _("{title}. Values at the first {count} positions.", title=title, count=span),
            table=lambda: wave_table(table, dimension, layout),
        )
    if layout and right:
        with right:
            show_figure(
                wavelength_chart(d_model, dimension, layout, len(tokens)),
                key="wavelengths",
                name=_("Wavelength of each pair"),
                alt=_("Wavelengths of all pairs on a logarithmic axis: a straight line from 6.28 positions upwards."),
                table=lambda: wavelength_table(d_model),
            )
    if layout:
        st.caption(
            _("Dots are the numbers of the checkpoint's table; the line is the formula between whole positions.")
        )
    elif (trained_of(scene) or span) < span:
        st.caption(untrained_text(scene, _("are on the red ground")).strip())

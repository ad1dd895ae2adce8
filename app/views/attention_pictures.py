"""Pictures of attention for one translation: lines, all heads at a glance, one head as a matrix.

They are a fragment: choosing a head draws them again and nothing else.
"""

import numpy as np
import streamlit as st

from app import components, models
from app.figures.axes import TokenAxis
from app.figures.heads import clearest_head, head_facts
from app.figures.lines import attention_lines
from app.figures.matrix import attention_matrix, matrix_alt, matrix_csv, matrix_table, matrix_width
from app.figures.mosaic import LARGEST_TILE, head_mosaic
from app.models import Kind
from app.session import HEAD, KIND, LAYER, Opened, is_dark
from transformer.config import BOS
from transformer.decoding.translation import Hypothesis, Translation

KINDS: dict[Kind, str] = {
    "cross": "Encoder-decoder attention",
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
}
SHORT: dict[Kind, str] = {"cross": "Encoder-decoder", "encoder": "Encoder self", "decoder": "Decoder self"}
EXPLAINED: dict[Kind, str] = {
    "cross": "While the decoder writes each piece, which pieces of the source does it look at? "
    "A row is computed when the decoder *reads* one piece and *predicts* the next.",
    "encoder": "Each piece of the source looks at all pieces of the source.",
    "decoder": "Each piece of the translation looks at the pieces before it and at itself; what comes later is masked. "
    "A row is computed when the decoder *reads* one piece and *predicts* the next.",
}
PLOT = {"displayModeBar": False}


@st.fragment
def attention_pictures(opened: Opened, translation: Translation, hypothesis: Hypothesis) -> None:
    """All pictures of attention for this hypothesis."""
    st.header("Where it looked", anchor=False)
    with st.container(key="choose", horizontal=True, vertical_alignment="bottom"):
        kind: Kind = st.segmented_control(
            "Attention",
            list(KINDS),
            format_func=SHORT.__getitem__,
            default="cross",
            required=True,
            key=KIND,
            bind="query-params",
        )
        found = models.attention(opened.file, translation.source_ids, hypothesis.ids, kind)
        queries, keys = axes(opened, translation, hypothesis, kind)
        layer, head = _choose_head(found.weights, queries, keys)
    st.caption(EXPLAINED[kind])
    weights = found.weights[layer, head]
    title = f"{KINDS[kind]}, layer {layer + 1}, head {head + 1}"
    dark = is_dark()
    alt = matrix_alt(weights, queries, keys, title)
    with st.container(key="lines"):
        components.lines(
            attention_lines(weights, queries, keys, title=title, alt=alt, dark=dark), key="attention_lines"
        )
    components.export("lines", f"{title} - lines", key="export_lines")
    with st.container(key="duo"):
        left, right = st.columns([2, 5], gap="large")
        with left:
            _mosaic(found.weights, layer, head, kind, dark)
            _facts(weights, keys)
        with right:
            _matrix(weights, found.mask, queries, keys, title, alt, dark)


def axes(opened: Opened, translation: Translation, hypothesis: Hypothesis, kind: Kind) -> tuple[TokenAxis, TokenAxis]:
    """(queries, keys) of this kind of attention."""
    source = TokenAxis(
        f"{opened.task.source} (source)", "encoder", tuple(piece.text for piece in translation.source_pieces)
    )
    read = (opened.translator.tokenizer.piece(BOS), *hypothesis.pieces[:-1])
    target = f"{opened.task.target} (translation)"
    if kind == "encoder":
        return source, source
    writer = TokenAxis(target, "decoder", read, hypothesis.pieces)
    return writer, source if kind == "cross" else TokenAxis(f"{target}, as read", "decoder", read)


def _choose_head(weights: np.ndarray, queries: TokenAxis, keys: TokenAxis) -> tuple[int, int]:
    """Layer and head, from 0. On opening: the clearest, see `app.figures.heads.clarity`."""
    layers, heads = weights.shape[:2]
    clearest = clearest_head(weights, queries.predicts or queries.tokens, keys.tokens)
    chosen = []
    for label, key, count, default in (("Layer", LAYER, layers, clearest[0]), ("Head", HEAD, heads, clearest[1])):
        options = list(range(1, count + 1))
        if count <= 12:
            value = st.segmented_control(
                label, options, default=default + 1, required=True, key=key, bind="query-params"
            )
        else:
            value = st.selectbox(label, options, index=default, key=key, bind="query-params")
        chosen.append(int(value or default + 1) - 1)
    st.button(
        "Clearest head",
        key="clearest",
        on_click=_select,
        args=clearest,
        help="The head that looks most sharply at words (not at punctuation or </s>), and at another from row to row. "
        "The page opens with it.",
    )
    return chosen[0], chosen[1]


def _select(layer: int, head: int) -> None:
    st.session_state[LAYER] = layer + 1
    st.session_state[HEAD] = head + 1


def _clicked() -> None:
    # Trap: the chart forgets its own selection as soon as it is drawn anew, so it is copied here
    # (test_a_click_on_the_overview_chooses_the_head).
    points = st.session_state["mosaic"].selection.points
    if points:
        _select(*points[0]["customdata"][:2])


def _mosaic(weights: np.ndarray, layer: int, head: int, kind: Kind, dark: bool) -> None:
    st.subheader("All layers and heads", anchor=False)
    layers, heads, rows, columns = weights.shape
    st.plotly_chart(
        head_mosaic(weights, layer=layer, head=head, dark=dark),
        key="mosaic",
        on_select=_clicked,
        selection_mode="points",
        config=PLOT,
        alt=f"{KINDS[kind]} of {layers} layers with {heads} heads each, as small pictures; "
        f"layer {layer + 1}, head {head + 1} is framed. The buttons Layer and Head choose another.",
    )
    note = "Click a picture to see it large. One colour scale for all, 0 to 1."
    if max(rows, columns) > LARGEST_TILE:
        note += " At this length a dot stands for the strongest weight of a few cells."
    st.caption(note)


def _facts(weights: np.ndarray, keys: TokenAxis) -> None:
    facts = head_facts(weights, keys.tokens)
    st.caption(
        f"This head: strongest weight of a row {facts['strongest']:.2f} on average, entropy {facts['entropy']:.2f} "
        f"of {facts['even']:.2f} bits; {facts['sinks']:.0%} of the attention lies on `</s>` and punctuation."
    )


def _matrix(
    weights: np.ndarray, mask: np.ndarray, queries: TokenAxis, keys: TokenAxis, title: str, alt: str, dark: bool
) -> None:
    st.subheader("One head in numbers", anchor=False)
    narrowest = matrix_width(bool(queries.predicts), len(keys))
    st.html(f"<style>.st-key-matrix [data-testid='stElementContainer'] {{ min-width: {narrowest}px; }}</style>")
    with st.container(key="matrix"):
        st.plotly_chart(
            attention_matrix(weights, queries, keys, title=title, mask=mask, dark=dark),
            key="head_matrix",
            config=PLOT,
            alt=alt,
        )
    st.caption("Rows look, columns are looked at. Each row sums to 1. Grey: masked. A point: less than .005.")
    with st.container(horizontal=True, vertical_alignment="center"):
        components.export("matrix", title, key="export_matrix")
        st.download_button(
            "CSV", lambda: matrix_csv(weights, queries, keys), f"{title}.csv", "text/csv", key="csv", on_click="ignore"
        )
    table = st.expander("The same numbers as a table", on_change="rerun", key="matrix_table")
    if table.open:
        table.dataframe(matrix_table(weights, queries, keys), alt=title, hide_index=True)

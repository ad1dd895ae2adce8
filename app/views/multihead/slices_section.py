"""A section of Multi-head: one of the four matrices of an attention cut into its heads, and the chosen head's slice."""

from typing import cast

import streamlit as st

from app.compute.projections import Matrix, input_site, projection
from app.figures.head_slices import (
    PLAIN,
    WHOLE_UP_TO,
    beyond,
    difference,
    lengths_table,
    matrix_table,
    reach,
    slice_lengths,
    slice_of,
    slice_picture,
    slices_map,
    window,
)
from app.figures.theme import beyond_text, number
from app.library.source_code import SourceLines, lines_from
from app.stage.heads import SHORT
from app.stage.scene import Scene
from app.stage.section import section
from app.state.choices import MATRIX, choose_head
from app.views.shared.placed import placed
from app.views.shared.triplet import shape_text, triplet
from transformer.model.attention import MultiHeadAttention
from transformer.model.attention_kinds import KINDS, SITES, Kind

MATRICES: list[Matrix] = ["query", "key", "value", "output"]


@section
def slices(scene: Scene, kind: Kind, layer: int, head: int) -> None:
    """The section. A choice in it draws it again with the head that the page was drawn with last."""
    st.header("Heads are slices of one matrix", anchor=False)
    MATRIX.open(allowed=MATRICES)
    st.segmented_control(
        "Matrix",
        MATRICES,
        format_func=lambda matrix: f"{matrix} ${PLAIN[matrix]}$",  # a formula alone is no name for a screen reader
        required=True,
        key=MATRIX.key,
        persist_state="session",
    )
    name = cast(Matrix, MATRIX.value)
    config = scene.config
    site, heads, d_k = SITES[kind].format(layer), config.heads, config.d_k
    found = projection(scene.subject, site, name)
    matrix, limit = found.matrix, reach(found.matrix)
    part = slice_of(matrix, name, head, heads)  # (D, E), of W^O (E, D)
    where = f"{SHORT[kind].lower()}, layer {layer + 1}"
    free, inner = ("output", "context") if name == "output" else ("the input", name)
    left, right = st.columns([1, 1], gap="medium")
    with left:
        lengths = slice_lengths(matrix, name, heads)
        size = f"{config.d_model} × {config.d_model}"
        whole = f"{PLAIN[name]}, {KINDS[kind]}, layer {layer + 1}"
        placed(
            slices_map(matrix, name, head, heads, title=f"{PLAIN[name]}, {where}: {size}"),
            key="slices",
            name=whole,
            alt=f"{whole}: {size} weights in {heads} {'bands of rows' if name == 'output' else 'stripes of columns'}, "
            f"one a head. Length of each slice: {', '.join(f'{n:.2f}' for n in lengths[:16])}"
            + (" and so on." if heads > 16 else "."),
            table=lambda: (
                matrix_table(matrix, "row", "column")
                if config.d_model <= WHOLE_UP_TO
                else lengths_table(matrix, name, heads)
            ),
            on_click=lambda bar: choose_head(layer, int(bar.customdata) - 1),
        )
    with right:
        shown = window(config.d_model, d_k)
        first = first_of(f"Dimensions of {free} from", config.d_model, shown, "slice_from")
        down, across = (0, first) if name == "output" else (first, 0)
        seen = part[:, first : first + shown] if name == "output" else part[first : first + shown]
        sides = f"{part.shape[0]} × {part.shape[1]}"
        own = f"{whole}, head {head + 1}"
        placed(
            slice_picture(seen, name, limit=limit, first=first, title=f"{PLAIN[name]} of head {head + 1}: {sides}"),
            key="slice",
            name=own,
            alt=f"{own}: its slice of {sides} weights, length {lengths[head]:.2f}.",
            table=lambda: matrix_table(
                seen, *((inner, free) if name == "output" else (free, inner)), down=down, right=across
            ),
        )
    st.caption(_said(scene, kind, site, name, head) + " " + _colors(config.d_model, limit, beyond(matrix)))
    triplet(
        "section 3.2.2",
        r"\begin{gathered}\mathrm{head}_i=\mathrm{Attention}(QW_i^Q,\,KW_i^K,\,VW_i^V)\\[4pt]"
        r"W_i^Q\in\mathbb{R}^{d_{model}\times d_k}\end{gathered}",
        "The paper writes a small matrix for each head. Put side by side the h small ones are one large one: a single "
        "product makes the queries of all heads, which are then cut apart. No two heads share a weight. "
        "(torch keeps each matrix transposed; here it stands as in the formula.)",
        _code(),
        shape=shape_text(("D", "D"), (config.d_model, config.d_model)),
    )


def _said(scene: Scene, kind: Kind, site: str, name: Matrix, head: int) -> str:
    """What the slice alone gives, against what the model recorded."""
    config = scene.config
    source = input_site(config, kind, site, name)
    target = f"{site}.head_outputs" if name == "output" else f"{site}.{name}"
    found = scene.record(source, target)
    weights = projection(scene.subject, site, name)
    part = slice_of(weights.matrix, name, head, config.heads)
    if name == "output":
        off = difference(found[source][head], part, 0.0, found[target][head])
        return (
            f"The context of head {head + 1} times its slice alone is what this head writes: at most "
            f"**{number(off, 1)}** from the model's own `head_outputs`."
        )
    bias = weights.bias[head * config.d_k : (head + 1) * config.d_k]
    off = difference(found[source], part, bias, found[target][head])
    words = {"query": "queries", "key": "keys", "value": "values"}[name]
    return (
        f"x times this slice alone, plus its {config.d_k} biases, gives the {words} of head {head + 1}: at most "
        f"**{number(off, 1)}** from what the model computed with the whole matrix."
    )


def _colors(d_model: int, limit: float, share: float) -> str:
    whole = (
        "The whole matrix is drawn in 255 steps of colour, the slice with its true numbers; the tables have all digits."
        if d_model <= WHOLE_UP_TO
        else f"{d_model} × {d_model} weights are more than a screen has room for: the bars show how long each head's "
        "slice is, the picture beside them the chosen slice."
    )
    return (
        f"{whole} Colours end at ±{number(limit, 2)}, three times the root mean square; "
        f"{beyond_text(share)} the weights are beyond."
    )


def _code() -> SourceLines:
    """The four matrices, and the line that cuts what they give into heads."""
    made = lines_from(MultiHeadAttention.__init__, "self.query", "self.output")
    cut = lines_from(MultiHeadAttention.split, "return")
    return SourceLines(made.path, made.first, f"{made.text}\n...\n{cut.text}")


def first_of(label: str, length: int, count: int, key: str) -> int:
    """The first of `count` dimensions that are shown of `length`; a slider where not all are."""
    starts = list(range(0, length, count))
    if len(starts) == 1:
        return 0
    return int(st.select_slider(label, starts, value=0, key=f"{key}_{length}_{count}", persist_state="session"))

"""A section of Multi-head: one of the four matrices of an attention cut into its heads, and the chosen head's slice."""

from typing import cast

import numpy as np
import streamlit as st

from app.compute.projections import Matrix, Projection, input_site, projection
from app.figures.head_slices import (
    PLAIN,
    WHOLE_UP_TO,
    difference,
    lengths_table,
    matrix_table,
    share_beyond,
    slice_lengths,
    slice_of,
    slice_picture,
    slices_map,
    window,
)
from app.figures.theme import color_limit, number
from app.languages import _, gettext_noop, with_label
from app.languages.numbers import formatted
from app.library.source_code import SourceLines, joined_lines, lines_from
from app.stage.heads import SHORT_INSIDE
from app.stage.scene import Scene
from app.stage.section import section
from app.state.choice import Choice
from app.state.choices import MATRIX
from app.state.detail_choices import SLICE_FROM
from app.state.events import choose_head
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet
from transformer.model.attention import MultiHeadAttention
from transformer.model.attention_kinds import KINDS, SITES, Kind

NAMES: dict[Matrix, str] = {
    "query": gettext_noop("query"),
    "key": gettext_noop("key"),
    "value": gettext_noop("value"),
    "output": gettext_noop("output"),
}


@section
def slices(scene: Scene, kind: Kind, layer: int, head: int) -> None:
    """Draws the section. A choice in it redraws only this section."""
    st.header(_("Heads are slices of one matrix"), anchor=False)
    MATRIX.open(allowed=NAMES)
    st.segmented_control(
        _("Matrix"),
        list(NAMES),
        # A screen reader cannot read a formula alone, so there is a word, too
        format_func=lambda matrix: f"{_(NAMES[matrix])} ${PLAIN[matrix]}$",
        required=True,
        key=MATRIX.key,
        persist_state="session",
    )
    name = cast(Matrix, MATRIX.value)
    config = scene.config
    site, heads = SITES[kind].format(layer), config.heads
    found = projection(scene.subject, site, name)
    matrix = found.matrix
    lengths = slice_lengths(matrix, name, heads)
    whole = _("{matrix}, {kind}, layer {layer}", matrix=PLAIN[name], kind=_(KINDS[kind]), layer=layer + 1)
    left, right = st.columns([1, 1], gap="medium")
    with left:
        size = f"{config.d_model} × {config.d_model}"
        where = _("{kind}, layer {layer}", kind=_(SHORT_INSIDE[kind]), layer=layer + 1)
        show_figure(
            slices_map(matrix, name, head, heads, title=with_label(f"{PLAIN[name]}, {where}", size)),
            key="slices",
            name=whole,
            alt=_slices_alt(whole, size, lengths, is_output=name == "output"),
            table=lambda: (
                matrix_table(matrix, _("row"), _("column"))
                if config.d_model <= WHOLE_UP_TO
                else lengths_table(matrix, name, heads)
            ),
            on_click=lambda bar: choose_head(layer, int(bar.customdata) - 1),
        )
    with right:
        _one_slice(found, name, head, heads, whole)
    st.caption(_difference_text(scene, kind, site, name, head) + " " + _colors(matrix))
    triplet(
        _("section 3.2.2"),
        r"\begin{gathered}\mathrm{head}_i=\mathrm{Attention}(QW_i^Q,\,KW_i^K,\,VW_i^V)\\[4pt]"
        r"W_i^Q\in\mathbb{R}^{d_{model}\times d_k}\end{gathered}",
        _(
            "The paper writes a small matrix for each head. Put side by side the h small ones are one large one: a "
            "single product makes the queries of all heads, which are then cut apart. No two heads share a weight. "
            "(torch keeps each matrix transposed; here it is as in the formula.)"
        ),
        _matrices_code(),
        shape=shape_text(("D", "D"), (config.d_model, config.d_model)),
    )


def _one_slice(found: Projection, name: Matrix, head: int, heads: int, whole: str) -> None:
    """A head's slice, or the part of it that the slider shows. `whole`: the name of the matrix, in words."""
    part = slice_of(found.matrix, name, head, heads)  # (D, E), of W^O (E, D)
    d_k, d_model = sorted(part.shape)
    shown = window(d_model, d_k)
    if name == "output":
        sides = _("context"), _("output")
        first = first_of(_("Dimensions of output from"), d_model, shown, SLICE_FROM)
        seen, down, across = part[:, first : first + shown], 0, first
    else:
        sides = _("the input"), _(NAMES[name])
        first = first_of(_("Dimensions of the input from"), d_model, shown, SLICE_FROM)
        seen, down, across = part[first : first + shown], first, 0
    own = _("{matrix}, head {head}", matrix=whole, head=head + 1)
    size = f"{part.shape[0]} × {part.shape[1]}"
    show_figure(
        slice_picture(
            seen,
            name,
            limit=color_limit(found.matrix),
            first=first,
            title=_("{matrix} of head {head}: {size}", matrix=PLAIN[name], head=head + 1, size=size),
        ),
        key="slice",
        name=own,
        alt=_(
            "{head}: its slice of {size} weights, length {length:.2f}.",
            head=own,
            size=size,
            length=slice_lengths(found.matrix, name, heads)[head],
        ),
        table=lambda: matrix_table(seen, *sides, down=down, right=across),
    )


def _slices_alt(matrix: str, size: str, lengths: np.ndarray, *, is_output: bool) -> str:
    """The picture of the whole matrix in words."""
    weights = (
        _(
            "{matrix}: {size} weights in {count} bands of rows, one per head.",
            matrix=matrix,
            size=size,
            count=len(lengths),
        )
        if is_output
        else _(
            "{matrix}: {size} weights in {count} stripes of columns, one per head.",
            matrix=matrix,
            size=size,
            count=len(lengths),
        )
    )
    shown = ", ".join(formatted(length, ".2f") for length in lengths[:16])
    if len(lengths) > 16:
        return f"{weights} " + _("Length of each slice: {lengths} and so on.", lengths=shown)
    return f"{weights} " + _("Length of each slice: {lengths}.", lengths=shown)


def _difference_text(scene: Scene, kind: Kind, site: str, name: Matrix, head: int) -> str:
    """How far the result of the slice alone is from what the model recorded."""
    config = scene.config
    source = input_site(config, kind, site, name)
    target = f"{site}.head_outputs" if name == "output" else f"{site}.{name}"
    found = scene.record(source, target)
    weights = projection(scene.subject, site, name)
    part = slice_of(weights.matrix, name, head, config.heads)
    if name == "output":
        off = difference(found[source][head], part, 0.0, found[target][head])
        return _(
            "The context of head {head} times its slice alone is what this head writes: at most **{difference}** from "
            "the model's own `head_outputs`.",
            head=head + 1,
            difference=number(off, 1),
        )
    bias = weights.bias[head * config.d_k : (head + 1) * config.d_k]
    off = difference(found[source], part, bias, found[target][head])
    return _(
        "x times this slice alone, plus its {count} biases, gives the {vectors} of head {head}: at most "
        "**{difference}** from what the model computed with the whole matrix.",
        count=config.d_k,
        vectors={"query": _("queries"), "key": _("keys"), "value": _("values")}[name],
        head=head + 1,
        difference=number(off, 1),
    )


def _colors(matrix: np.ndarray) -> str:
    d_model = len(matrix)
    whole = (
        _(
            "The whole matrix is drawn in 255 steps of colour, the slice with its true numbers; the tables have all "
            "digits."
        )
        if d_model <= WHOLE_UP_TO
        else _(
            "{d_model} × {d_model} weights are more than a screen has room for: the bars show how long each head's "
            "slice is, the picture beside them the chosen slice.",
            d_model=d_model,
        )
    )
    end = _(
        "Colours end at ±{limit}: three times the root mean square, or the largest weight if that is smaller;",
        limit=number(color_limit(matrix), 2),
    )
    return f"{whole} {end} {beyond_text(share_beyond(matrix))}"


def beyond_text(share: float) -> str:
    """How many weights are outside the colour scale."""
    if not share:
        return _("no weight is outside this range.")
    if share < 0.001:
        return _("less than 0.1% of the weights are outside this range.")
    return _("{share:.1%} of the weights are outside this range.", share=share)


def _matrices_code() -> SourceLines:
    """The code that makes the four matrices, and the line that splits their outputs into heads."""
    made = lines_from(MultiHeadAttention.__init__, "self.query", "self.output")
    cut = lines_from(MultiHeadAttention.split, "return")
    return joined_lines(made, cut)


def first_of(label: str, length: int, count: int, choice: Choice[int]) -> int:
    """The first of the `count` dimensions, out of `length`, that are shown. Draws a slider if not all are shown."""
    starts = list(range(0, length, count))
    if len(starts) == 1:
        return 0
    first = choice.open(allowed=starts)
    st.select_slider(label, starts, key=choice.key, persist_state="session")
    return first

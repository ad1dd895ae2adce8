"""A section of Multi-head: the vector that each head adds to the output, for the chosen query."""

import streamlit as st

from app.components.chart import Point
from app.compute.projections import projection
from app.figures.axes import in_words
from app.figures.tensor import NUMBERS_UP_TO
from app.figures.theme import Role, number
from app.languages import _, gettext_noop, with_label
from app.library.source_code import lines_from
from app.stage.heads import SHORT
from app.stage.scene import Scene
from app.stage.section import section
from app.state.detail_choices import WRITTEN_FROM
from app.state.events import choose_head
from app.views.multihead.head_outputs import (
    Written,
    bars_table,
    sum_difference,
    written_bars,
    written_heatmap,
    written_table,
)
from app.views.multihead.slices_section import first_of
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet
from transformer.model.attention import MultiHeadAttention
from transformer.model.attention_kinds import KINDS, SITES, Kind

ADDED_UP = gettext_noop(
    "Click a head's bar to choose it. Lengths do not add up: heads point in different directions. Their parts "
    "along the sum do, and make **{length:.3f}**, the length of the output. Over all {rows} rows and "
    "{dimensions} dimensions the sum of the heads and the bias is at most **{difference}** from the model's "
    "own `output`, which concatenates the heads and multiplies once."
)
ADDED_UP_TO_NOTHING = gettext_noop(
    "Click a head's bar to choose it. Lengths do not add up: heads point in different directions. Their parts "
    "along the sum do, and make **{length:.3f}**, the length of the sum. An edit replaces the sum by 0: this "
    "attention adds nothing to the residual stream."
)


@section
def written_by_heads(scene: Scene, kind: Kind, layer: int, head: int, row: int) -> None:
    """Draws the section. A choice in it redraws only this section."""

    def clicked(bar: Point) -> None:
        if bar.x < scene.config.heads:  # else it is the bias, or the sum
            choose_head(layer, int(bar.x))

    st.header(_("What each head writes"), anchor=False)
    site = SITES[kind].format(layer)
    queries = scene.axes(kind)[0]
    heads = scene.record(f"{site}.head_outputs")[f"{site}.head_outputs"]  # (H, Q, D)
    output = scene.record(f"{site}.output")[f"{site}.output"]  # (Q, D), of a pass that concatenates
    bias = projection(scene.subject, site, "output").bias
    is_off = scene.subject.is_edited_at(f"{site}.output")  # only to 0
    total = heads[:, row].sum(axis=0) + bias if is_off else output[row]
    written = Written(heads[:, row], bias, total, is_output=not is_off)
    where = _("{kind}, layer {layer}", kind=_(KINDS[kind]), layer=layer + 1)
    token = in_words(queries.tokens[row])
    name = _("{layer}: what each head writes, row {row}", layer=where, row=row + 1)
    title = _("{kind}, layer {layer}: heads added up for {token}", kind=_(SHORT[kind]), layer=layer + 1, token=token)
    lengths = [
        _("{head} length {length:.2f}, along the sum {part:.2f}", head=label, length=length, part=part)
        for label, length, part in zip(written.names[:18], written.lengths, written.along, strict=False)
    ]
    show_figure(
        written_bars(written, head, title=title),
        key="heads_written",
        name=_("{name}, lengths", name=name),
        alt=with_label(f"{where}, {token}", "; ".join(lengths)),
        table=lambda: bars_table(written),
        on_click=clicked,
    )
    values = {
        "length": written.lengths[-1],
        "rows": len(queries),
        "dimensions": scene.config.d_model,
        "difference": number(sum_difference(heads, bias, output), 1),
    }
    st.caption(_(ADDED_UP_TO_NOTHING if is_off else ADDED_UP, **values))
    triplet(
        _("section 3.2.2; the last line follows from it"),
        r"\begin{aligned}\mathrm{Multi}&\mathrm{Head}(Q,K,V)\\&=\mathrm{Concat}(\mathrm{head}_1,\dots,\mathrm{head}_h)\,W^O"
        r"\\&=\textstyle\sum_{i}\,\mathrm{head}_i\,W_i^O\end{aligned}",
        _(
            "Each head's context is multiplied only with its own rows of $W^O$. So concatenating and multiplying is "
            "the same as letting every head write a vector of width d_model, and adding these up. The sum goes into "
            "the residual stream."
        ),
        lines_from(MultiHeadAttention.sum_of_heads, "by_head =", "return"),
        shape=shape_text(("H", "Q", "D"), heads.shape),
    )
    _numbers(written, head, queries.role, scene.config.d_model, where=where, token=token, name=name)


def _numbers(written: Written, head: int, role: Role, d_model: int, *, where: str, token: str, name: str) -> None:
    """Draws some dimensions of each vector, in numbers."""
    first = first_of(_("Numbers of dimensions from"), d_model, NUMBERS_UP_TO, WRITTEN_FROM)
    last = min(first + NUMBERS_UP_TO, d_model) - 1
    span = {"first": first, "last": last}
    title = _("Dimensions {first} to {last}: each column adds up to its last row", **span)
    show_figure(
        written_heatmap(written, head, role, title=title, first=first, count=NUMBERS_UP_TO),
        key="written_numbers",
        name=_("{name}, dimensions {first} to {last}", name=name, **span),
        alt=_(
            "{layer}, {token}: dimensions {first} to {last} of each head, of the bias and of their sum, in numbers.",
            layer=where,
            token=token,
            **span,
        ),
        table=lambda: written_table(written),
    )

"""A section of Multi-head: the vector that each head adds to the output, for the chosen query."""

import streamlit as st

from app.components.chart import Point
from app.compute.projections import projection
from app.figures.axes import visible
from app.figures.tensor import NUMBERS_UP_TO
from app.figures.theme import number
from app.library.source_code import lines_from
from app.stage.heads import SHORT
from app.stage.scene import Scene
from app.stage.section import section
from app.state.choices import choose_head
from app.views.multihead.head_outputs import (
    AT_A_GLANCE,
    Written,
    bars_table,
    sum_difference,
    written_bars,
    written_heatmap,
    written_table,
)
from app.views.multihead.slices_section import first_of
from app.views.shared.placed import placed
from app.views.shared.triplet import shape_text, triplet
from transformer.model.attention import MultiHeadAttention
from transformer.model.attention_kinds import KINDS, SITES, Kind


@section
def written_by_heads(scene: Scene, kind: Kind, layer: int, head: int, row: int) -> None:
    """Draws the section. A choice in it draws only the section again, with the head of the page."""

    def clicked(bar: Point) -> None:
        if bar.x < scene.config.heads:  # else it is the bias, or the sum
            choose_head(layer, int(bar.x))

    st.header("What each head writes", anchor=False)
    site = SITES[kind].format(layer)
    queries, _ = scene.axes(kind)
    heads = scene.record(f"{site}.head_outputs")[f"{site}.head_outputs"]  # (H, Q, D)
    output = scene.record(f"{site}.output")[f"{site}.output"]  # (Q, D), on the other path: concatenated first
    bias = projection(scene.subject, site, "output").bias
    written = Written(heads[:, row], bias, output[row])
    where = f"{KINDS[kind]}, layer {layer + 1}"
    token = visible(queries.tokens[row])
    name = f"{where}: what each head writes, row {row + 1}"
    placed(
        written_bars(written, head, title=f"{SHORT[kind]}, layer {layer + 1}: heads added up for {token}"),
        key="written",
        name=f"{name}, lengths",
        alt=f"{where}, {token}: "
        + "; ".join(
            f"{said} length {length:.2f}, along the sum {part:.2f}"
            for said, length, part in zip(written.names[:18], written.lengths, written.along, strict=False)
        ),
        table=lambda: bars_table(written),
        on_click=clicked,
    )
    st.caption(
        "Click a head's bar to choose it. Lengths do not add up: heads point in different directions. Their parts "
        "along the sum do, and make "
        f"**{written.lengths[-1]:.3f}**, the length of the output. Over all {len(queries)} rows and "
        f"{scene.config.d_model} dimensions the sum of the heads and the bias is at most "
        f"**{number(sum_difference(heads, bias, output), 1)}** from the model's own `output`, which concatenates the "
        "heads and multiplies once."
    )
    triplet(
        "section 3.2.2",
        r"\begin{aligned}\mathrm{Multi}&\mathrm{Head}(Q,K,V)\\&=\mathrm{Concat}(\mathrm{head}_1,\dots,\mathrm{head}_h)\,W^O"
        r"\\&=\textstyle\sum_{i}\,\mathrm{head}_i\,W_i^O\end{aligned}",
        "Each head's context meets only its own rows of $W^O$. So concatenating and multiplying is the same as letting "
        "every head write a vector of width d_model, and adding these up. The sum goes into the residual stream.",
        lines_from(MultiHeadAttention.sum_of_heads, "by_head =", "return"),
        shape=shape_text(("H", "Q", "D"), heads.shape),
    )
    if written.rows.size <= AT_A_GLANCE:
        placed(
            written_heatmap(written, head, queries.role, title=f"All dimensions of what is added up for {token}"),
            key="written_all",
            name=name,
            alt=f"{where}, {token}: {len(written.names)} rows by {scene.config.d_model} dimensions.",
            table=lambda: written_table(written),
        )
    first = first_of("Numbers of dimensions from", scene.config.d_model, NUMBERS_UP_TO, "written_from")
    last = min(first + NUMBERS_UP_TO, scene.config.d_model) - 1
    title = f"Dimensions {first} to {last}: each column adds up to its last row"
    placed(
        written_heatmap(written, head, queries.role, title=title, first=first, count=NUMBERS_UP_TO),
        key="written_numbers",
        name=f"{name}, dimensions {first} to {last}",
        alt=f"{where}, {token}: dimensions {first} to {last} of each head, of the bias and of their sum, in numbers.",
        table=lambda: written_table(written, first, NUMBERS_UP_TO),
    )

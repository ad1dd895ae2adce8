"""A section of Positions: how alike two positions are, for every pair and by their distance."""

import numpy as np
import streamlit as st

from app.figures.axes import TokenAxis, in_words
from app.figures.theme import number
from app.languages import _
from app.library.source_code import joined_lines, lines_from
from app.stage.scene import Scene
from app.stage.section import section
from app.views.positions.rotation_sections import layout_of, table_of, trained_of, untrained_text
from app.views.positions.similarity import (
    curve_table,
    matrix_table,
    most_alike,
    over_distance,
    products,
    similarity_curve,
    similarity_matrix,
)
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet
from transformer.analysis.edits.checks import Stack


@section
def similarity(scene: Scene, stack: Stack, row: int) -> None:
    """The products of the positions of a stack's table; the chosen position, from 0, is framed."""
    layout, table = layout_of(scene), table_of(scene, stack, min(64, trained_of(scene) or 64))
    st.header(_("How alike two positions are"), anchor=False)
    triplet(
        _("section 3.5"),
        r"PE_p\cdot PE_{p+k}=\sum_i\cos\frac{k}{10000^{2i/d_{model}}}" if layout else r"PE_p\cdot PE_{p+k}",
        _(
            "Sine and cosine are in pairs, and sin a sin b + cos a cos b = cos(a − b): the product of two positions "
            "depends on their distance alone, and is largest for a position with itself."
        )
        if layout
        else _(
            "Products of learned positions may differ at the same distance: the band goes from the smallest to the "
            "largest."
        ),
        joined_lines(lines_from(products, "wide =", "return"), lines_from(over_distance, "matrix =", "diagonals =")),
        shape="products: " + shape_text("PP", (len(table), len(table))),
        origin="derived",
    )
    title = _("PE · PE, {count} × {count} positions", count=len(table))
    left, right = st.columns([1, 1], gap="medium")
    with left:
        show_figure(
            similarity_matrix(table, title=title, row=row if row < len(table) else None),
            key="similarity",
            name=title,
            alt=_("{title}: largest on the diagonal.", title=title) if layout else title,
            table=lambda: matrix_table(table),
        )
    found = over_distance(table)
    title = _("PE(p) · PE(p+k) over the distance k")
    with right:
        show_figure(
            similarity_curve(table, title=title, formula=bool(layout)),
            key="distance",
            name=title,
            alt=_(
                "At distance 0 the product is {first:.2f} on average, at the longest {last:.2f}. At one distance it "
                "differs by at most {spread} from place to place.",
                first=found.mean[0],
                last=found.mean[-1],
                spread=number(found.spread, 2),
            ),
            table=lambda: curve_table(table),
        )
    if row < len(table) > 1:
        st.text(_most_alike_text(table, scene.source if stack == "encoder" else scene.target, row))
    counts = {"spread": number(found.spread, 2), "count": len(table)}
    caption = (
        _(
            "At the same distance, products differ by at most **{spread}** from place to place among the first {count} "
            "positions: rounding of float32. Only the distance counts.",
            **counts,
        )
        if layout
        else _(
            "At the same distance, products differ by at most **{spread}** from place to place among the first {count} "
            "positions.",
            **counts,
        )
    )
    st.caption(caption + untrained_text(scene, _("are left out")))


def _most_alike_text(table: np.ndarray, tokens: TokenAxis, row: int) -> str:
    """Which position is most similar to the one that is chosen above, with its token if the sentence has one there."""

    def named(pos: int) -> str:
        if pos >= len(tokens):
            return f"pos {pos}"
        return _("pos {pos} “{token}”", pos=pos, token=in_words(tokens.tokens[pos]))

    found, product = most_alike(table, row)
    others = [named(pos) for pos in found[:2]]
    return _(
        "Framed: {chosen}, chosen above. Most similar to it: {others}, with PE · PE = {product}.",
        chosen=named(row),
        others=_("{one} and {other}", one=others[0], other=others[1]) if len(others) > 1 else others[0],
        product=number(product, 2),
    )

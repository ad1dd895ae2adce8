"""A section of Scaling: what the division by sqrt(d_k) does to random queries and keys (footnote 4 of the paper)."""

import numpy as np
import streamlit as st

from app.figures.theme import number
from app.languages import _
from app.library.source_code import joined_lines, lines_from
from app.state.choices import WIDTH_OF_HEAD
from app.views.scaling.large_scores import (
    KEYS,
    QUERIES,
    Sharpness,
    jacobian_norms,
    random_products,
    random_sharpness,
)
from app.views.scaling.scaling_charts import curve, curve_table, random_histograms, scores_table
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet


def random_vectors() -> None:
    """Draws the section: their dot products as histograms, and three measures over d_k."""
    st.header(_("Random queries and keys: what √d_k does"), anchor=False)
    d_k = int(WIDTH_OF_HEAD.value)
    without, divided = random_sharpness(d_k)
    products = random_products(d_k).ravel()
    show_figure(
        random_histograms(d_k),
        key="histogram",
        name=_("Dot products of random vectors, d_k {d_k}", d_k=d_k),
        alt=_(
            "Dot products of random vectors of width {d_k} have variance {without}; divided by √{d_k} they have "
            "variance {divided}.",
            d_k=d_k,
            without=number(without.variance),
            divided=number(divided.variance),
        ),
        table=lambda: scores_table(products, products / np.sqrt(d_k)),
    )
    triplet(
        _("section 3.2.1 and footnote 4"),
        r"\begin{gathered}\mathrm{Var}(q\cdot k)=d_k\\[4pt]"
        r"\frac{\partial p_i}{\partial s_j}=p_i\,(\delta_{ij}-p_j)\end{gathered}",
        _(
            "“We suspect that for large values of d_k, the dot products grow large in magnitude, pushing the softmax "
            "function into regions where it has extremely small gradients. To counteract this effect, we scale the dot "
            "products by 1/√d_k.”"
        ),
        joined_lines(
            lines_from(random_products, "query =", "products:"),
            lines_from(random_sharpness, "return"),
            lines_from(jacobian_norms, "jacobian =", "norms:"),
        ),
        shape=shape_text("QK", (QUERIES, KEYS)),
    )
    _curves(d_k, without, divided)
    st.caption(
        _(
            "{queries} random queries with {keys} keys each, components N(0, 1), always the same seed. The gradient is "
            "the Frobenius norm of the softmax's Jacobian, mean over the queries.",
            queries=QUERIES,
            keys=KEYS,
        )
    )


def _curves(d_k: int, without: Sharpness, divided: Sharpness) -> None:
    """Each measure over all d_k, without and with the division."""
    for column, what, title in zip(
        st.columns(3, gap="medium"),
        ("variance", "strongest", "gradient"),
        (_("Variance of the scores"), _("Largest weight of a row"), _("Gradient of the softmax")),
        strict=True,
    ):
        values = [getattr(found, what) for found in (without, divided)]
        with column:
            show_figure(
                curve(what, d_k, title=title),
                key=f"curve_{what}",
                name=title,
                alt=_(
                    "{title} over d_k from 1 to 1,024. At d_k = {d_k}: {without} without the division, {divided} with "
                    "it.",
                    title=title,
                    d_k=d_k,
                    without=number(values[0]),
                    divided=number(values[1]),
                ),
                table=lambda: curve_table(d_k),
            )

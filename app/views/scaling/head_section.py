"""A section of Scaling: the scores of one head of the checkpoint, without and with the division by sqrt(d_k)."""

import numpy as np
import streamlit as st

from app.figures.head_names import head_name
from app.figures.shares import Share
from app.figures.softmax import softmax
from app.figures.theme import number
from app.languages import _
from app.stage.controls import controls
from app.stage.heads import SHORT_INSIDE
from app.stage.scene import Scene
from app.views.scaling.additive_section import HeadScores, additive
from app.views.scaling.large_scores import Sharpness, sharpness
from app.views.scaling.scaling_charts import facts_table, histograms, rows_table, scores_table, strongest_of_rows
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet
from transformer.model.attention_kinds import SITES


def head_scores(scene: Scene) -> None:
    """Draws the section, with a choice of the head."""
    st.header(_("This checkpoint's own scores"), anchor=False)
    kind, layer, head = controls(scene).kind_layer_head()
    site = SITES[kind].format(layer)
    names = ("products", "scores", "mask", "weights", "query", "key")
    found = scene.record(*(f"{site}.{name}" for name in names))
    products, scores, mask, weights, query, key = (found[f"{site}.{name}"][head] for name in names)
    queries, keys = scene.axes(kind)
    short = _("{kind}, layer {layer}, head {head}", kind=_(SHORT_INSIDE[kind]), layer=layer + 1, head=head + 1)
    d_k = scene.config.d_k
    triplet(
        _("section 3.2.1, equation 1"),
        r"\mathrm{Attention}(Q,K,V)=\mathrm{softmax}\!\left(\frac{QK^{\top}}{\sqrt{d_k}}\right)V",
        _(
            "Here d_k = d_model / h = {d_model} / {heads} = {d_k}, so scores are divided by √{d_k} = {root}. The model "
            "was trained with the division; what the softmax would give without it is computed here from the same "
            "products.",
            d_model=scene.config.d_model,
            heads=scene.config.heads,
            d_k=d_k,
            root=number(d_k**0.5),
        ),
        f"{site}.scores",
        shape=shape_text(("Q", "K"), products.shape),
    )
    mine = HeadScores(head_name(kind, layer, head), (queries, keys), query, key, scores, mask, weights)
    if mine.are_edited:
        st.caption(edited_text())
    before, after = sharpness(products, mask), sharpness(scores, mask)
    left, right = st.columns(2, gap="medium")
    with left:
        show_figure(
            histograms(products[mask], scores[mask], title=_("Scores, {head}", head=short)),
            key="head_histogram",
            name=_("{head} - scores", head=mine.name),
            alt=_(
                "{head}: the scores have variance {before} before the division and {after} after it.",
                head=mine.name,
                before=number(before.variance),
                after=number(after.variance),
            ),
            table=lambda: scores_table(products[mask], scores[mask]),
        )
    with right:
        _largest_weights(mine, products, (before, after), short)
    st.table(facts_table(before, after), border="horizontal")
    additive(mine)


def _largest_weights(mine: HeadScores, products: np.ndarray, found: tuple[Sharpness, Sharpness], short: str) -> None:
    """The largest weight of each row, without and with the division. `found`: of the scores before and after it."""
    without, divided, queries = softmax(products, mine.mask), mine.of_scores, mine.axes[0]
    before, after = (Share(each.strongest) for each in found)
    show_figure(
        strongest_of_rows(without, divided, queries, title=_("Largest of each row, {head}", head=short)),
        key="head_rows",
        name=_("{head} - largest weights", head=mine.name),
        alt=_(
            "{head}: the largest weight of a row is {before:.2f} on average without the division and {after:.2f} with "
            "it.",
            head=mine.name,
            before=before,
            after=after,
        ),
        table=lambda: rows_table(without, divided, queries),
    )


def edited_text() -> str:
    """Why the pictures differ from the weights of a head that is edited."""
    return _("An edit changes the weights of this head after the division: the pictures show them without this edit.")

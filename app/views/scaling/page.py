"""Scaling and softmax: why scores are divided by sqrt(d_k) (paper, section 3.2.1), and what it costs to compare all
queries with all keys."""

from functools import partial

import numpy as np
import streamlit as st

from app import components
from app.figures.head_names import head_name
from app.figures.shares import Share
from app.figures.softmax import softmax
from app.figures.theme import number
from app.languages import _
from app.library.source_code import joined_lines, lines_from
from app.stage.controls import controls
from app.stage.heads import QUERIES as QUERIES_OF
from app.stage.heads import SHORT_INSIDE, chosen_head
from app.stage.scene import Scene
from app.stage.template import details, say
from app.state.choices import KIND, WIDTH_OF_HEAD
from app.state.detail_choices import MODES_OF_SCORES, SCORES_OF
from app.views.scaling.additive_section import HeadScores, additive
from app.views.scaling.comparisons_section import all_comparisons
from app.views.scaling.large_scores import (
    KEYS,
    QUERIES,
    are_edited,
    jacobian_norms,
    most_changed,
    random_products,
    random_sharpness,
    sharpness,
)
from app.views.scaling.scaling_charts import (
    curve,
    curve_table,
    facts_table,
    histograms,
    random_histograms,
    rows_table,
    scores_table,
    strongest_of_rows,
)
from app.views.scaling.softmax_message import softmax_message, table_of, widths_of
from app.views.scaling.window_section import neighbours_only
from app.views.shared.show_figure import download_and_table, show_figure
from app.views.shared.triplet import shape_text, triplet
from transformer.model.attention_kinds import KINDS, SITES, Kind


def draw(scene: Scene) -> None:
    """Draws the page from top to bottom."""
    kind = KIND.open("cross", KINDS)
    layer, head = chosen_head(scene, kind)
    own = scene.config.d_k
    width = int(WIDTH_OF_HEAD.open(own, widths_of(own)))
    queries, keys = scene.axes(kind)
    site = SITES[kind].format(layer)
    found = scene.record(*(f"{site}.{name}" for name in ("products", "mask", "scores", "weights")))
    tensors = {name: found[f"{site}.{name}"][head] for name in ("products", "mask")}
    scores, weights = (found[f"{site}.{name}"][head] for name in ("scores", "weights"))
    query = min(QUERIES_OF[kind].open(most_changed(**tensors, d_k=own)), len(queries) - 1)
    where = head_name(kind, layer, head)
    message = softmax_message(kind, (queries, keys), tensors, own, (width, query), SCORES_OF.open(), where)
    with st.container(key="picture_softmax_scene"):
        components.softmax_scene(message, key="softmax_scene", on_choose=partial(_choose, kind, own))
    download_and_table(
        key="softmax_scene",
        name=_("Softmax with and without the division by √d_k"),
        table=lambda: table_of(message, (queries, keys), where),
    )
    say(
        _("A dot product adds d_k terms, so its size grows with the square root of d_k."),
        _(
            "With large scores, the softmax gives almost all weight to one key, and almost no gradient is left for "
            "training."
        ),
        _edited()
        if are_edited(weights, scores, tensors["mask"])
        else _("Divided by √d_k, the scores have the same size for every d_k: move the slider and compare."),
    )
    details(lambda: _details(scene))


def _edited() -> str:
    return _("An edit changes the weights of this head after the division: the pictures show them without this edit.")


def _choose(kind: Kind, own: int, name: str, place: int) -> None:
    """Handles the choice of other scores, another width or another query in the picture."""
    if name == "mode":
        SCORES_OF.choose(MODES_OF_SCORES[place])
    elif name == "width":
        WIDTH_OF_HEAD.choose(widths_of(own)[place])
    else:
        QUERIES_OF[kind].choose(place)


def _details(scene: Scene) -> None:
    _random()
    _chosen_head(scene)
    all_comparisons(scene)
    neighbours_only(scene)


def _random() -> None:
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
    st.caption(
        _(
            "{queries} random queries with {keys} keys each, components N(0, 1), always the same seed. The gradient is "
            "the Frobenius norm of the softmax's Jacobian, mean over the queries.",
            queries=QUERIES,
            keys=KEYS,
        )
    )


def _chosen_head(scene: Scene) -> None:
    st.header(_("This checkpoint's own scores"), anchor=False)
    kind, layer, head = controls(scene).kind_layer_head()
    site = SITES[kind].format(layer)
    names = ("products", "scores", "mask", "weights", "query", "key")
    found = scene.record(*(f"{site}.{name}" for name in names))
    products, scores, mask, weights, query, key = (found[f"{site}.{name}"][head] for name in names)
    queries, keys = scene.axes(kind)
    place = {"layer": layer + 1, "head": head + 1}
    where = head_name(kind, layer, head)
    short = _("{kind}, layer {layer}, head {head}", kind=_(SHORT_INSIDE[kind]), **place)
    d_k = scene.config.d_k
    without = softmax(products, mask)
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
    mine = HeadScores(where, (queries, keys), query, key, scores, mask, weights)
    if mine.are_edited:
        st.caption(_edited())
    before, after, divided = sharpness(products, mask), sharpness(scores, mask), mine.of_scores
    left, right = st.columns(2, gap="medium")
    with left:
        show_figure(
            histograms(products[mask], scores[mask], title=_("Scores, {head}", head=short)),
            key="head_histogram",
            name=_("{head} - scores", head=where),
            alt=_(
                "{head}: the scores have variance {before} before the division and {after} after it.",
                head=where,
                before=number(before.variance),
                after=number(after.variance),
            ),
            table=lambda: scores_table(products[mask], scores[mask]),
        )
    with right:
        show_figure(
            strongest_of_rows(without, divided, queries, title=_("Largest of each row, {head}", head=short)),
            key="head_rows",
            name=_("{head} - largest weights", head=where),
            alt=_(
                "{head}: the largest weight of a row is {before:.2f} on average without the division and {after:.2f} "
                "with it.",
                head=where,
                before=Share(before.strongest),
                after=Share(after.strongest),
            ),
            table=lambda: rows_table(without, divided, queries),
        )
    st.table(facts_table(before, after), border="horizontal")
    additive(mine)

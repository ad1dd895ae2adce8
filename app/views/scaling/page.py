"""Scaling and softmax: why scores are divided by sqrt(d_k) (paper, section 3.2.1), and what it costs to compare all
queries with all keys."""

from functools import partial

import streamlit as st

from app import components
from app.figures.head_names import head_name
from app.languages import _
from app.stage.heads import QUERIES as QUERIES_OF
from app.stage.heads import chosen_head
from app.stage.scene import Scene
from app.stage.template import details, say
from app.state.choices import KIND, WIDTH_OF_HEAD
from app.state.detail_choices import MODES_OF_SCORES, SCORES_OF
from app.views.scaling.comparisons_section import all_comparisons
from app.views.scaling.head_section import edited_text, head_scores
from app.views.scaling.large_scores import are_edited, most_changed
from app.views.scaling.random_section import random_vectors
from app.views.scaling.softmax_message import softmax_message, table_of, widths_of
from app.views.scaling.window_section import neighbours_only
from app.views.shared.show_figure import download_and_table
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
        edited_text()
        if are_edited(weights, scores, tensors["mask"])
        else _("Divided by √d_k, the scores have the same size for every d_k: move the slider and compare."),
    )
    details(lambda: _details(scene))


def _choose(kind: Kind, own: int, name: str, place: int) -> None:
    """Handles the choice of other scores, another width or another query in the picture."""
    if name == "mode":
        SCORES_OF.choose(MODES_OF_SCORES[place])
    elif name == "width":
        WIDTH_OF_HEAD.choose(widths_of(own)[place])
    else:
        QUERIES_OF[kind].choose(place)


def _details(scene: Scene) -> None:
    random_vectors()
    head_scores(scene)
    all_comparisons(scene)
    neighbours_only(scene)

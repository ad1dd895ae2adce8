"""The figures of Decoding's details that a lecture can show alone."""

from collections.abc import Callable

import streamlit as st

from app.languages import _
from app.stage.scene import Scene
from app.state.choices import STEP
from app.state.detail_choices import SHOW_PRUNED
from app.views.decoding.lens_section import lens_picture
from app.views.decoding.page import with_tree
from app.views.decoding.penalty_section import penalty_charts
from app.views.decoding.tree_section import tree_of_search
from transformer.decoding.finished_search import finished

FEW = 60  # candidates; if there are more, the tree opens with the kept ones only


def _tree(scene: Scene) -> None:
    scene = with_tree(scene)
    tree_of_search(scene, _step(scene), pruned=SHOW_PRUNED.open(len(scene.translation.tree) <= FEW))


def _penalty(scene: Scene) -> None:
    scene = with_tree(scene)
    if len(list(finished(scene.translation.tree))) < 2:
        st.info(_("This search finished fewer than two hypotheses, so there is nothing to rank."))
    else:
        penalty_charts(scene)


def _lens(scene: Scene) -> None:
    lens_picture(scene, _step(scene))


def _step(scene: Scene) -> int:
    return min(max(STEP.open(0), 0), len(scene.target) - 1)


FIGURES: dict[str, Callable[[Scene], None]] = {"lens": _lens, "penalty": _penalty, "tree": _tree}

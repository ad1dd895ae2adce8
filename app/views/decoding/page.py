"""Decoding: the loop one step at a time, the search as a tree, greedy beside a beam, the length penalty, the logit
lens, a reference.

The pictures show the hypothesis that is shown on every page; the tree has all the others.
"""

from dataclasses import replace

import streamlit as st

from app.compute import cached_results
from app.stage.controls import Controls
from app.stage.playback import play_buttons, play_on
from app.stage.scene import Scene
from app.state.choices import PART, PLAYS, STEP
from app.views.decoding.lens_section import lens_part
from app.views.decoding.loop_section import loop_part
from app.views.decoding.methods_section import methods_part
from app.views.decoding.penalty_section import penalty_part
from app.views.decoding.reference_section import reference_part
from app.views.decoding.tree_section import tree_part
from app.views.shared.buttons import buttons

PARTS = {
    "loop": "Loop",
    "tree": "Search",
    "methods": "Greedy, beam",
    "penalty": "Length penalty",
    "lens": "Logit lens",
    "reference": "Reference",
}
WITH_STEPS = ("loop", "tree", "lens")
WITH_HEAD = ("loop", "tree")


def draw(scene: Scene, controls: Controls) -> None:
    """Draws the page from top to bottom."""
    scene = _with_tree(scene)
    part = PART.open(allowed=PARTS)
    if part in WITH_STEPS:
        if (step := play_on("decoding", STEP.value, len(scene.target))) != STEP.value:
            STEP.choose(step)
    else:
        PLAYS.forget()
    with_head = part in WITH_HEAD
    layer, head = controls.layer_and_head("cross", layers=with_head, heads=with_head)
    step = controls.row("decoder", disabled=part not in WITH_STEPS)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key="parts"):
        buttons(PART, PARTS, "Part", says=False)
        if part in WITH_STEPS:
            with st.container(horizontal=True, vertical_alignment="center", gap="small", key="steps", width="content"):
                play_buttons(step, len(scene.target), STEP.choose)
    if part == "loop":
        loop_part(scene, step, layer, head)
    elif part == "tree":
        tree_part(scene, step, layer, head)
    elif part == "methods":
        methods_part(scene)
    elif part == "penalty":
        penalty_part(scene)
    elif part == "lens":
        lens_part(scene, step)
    else:
        reference_part(scene)


def _with_tree(scene: Scene) -> Scene:
    """The same scene, whose translation has the tree of its search."""
    found = cached_results.translate_one(
        scene.subject, scene.translation.source, scene.translation.settings, keep_tree=True
    )
    if found.settings.method == "sampling":
        ids = tuple(hypothesis.ids for hypothesis in found.hypotheses)
        told = cached_results.mark_truncated(scene.subject, found.source_ids, ids, found.settings, found.tree)
        found = replace(found, tree=told)
    if scene.given:
        found = replace(found, hypotheses=(*found.hypotheses, scene.given))
    return replace(scene, translation=found)

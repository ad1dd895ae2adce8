"""Decoding: the loop one step at a time, the search as a tree, greedy beside a beam, the length penalty, the logit
lens, a reference.

The pictures show the hypothesis that is shown on every page; the tree has all the others.
"""

import time
from dataclasses import replace

import streamlit as st

from app.compute import cached_results
from app.stage.controls import bar
from app.stage.sentence import Scene, given_hypothesis, stage
from app.state import playback
from app.state.session import STEP, choose_position
from app.state.url import named, position, shown_hypothesis
from app.views.decoding.lens_section import lens_part
from app.views.decoding.loop_section import loop_part
from app.views.decoding.methods_section import methods_part
from app.views.decoding.penalty_section import penalty_part
from app.views.decoding.reference_section import reference_part
from app.views.decoding.tree_section import tree_part
from app.views.shared.choose import buttons

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
PACE = 2.0  # seconds a step while playing
MOVED = "moved_decoding"


def page() -> None:
    """Draws the page from top to bottom."""
    scene = stage()
    if scene is None:
        return
    every: float | None = PACE if st.session_state.get(playback.DECODING) else None
    # A fragment is made anew for each pace: it runs by itself only while it plays.
    st.fragment(_theatre, run_every=every)(_with_tree(scene), shown_hypothesis(scene.translation))


def _with_tree(scene: Scene) -> Scene:
    """The same scene, whose translation has the tree of its search."""
    found = cached_results.translate_one(
        scene.opened.file, scene.translation.source, scene.translation.settings, keep_tree=True
    )
    if found.settings.method == "sampling":
        ids = tuple(hypothesis.ids for hypothesis in found.hypotheses)
        told = cached_results.told_left_out(scene.opened.file, found.source_ids, ids, found.settings, found.tree)
        found = replace(found, tree=told)
    same = [hypothesis for hypothesis in found.hypotheses if hypothesis.ids == scene.hypothesis.ids]
    shown = scene.hypothesis if scene.is_given else (same or found.hypotheses)[0]
    given, _ = given_hypothesis(scene.opened, found)
    if given:
        found = replace(found, hypotheses=(*found.hypotheses, given))
    return replace(scene, translation=found, hypothesis=shown)


def _theatre(scene: Scene, shown: int) -> None:
    if shown_hypothesis(scene.translation) != shown:  # another was chosen in here: the top of the page changes too
        st.rerun()
    part = named("part", PARTS, "loop")
    if part in WITH_STEPS:
        _play_on(len(scene.target))
    elif st.session_state.get(playback.DECODING):
        st.session_state[playback.DECODING] = False
        st.rerun()  # as a fragment that no longer runs by itself
    chooses, with_head = bar(scene), part in WITH_HEAD
    layer, head = chooses.layer_and_head("cross", layers=with_head, heads=with_head)
    step = chooses.row("decoder", disabled=part not in WITH_STEPS)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key="parts"):
        buttons("part", PARTS, "Part", says=False)
        if part in WITH_STEPS:
            _buttons(step, len(scene.target))
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


def _buttons(step: int, count: int) -> None:
    """Previous, play, next, also as keys."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="steps", width="content"):
        st.button("Previous", shortcut="Left", on_click=_go, args=(step - 1,), disabled=step == 0, key="previous_step")
        plays = bool(st.session_state.get(playback.DECODING))
        if st.button("Pause" if plays else "Play", key="play_steps", disabled=count == 1):
            st.session_state[playback.DECODING] = not plays
            st.session_state[MOVED] = time.monotonic()
            if not plays and step == count - 1:
                _go(0)
            st.rerun()
        st.button(
            "Next",
            shortcut="Right",
            on_click=_go,
            args=(step + 1,),
            disabled=step == count - 1,
            key="next_step",
        )


def _go(step: int) -> None:
    choose_position(STEP, step)
    st.session_state[MOVED] = time.monotonic()


def _play_on(count: int) -> None:
    """While it plays and its time has come: the next step; at the last the play ends."""
    if not st.session_state.get(playback.DECODING) or time.monotonic() - st.session_state.get(MOVED, 0.0) < 0.8 * PACE:
        return
    step = position(STEP, count)
    if step + 1 < count:
        _go(step + 1)
    else:
        st.session_state[playback.DECODING] = False
        st.rerun()  # as a fragment that no longer runs by itself


page()

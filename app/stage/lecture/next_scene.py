"""The next scenes of a lesson are computed while the class looks at the present one: their pages are imported, their
checkpoints are loaded, their sentences are translated, and their attention is traced. One thread does it, one scene
after the other, at a low priority; no visitor waits for it (app/compute/gate.py). If a page has a function
`prepare(scene)`, the thread calls it to compute what else the page shows. The function runs in a session of its own,
which has the choices of the scene.
"""

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import get_native_id

import streamlit as st

from app.compute import cached_results, gate
from app.compute.subject import Subject
from app.languages import Language, language, speaking
from app.library import checkpoints
from app.library.run_checkpoints import run_checkpoint
from app.pages import info
from app.stage.lecture import shown_scene
from app.stage.lecture.figure import what_prepares
from app.stage.scene import Selection, scene_of
from app.stage.search_settings import usual_settings
from app.stage.text_check import NoScene
from app.state import own_session
from app.state.choices import AS_TYPED, EDITS, FIGURE, SEARCH, SENTENCE
from transformer.analysis.edits import parse_edit
from transformer.errors import HeadlightError

MOST_PREPARED = 6  # scenes
NICE = 5
_WAITING = "scenes that are computed in advance"  # in the session


def _low_priority() -> None:
    """Gives this thread a priority below that of all visitors, but not the lowest: a visitor who opens a scene while it
    is computed has to wait for the one result that the thread has begun."""
    gate.work_in_advance()
    if hasattr(os, "setpriority"):  # not on Windows
        os.setpriority(os.PRIO_PROCESS, get_native_id(), NICE)  # on Linux, of this thread alone


_THREAD = ThreadPoolExecutor(1, thread_name_prefix="next scene of a lecture", initializer=_low_priority)


def prepare_next() -> None:
    """Begins to compute the scenes after the present one, in place of those that still wait."""
    lesson, number = shown_scene.lesson(), shown_scene.number()
    waiting: list[Future[None]] = st.session_state.setdefault(_WAITING, [])
    while waiting:
        waiting.pop().cancel()
    for index in range(number + 1, min(number + 1 + MOST_PREPARED, len(lesson.scenes) if lesson else 0)):
        assert lesson
        scene, texts = lesson.scenes[index], shown_scene.choices_of(lesson, index)
        names_search = any(choice.key in texts for choice in SEARCH)
        work = partial(_compute, scene.page, scene.checkpoint, texts, with_scene=not names_search)
        waiting.append(_THREAD.submit(_quietly, work, language()))


def _quietly(work: Callable[[], None], spoken: Language) -> None:
    with speaking(spoken), suppress(HeadlightError, OSError, NoScene):  # the page of the scene will say what is wrong
        work()


def _compute(page: str, checkpoint: str, texts: dict[str, str], *, with_scene: bool) -> None:
    prepare = what_prepares(info(page), texts.get(FIGURE.key, ""))
    files = checkpoints.checkpoints()
    file = next(iter(files.values()), None) if not checkpoint else files.get(checkpoint) or run_checkpoint(checkpoint)
    if file is None:
        return
    subject = Subject(file)
    sentence = texts.get(SENTENCE.key) or next(iter(subject.task.examples), "")
    if texts.get(EDITS.key):
        subject = subject.edited(*map(parse_edit, EDITS.read(texts[EDITS.key])))
    if with_scene and sentence:
        selection = Selection(correct_spelling=not AS_TYPED.read(texts.get(AS_TYPED.key, "false")))
        found = scene_of(subject, sentence, usual_settings(subject.translator.settings), selection)
        cached_results.observed(found.subject, found.translation.source_ids, found.hypothesis.ids)
        if prepare:
            own_session.enter("next scene", texts)
            shown_scene.choose(texts)
            prepare(found)

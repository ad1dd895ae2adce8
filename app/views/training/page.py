"""How did it learn? The picture shows one sentence at every snapshot of a run. The details show the runs, during the
training and afterwards: their curves, the snapshots in full, the learning-rate schedule and the loss.

What changes during a run is in fragments that are drawn again every few seconds until the run ends.
"""

import time
from contextlib import suppress

import numpy as np
import streamlit as st

from app.languages import _
from app.library.catalogue import entry
from app.library.run_checkpoints import is_of_run
from app.library.runs import Run, read_run
from app.library.snapshots import modified, own_run_names, run_names, skipped_runs, snapshots
from app.library.tasks import Task
from app.library.text_counts import corpus_counts
from app.stage.scene import Scene
from app.stage.section import redrawn
from app.stage.template import details
from app.state.choices import (
    AT_UPDATE,
    CHECKPOINT,
    COMPARED,
    DETAILS,
    RUN,
    RUN_HEAD,
    RUN_KIND,
    RUN_RIGHT,
    RUN_SENTENCE,
)
from app.state.lecture_choices import LECTURE
from app.views.training import launch_run, windows
from app.views.training.loss_section import loss_section
from app.views.training.new_runs import notice_new_runs
from app.views.training.run_charts import loss_chart, measurements_section, rate_section
from app.views.training.run_line import run_line
from app.views.training.run_permission import is_owner
from app.views.training.run_words import progress
from app.views.training.samples_section import samples_section
from app.views.training.snapshot_details import snapshot_details
from app.views.training.snapshot_question import NothingToAsk, question
from app.views.training.snapshot_sweep import sweep
from app.views.training.start_window import start_window
from app.views.training.time_machine import time_machine

EVERY, AT_ONCE = 1.5, 0.2  # seconds
OF_SNAPSHOTS = (RUN_KIND, RUN_HEAD, RUN_SENTENCE, RUN_RIGHT)  # chosen in the details, and shown in the picture
MOST_COMPARED = 5
NEW = 24 * 3600.0  # seconds: a run is new for so long after its last measurement
MOST_TURNS = 10  # of 0.6 s: so much is computed before the page is opened


def draw(scene: Scene | None) -> None:
    """Draws the page from top to bottom."""
    names = run_names()
    if not LECTURE.value:
        with st.container(key="train_own"):
            if st.button(_("Train a model …"), key="train_own_text"):
                windows.open_window(windows.START)
    if not names:
        st.info(
            _(
                "There is no run yet. Start one here, or on the command line: `python -m transformer train reverse`. "
                "Its folder, `runs/reverse`, is then found here."
            )
        )
        _window()
        details(lambda: _without_runs(scene))
        notice_new_runs(names)
        return
    name = RUN.open(opening_run(names, scene), names)
    if _is_live(name):
        RUN.mark_as_chosen()  # it is still shown when it has ended
    _window()
    is_own = name in own_run_names()
    if is_own and not LECTURE.value:  # the line of an included run is in the details
        run_line(name)
    _picture(name, scene)
    details(lambda: _details(name, names, scene, is_own))
    notice_new_runs(names)


def prepare(scene: Scene) -> None:
    """Computes what the snapshots make of the sentence, before the page is opened. Of very many snapshots it leaves
    some out."""
    names = run_names()
    run = read_run(RUN.open(opening_run(names, scene), names)) if names else None
    if run is None:
        return
    with suppress(NothingToAsk):
        for _turn in range(MOST_TURNS):
            if not sweep(question(run, scene)).pending:
                break
        question(run, scene)  # loads the newest snapshot again, which the others replaced in the cache


def opening_run(names: list[str], scene: Scene | None) -> str:
    """The run with which the page opens: the first that exists in this order.

    The visitor's own run in training; the run of the open checkpoint; the visitor's own run of the last day, unless it
    is a toy task; an included run with the task of the open checkpoint; the first included run; a run that is not
    another visitor's; any run.
    """
    runs = [run for run in map(read_run, names) if run is not None]
    own = [run for run in runs if run.name in own_run_names() and is_owner(run)]  # the newest first
    busy = [run.name for run in own if launch_run.is_busy(run.folder)]
    opened = [name for name in names if scene and is_of_run(scene.subject.file.name, name)]
    new = [run.name for run in own if _is_new(run) and not (run.recipe and run.recipe.data.toy)]
    shipped = [name for name in names if name not in own_run_names()]
    same = [name for name in shipped if scene and _task(name) == scene.task]
    mine = [run.name for run in runs if not run.ours or is_owner(run)]
    return next(iter([*busy, *opened, *new, *same, *shipped, *mine, *names]))


def _is_new(run: Run) -> bool:
    return time.time() - modified(run.folder / "metrics.jsonl") / 1e9 < NEW


def _window() -> None:
    """Draws the window that is open. If none is open, draws why the last action in one failed, if it did."""
    if windows.opened() == windows.START:
        start_window()
    elif windows.opened() == windows.RENAME and windows.run_to_change():
        windows.rename_window(windows.run_to_change())
    elif windows.opened() == windows.DELETE and windows.run_to_change():
        windows.delete_window(windows.run_to_change())
    else:
        windows.close()
        windows.show_problem()


def _task(name: str) -> Task | None:
    files = snapshots(name)
    return entry(files[max(files)]).task if files else None


def _picture(name: str, scene: Scene | None) -> None:
    """Draws the time machine. It is drawn again while the run is trained, and while there are snapshots to compute.

    When the run begins or ends, the whole page is drawn again; in a lecture no line about the run does so.
    """
    live = _is_live(name)
    computing = _is_computing(name, scene)

    def draw_picture() -> None:
        run = read_run(name)
        if run is None:
            st.info(_("This run is gone. Reload the page."))
            return
        if _is_live(name) != live:
            st.rerun()
        seen = time_machine(run, scene, _("In training: {made}", made=progress(run)) if live else "")
        if computing and not (seen and seen.pending):
            st.rerun()

    every = AT_ONCE if computing else EVERY if live else None
    chosen = (AT_UPDATE,) if DETAILS.value else ()  # the details show the chosen snapshot in full
    redrawn(draw_picture, (CHECKPOINT, RUN, *chosen), run_every=every)


def _is_computing(name: str, scene: Scene | None) -> bool:
    run = read_run(name)
    try:
        return bool(run and sweep(question(run, scene)).pending)
    except NothingToAsk:
        return False


def _without_runs(scene: Scene | None) -> None:
    rate_section([], scene)
    if scene:
        loss_section(scene)


def _details(name: str, names: list[str], scene: Scene | None, is_own: bool) -> None:
    st.header(_("Runs"), anchor=False)
    if skipped := skipped_runs():
        st.text(
            _(
                "Not listed, because the folder name is not valid UTF-8: {names}. Rename it to see it.",
                names=", ".join(skipped),
            )
        )
    live = _is_live(name)
    if not is_own:
        run_line(name)
    if counted := corpus_counts(name):
        st.caption(_("The text: {counts}", counts=counted))
    others = [other for other in names if other != name]
    known = [other for other in dict.fromkeys(COMPARED.open()) if other in others][:MOST_COMPARED]
    if known != COMPARED.value:
        COMPARED.choose(known)
    compared = st.multiselect(
        _("Compare with"), others, key=COMPARED.key, persist_state="session", max_selections=MOST_COMPARED,
        placeholder=_("other runs"), width=420,
    )  # fmt: skip
    shown = (name, *(str(each) for each in compared))
    every = EVERY if live else None
    redrawn(lambda: _snapshots(shown, scene), (CHECKPOINT, *OF_SNAPSHOTS), run_every=every)
    st.fragment(_samples, run_every=2 * EVERY if live else None)(name)
    st.fragment(_curves, run_every=2 * EVERY if live else None)(shown, scene)
    if scene:
        loss_section(scene)


def _snapshots(names: tuple[str, ...], scene: Scene | None) -> None:
    """Draws the snapshots of the first of these runs, and the losses of all of them."""
    runs = _read(names)
    if not runs or runs[0].name != names[0]:
        return
    seen = snapshot_details(runs[0], scene)
    if seen is None:
        loss_chart(runs, None, None)
        return
    marked = AT_UPDATE.value if AT_UPDATE.value in seen.results else max(seen.results)
    loss_chart(runs, marked, (np.array(seen.updates), np.array(seen.losses)))


def _samples(name: str) -> None:
    for run in _read((name,)):
        samples_section(run)


def _curves(names: tuple[str, ...], scene: Scene | None) -> None:
    runs = _read(names)
    measurements_section(runs)
    rate_section(runs, scene)


def _read(names: tuple[str, ...]) -> list[Run]:
    return [run for run in map(read_run, names) if run is not None]


def _is_live(name: str) -> bool:
    """Whether the page should draw itself again and again."""
    run = read_run(name)
    return run is not None and launch_run.is_busy(run.folder)

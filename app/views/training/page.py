"""How did it learn? One sentence at every snapshot of a run; in the details the runs themselves, while they run and
afterwards: their curves, the snapshots in full, and what the schedule and the loss are.

What may change while one looks is a fragment that is drawn again every other second, as long as the run runs.
"""

import numpy as np
import streamlit as st

from app.library.catalogue import entry
from app.library.runs import Phase, Run, corpus_counts, phase_of, read_curves, read_run
from app.library.snapshots import own_run_names, run_names, skipped_runs, snapshots
from app.library.tasks import Task
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
from app.views.training import launch_run
from app.views.training.curves_section import chosen_curves, loss_chart, rate_section
from app.views.training.loss_section import loss_section
from app.views.training.snapshot_question import NothingToAsk, question
from app.views.training.snapshot_sweep import sweep
from app.views.training.snapshots_section import snapshots_section
from app.views.training.start_section import attempt, show_problem, start_form
from app.views.training.time_machine import time_machine

STOPPING = "stopping"  # in the session: the run that the visitor has told to stop
EVERY, AT_ONCE = 1.5, 0.2  # seconds
OF_SNAPSHOTS = (RUN_KIND, RUN_HEAD, RUN_SENTENCE, RUN_RIGHT)  # chosen in the details, and shown in the picture
MOST_COMPARED = 5


def draw(scene: Scene | None) -> None:
    """Draws the page from top to bottom."""
    names = run_names()
    if not names:
        st.info(
            "There is no run yet. Start one below, or on the command line: `python -m transformer train reverse`. Its "
            "folder, `runs/reverse`, is then found here."
        )
        details(lambda: _without_runs(scene))
        return
    name = RUN.open(_opening(names, scene), names)
    _picture(name, scene)
    details(lambda: _details(name, names, scene))


def _opening(names: list[str], scene: Scene | None) -> str:
    """The run with which the page opens: the visitor's own while it is trained; else one that ships, of the open
    checkpoint's task or the first of them; where none ships, one that is not another visitor's."""
    runs = [run for run in map(read_run, names) if run is not None]
    own = [run.name for run in runs if launch_run.is_owner(run) and launch_run.is_busy(run.folder)]
    shipped = [name for name in names if name not in own_run_names()]
    same = [name for name in shipped if scene and _task(name) == scene.task]
    mine = [run.name for run in runs if not run.ours or launch_run.is_owner(run)]
    return next(iter([*own, *same, *shipped, *mine, *names]))


def _task(name: str) -> Task | None:
    files = snapshots(name)
    return entry(files[max(files)]).task if files else None


def _picture(name: str, scene: Scene | None) -> None:
    """The time machine. It is drawn again while the run is trained, and while there are snapshots to compute."""
    live = _is_live(name)
    computing = _is_computing(name, scene)

    def draw_picture() -> None:
        run = read_run(name)
        if run is None:
            st.info("This run is gone. Reload the page.")
            return
        seen = time_machine(run, scene, f"In training: {_made(run)}" if live else "")
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
    start_form(expanded=True)
    show_problem()
    rate_section([], scene)
    if scene:
        loss_section(scene)


def _details(name: str, names: list[str], scene: Scene | None) -> None:
    st.header("Runs", anchor=False)
    if skipped := skipped_runs():
        st.text(f"Not listed, because the folder name is not valid UTF-8: {', '.join(skipped)}. Rename it to see it.")
    live = _is_live(name)
    st.fragment(_status, run_every=EVERY if live else None)(name, live)
    start_form(expanded=False)
    others = [other for other in names if other != name]
    known = [other for other in COMPARED.open() if other in others][:MOST_COMPARED]
    if known != COMPARED.value:
        COMPARED.choose(known)
    compared = st.multiselect(
        "Compare with", others, key=COMPARED.key, persist_state="session", max_selections=MOST_COMPARED,
        placeholder="other runs", width=420,
    )  # fmt: skip
    shown = (name, *(str(each) for each in compared))
    every = EVERY if live else None
    redrawn(lambda: _snapshots(shown, scene), (CHECKPOINT, *OF_SNAPSHOTS), run_every=every)
    st.fragment(_curves, run_every=2 * EVERY if live else None)(shown, scene)
    if scene:
        loss_section(scene)


def _snapshots(names: tuple[str, ...], scene: Scene | None) -> None:
    """The snapshots of the first of these runs, and the losses of all."""
    runs = _read(names)
    if not runs or runs[0].name != names[0]:
        return
    seen = snapshots_section(runs[0], scene)
    if seen is None:
        loss_chart(runs, None, None)
        return
    marked = AT_UPDATE.value if AT_UPDATE.value in seen.looks else max(seen.looks)
    loss_chart(runs, marked, (np.array(seen.updates), np.array(seen.losses)))


def _curves(names: tuple[str, ...], scene: Scene | None) -> None:
    runs = _read(names)
    chosen_curves(runs)
    rate_section(runs, scene)


def _read(names: tuple[str, ...]) -> list[Run]:
    return [run for run in map(read_run, names) if run is not None]


def _is_live(name: str) -> bool:
    """Whether the page should draw itself again and again."""
    run = read_run(name)
    return run is not None and launch_run.is_busy(run.folder)


def _status(name: str, live: bool) -> None:
    """One line about the run, and what can be done with it. `live`: whether it ran when the page was last drawn."""
    run = read_run(name)
    if run is None:
        st.info("This run is gone. Choose another one.")
        return
    busy, ending = launch_run.is_busy(run.folder), launch_run.is_ending(run.folder)
    stopping = ending or _stopping(run)
    with st.container(key="run_status", horizontal=True, vertical_alignment="center", gap="medium"):
        st.text(_standing(run, busy, stopping), width="content")
        if run.ours and launch_run.is_allowed():
            yours = launch_run.is_owner(run)
            if busy:
                st.button("Stop", key="stop_run", on_click=_stop, args=(run.name,), disabled=stopping or not yours)
            elif run.state == "stopped":
                st.button(
                    "Resume", key="resume_run", on_click=_resume, args=(run.name,), type="primary", disabled=not yours
                )
            if not yours and (busy or run.state == "stopped"):
                st.text(launch_run.NOT_YOURS, width="content")
    if run.updates and busy:
        st.progress(min(run.update / run.updates, 1.0))
    counted = corpus_counts(run.folder)
    if busy and not ending and run.ours and (run.state != "running" or phase_of(run) == "preparing"):
        st.text(launch_run.newest_words(run.folder))
    elif counted:
        st.caption(f"The text: {counted}")
    words = launch_run.last_words(run.folder) if run.ours and not busy else ""
    if words and not words.startswith("Stopped by"):  # which the reader knows, and the button says how to go on
        with st.container(border=True):
            st.text(words)
    show_problem()
    if busy != live:
        st.rerun()


def _standing(run: Run, busy: bool, stopping: bool) -> str:
    made = _made(run)
    if busy and run.state == "stopped":
        if stopping:
            return f"Stopping: {made}"
        return "Starting …" if not run.update else f"Starting again after {made} …"
    if run.state == "running":
        does = "Stopping" if stopping else "Running"
        if not run.update and phase_of(run) == "preparing":
            return f"{does}: preparing its text and its model"
        return ", ".join([f"{does}: {made}", *_newest(run)])
    return f"{run.state.capitalize()} after {made}"


def _made(run: Run) -> str:
    return f"update {run.update:,} of {run.updates:,}" if run.updates else f"update {run.update:,}"


def _newest(run: Run) -> list[str]:
    """The newest line of metrics, in words, and what takes so long if it is no update."""
    curves = read_curves(run.folder)
    loss, speed = (curves.get(("train", name)) for name in ("loss", "tokens_per_second"))
    words: dict[Phase, str] = {
        "preparing": "now preparing to go on",
        "updating": "making its first updates" if speed is None else f"{speed[1][-1]:,.0f} target tokens per second",
        "validating": "now validating",
        "averaging": "now averaging its last checkpoints and validating the average",
    }
    return [*([] if loss is None else [f"loss {loss[1][-1]:.3f}"]), words[phase_of(run)]]


def _stopping(run: Run) -> bool:
    return st.session_state.get(STOPPING) == run.name


def _stop(name: str) -> None:
    st.session_state[STOPPING] = name
    attempt(lambda: launch_run.stop(name))


def _resume(name: str) -> None:
    st.session_state.pop(STOPPING, None)
    attempt(lambda: launch_run.resume(name))

"""The line about a run: what it does now, how long it will still take, and what can be done with it.

It is a fragment that is drawn again while the run is trained. A change that affects more than the line draws the whole
page again.
"""

from collections.abc import Callable
from typing import Literal

import streamlit as st

from app.languages import _
from app.library.run_checkpoints import best_checkpoint, is_added
from app.library.runs import Run, phase_of, read_run
from app.library.snapshots import best_name
from app.pages import go_to
from app.server.visitor import is_at_this_machine
from app.state.choices import RUN
from app.state.events import open_checkpoint, take_sentence
from app.views.training import launch_run, manage_run, windows
from app.views.training.known_pairs import known_pairs
from app.views.training.run_log import newest_words
from app.views.training.run_permission import NOT_YOURS, is_allowed, is_owner
from app.views.training.run_words import run_status
from app.views.training.windows import attempt

STOPPING = "stopping"  # in the session: the run that the visitor has asked to stop
EVERY = 1.5  # seconds


def run_line(name: str) -> None:
    """Draws the line."""
    run = read_run(name)
    live = run is not None and launch_run.is_busy(run.folder)
    st.fragment(_line, run_every=EVERY if live else None)(name, live)


def _line(name: str, live: bool) -> None:
    """`live`: whether the run was being trained when the page was last drawn."""
    run = read_run(name)
    if run is None:
        st.info(_("This run is gone. Choose another one."))
        return
    if words := manage_run.remove_if_it_came_to_nothing(run):
        windows.report(_("The training could not begin, so its run was deleted. {reason}", reason=words))
        RUN.forget()
        st.rerun()
    busy, ending = launch_run.is_busy(run.folder), launch_run.is_ending(run.folder)
    if not busy and st.session_state.get(STOPPING) == run.name:  # it may be resumed from elsewhere
        del st.session_state[STOPPING]
    stopping = ending or st.session_state.get(STOPPING) == run.name
    with st.container(gap="xsmall"):
        _show_status(run, busy, stopping, ending)
    if busy != live:
        st.rerun()


def _show_status(run: Run, busy: bool, stopping: bool, ending: bool) -> None:
    with st.container(key="run_status", horizontal=True, vertical_alignment="center", gap="small"):
        st.text(run_status(run, busy, stopping), width="content")
        _buttons(run, busy, stopping)
    if run.updates and busy:
        st.progress(min(run.update / run.updates, 1.0))
    if busy and not ending and run.ours and (run.state != "running" or phase_of(run) == "preparing"):
        st.text(newest_words(run.folder))
    words = launch_run.why_it_ended(run.folder) if run.ours and not busy else ""
    if words and not words.startswith("Stopped by"):  # the reader knows that, and there is a button to resume
        with st.container(border=True):
            st.text(words)


def _buttons(run: Run, busy: bool, stopping: bool) -> None:
    yours = is_owner(run)
    if run.ours and is_allowed():
        if busy:
            _button(_("Stop"), "stop_run", _stop, run, disabled=stopping or not yours)
        elif run.state == "stopped":
            _button(_("Resume"), "resume_run", _resume, run, disabled=not yours, type="primary")
        if not yours and (busy or run.state == "stopped"):
            st.text(_(NOT_YOURS), width="content")
    if busy:
        return
    if best_checkpoint(run.name):
        _use(run)
    windows_of_run = (
        (windows.RENAME, _("Rename …"), manage_run.may_change),
        (windows.DELETE, _("Delete …"), manage_run.may_delete),
    )
    for window, label, may in windows_of_run:
        if may(run) and st.button(label, key=f"{window}_run", type="tertiary"):
            windows.open_window(window, run.name)


def _use(run: Run) -> None:
    """Draws the buttons that open its checkpoint, and add it to those of the app."""
    first: Literal["primary", "secondary"] = "primary" if run.state == "finished" else "secondary"
    if st.button(_("Open"), key="open_run", on_click=_open, args=(run,), type=first):
        go_to("translate")
    if not is_at_this_machine() or run.state != "finished":
        return
    if is_added(run.name):
        st.text(_("In the list of checkpoints"), width="content")
    else:
        _button(_("Add to my checkpoints"), "add_run", _add, run)


def _button(
    label: str,
    key: str,
    action: Callable[[str], None],
    run: Run,
    disabled: bool = False,
    type: Literal["primary", "secondary"] = "secondary",
) -> None:
    """A button whose action may fail. The reason is outside of this fragment, so the whole page is drawn again."""
    if st.button(label, key=key, on_click=action, args=(run.name,), disabled=disabled, type=type):
        st.rerun()


def _open(run: Run) -> None:
    open_checkpoint(best_name(run.name))
    if pairs := known_pairs(run):
        take_sentence(pairs[0][0])


def _add(name: str) -> None:
    attempt(lambda: manage_run.add_to_checkpoints(name))


def _stop(name: str) -> None:
    attempt(lambda: launch_run.stop(name))
    if not windows.problem():
        st.session_state[STOPPING] = name


def _resume(name: str) -> None:
    st.session_state.pop(STOPPING, None)
    attempt(lambda: launch_run.resume(name))

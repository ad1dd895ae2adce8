"""Windows over the page Training: start, rename or delete a run; and messages about what went wrong there.

The page is drawn again while a run is trained and while snapshots are computed, and this would close a window. So the
session keeps which window is open until it is closed.
"""

import re
from collections.abc import Callable
from typing import Literal, NoReturn, TypeVar

import streamlit as st
from pydantic import ValidationError

from app.languages import _
from app.library.snapshots import best_name, own_run_names, run_and_update, run_of_best, snapshot_name
from app.state.choices import CHECKPOINT, COMPARED, RUN
from app.views.training import manage_run
from transformer.errors import HeadlightError

Window = Literal["start", "rename", "delete"]
START: Window = "start"
RENAME: Window = "rename"
DELETE: Window = "delete"
# In the session. OPEN: which window is open. _RUN: the run that it changes, which may not be the one on the page
OPEN, _RUN, PROBLEM, _NAME = "training_window", "run_of_training_window", "start_problem", "new_name_of_run"
Done = TypeVar("Done")


def open_window(window: Window, run: str = "") -> NoReturn:
    """Opens a window. Ends this run of the script.

    Args:
        run: the run that is renamed or deleted in it.
    """
    st.session_state[OPEN], st.session_state[_RUN] = window, run
    st.session_state[PROBLEM] = ""
    st.rerun()


def close() -> None:
    """Closes the window that is open."""
    st.session_state.pop(OPEN, None)


def opened() -> str:
    """Which window is open; "" if none is."""
    return str(st.session_state.get(OPEN, ""))


def run_to_change() -> str:
    """The run that is renamed or deleted in the window that is open; "" if it does not exist any more."""
    run = str(st.session_state.get(_RUN, ""))
    return run if run in own_run_names() else ""


def attempt(action: Callable[[], Done]) -> Done | None:
    """Calls `action`. If it fails, the reason is kept for `show_problem`."""
    report("")
    try:
        return action()
    except ValidationError:
        report(_("Not started: an option is out of its bounds. Reload the page."))
    except HeadlightError as error:
        report(str(error))
    return None


def report(problem: str) -> None:
    """Keeps a sentence for `show_problem`."""
    st.session_state[PROBLEM] = problem


def problem() -> str:
    """Why the last action of the visitor failed; "" if it did not."""
    return str(st.session_state.get(PROBLEM, ""))


def show_problem() -> None:
    """Draws why the last action of the visitor failed, if it did."""
    if problem():
        with st.container(border=True, key="problem"):
            st.text(problem())


def rename_window(run: str) -> None:
    """Asks for another name of a run."""
    st.dialog(_("Rename the run"), on_dismiss=close)(_rename)(run)


def delete_window(run: str) -> None:
    """Asks whether a run is to be deleted."""
    st.dialog(_("Delete the run “{name}”?", name=_as_markdown(run)), on_dismiss=close)(_delete)(run)


def _as_markdown(text: str) -> str:
    """The text in Markdown: titles of windows are Markdown, and a name may have any characters."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def _rename(run: str) -> None:
    st.text_input(_("Name"), run, max_chars=manage_run.LONGEST_NAME, key=_NAME)
    st.button(_("Rename"), key="do_rename", type="primary", on_click=_do_rename, args=(run,))
    _until_closed()


def _delete(run: str) -> None:
    st.text(_("Its text, its checkpoints and its measurements are deleted. This cannot be undone."))
    with st.container(horizontal=True):
        st.button(_("Delete"), key="do_delete", type="primary", on_click=_do_delete, args=(run,))
        st.button(_("Cancel"), key="no_delete", on_click=close)
    _until_closed()


def _until_closed() -> None:
    """Draws what went wrong. Once the window is closed, the page is drawn again without it."""
    show_problem()
    if not opened():
        st.rerun()


def _do_rename(run: str) -> None:
    new = attempt(lambda: manage_run.rename(run, st.session_state[_NAME]))
    if new is None:
        return
    close()
    if RUN.value == run:
        RUN.choose(new)
    if run in COMPARED.value:
        COMPARED.choose([new if each == run else each for each in COMPARED.value])
    found = run_and_update(CHECKPOINT.value)
    if run_of_best(CHECKPOINT.value) == run:
        CHECKPOINT.choose(best_name(new))
    elif found and found[0] == run:
        CHECKPOINT.choose(snapshot_name(new, found[1]))


def _do_delete(run: str) -> None:
    attempt(lambda: manage_run.delete(run))
    close()
    if not problem() and RUN.value == run:
        RUN.forget()

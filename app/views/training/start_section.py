"""Section of Training: start a run from the browser, on a toy task or on uploaded text."""

from collections.abc import Callable
from typing import Any, TypeVar, get_args

import streamlit as st
from pydantic import ValidationError

from app.library.tasks import LANGUAGES
from app.state.choices import RUN
from app.views.training import launch_run
from app.views.training.run_plan import MOST_MEGABYTES, Heads, LaunchError, Plan, Size, TextPlan, ToyPlan, Width
from transformer.data.toy_tasks import TOY_TASKS
from transformer.errors import HeadlightError

PROBLEM, CORPUS = "start_problem", "corpus"
WORDS: dict[str, str] = {
    "reverse": "letters in reverse order", "copy": "letters copied", "sort": "letters sorted",
    "numbers": "English number words to German", "text": "your own text",
}  # fmt: skip
Done = TypeVar("Done")


def attempt(action: Callable[[], Done]) -> Done | None:
    """Does it; what hinders it is kept, and told by `show_problem`."""
    st.session_state[PROBLEM] = ""
    try:
        return action()
    except ValidationError:
        st.session_state[PROBLEM] = "Not started: an option is out of its bounds. Reload the page."
    except HeadlightError as error:
        st.session_state[PROBLEM] = str(error)
    return None


def show_problem() -> None:
    """Why the last start, stop or resumption failed, if it did."""
    if st.session_state.get(PROBLEM):
        with st.container(border=True):
            st.text(st.session_state[PROBLEM])


def start_form(expanded: bool) -> None:
    """The form. A run that was started is the one that the page shows."""
    with st.expander("Start a run", expanded=expanded):
        if not launch_run.is_allowed():
            st.info(
                "Training from the browser is switched off here. Whoever runs this app can switch it on with "
                "HEADLIGHT_TRAINING=on. On the command line: `python -m transformer train reverse`."
            )
            return
        task = st.segmented_control(
            "What it should learn", [*TOY_TASKS, "text"], default="reverse", required=True,
            format_func=lambda task: WORDS.get(task, task), key="start_task",
        )  # fmt: skip
        if task == "text":
            _text_options()
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.number_input("Updates", 10, 20_000, 1200, 50, key="start_updates", width=140)
            st.number_input("Encoder layers", 1, 4, 2, key="start_encoder", width=140)
            st.number_input("Decoder layers", 1, 4, 1, key="start_decoder", width=140)
            st.segmented_control("Heads", list(get_args(Heads)), default=4, required=True, key="start_heads")
            st.segmented_control("d_model", list(get_args(Width)), default=128, required=True, key="start_width")
        st.button("Start", key="start_run", type="primary", on_click=_start)
        st.caption(
            "It runs as a process of its own, also when this page is closed, one run at a time; its folder is in the "
            "folder of runs. `reverse` as it stands takes two to three minutes on two processor cores."
        )


def _text_options() -> None:
    st.file_uploader(
        f"A .tsv file of at most {MOST_MEGABYTES} MB: a sentence, a TAB, its translation, one pair a line",
        type=["tsv", "txt"],
        max_upload_size=MOST_MEGABYTES,
        key=CORPUS,
    )
    with st.container(horizontal=True):
        for side, default in (("source", "en"), ("target", "de")):
            st.selectbox(
                f"Language of the {side}", list(LANGUAGES), index=list(LANGUAGES).index(default),
                format_func=LANGUAGES.__getitem__, key=f"start_{side}", width=220,
            )  # fmt: skip


def _start() -> None:
    name = attempt(lambda: launch_run.start(_plan(st.session_state)))
    if name:
        RUN.choose(name)
        st.session_state.pop("stopping", None)


def _plan(state: Any) -> Plan:
    """What the form asks for. Raises LaunchError, ValidationError."""
    size = Size(
        state["start_updates"], state["start_encoder"], state["start_decoder"], state["start_heads"],
        state["start_width"],
    )  # fmt: skip
    task: str = state["start_task"]
    if task != "text":
        return ToyPlan(task, size)
    file = state.get(CORPUS)
    if file is None:
        raise LaunchError("Choose a file first: a sentence, a TAB, its translation, one pair a line.")
    return TextPlan(file.getvalue(), state["start_source"], state["start_target"], size)

"""The time machine: one sentence at every snapshot of a run, from the untrained model on.

Every snapshot reads the same translation (teacher forcing, as in training), so that a square of the head is the same
query and key at each update, and probabilities can be compared. Beside them stands what it writes by itself.
"""

from typing import Any

import streamlit as st

from app import components
from app.figures.theme import counted, role_color
from app.library.runs import Run
from app.library.snapshots import run_names
from app.stage.scene import Scene
from app.stage.template import say
from app.state.choices import AT_UPDATE, RUN, open_checkpoint, take_sentence
from app.views.shared.placed import belongings
from app.views.training.snapshot_question import NothingToAsk, question
from app.views.training.snapshot_rows import head_data, rows, rows_alt, rows_table
from app.views.training.snapshot_sweep import Sweep, sweep

MEANS = (
    "Each bar is the probability that the model gives to a token of the {says}, “{target}”, which it reads (teacher "
    "forcing; geometric mean over the tokens). Marked words differ from the row above."
)


def time_machine(run: Run, scene: Scene | None, news: str) -> Sweep | None:
    """Draws the picture and what is said below it. None: it has said why there is nothing to see.

    Args:
        news: about a run that is being trained.
    """
    seen, problem = None, ""
    try:
        seen = sweep(question(run, scene))
    except NothingToAsk as reason:
        problem = str(reason)
    _draw(run, seen, problem, news)
    if seen is None:
        return None
    asked = seen.question
    belongings(key="time_machine", name=f"{run.name} - {asked.sentence}"[:80], table=lambda: rows_table(seen))
    who = (
        f"{asked.remark} The example is"
        if asked.remark
        else f"Each row is the same model of the run {run.name} after more training, given"
    )
    ends = "" if asked.sentence.endswith((".", "!", "?")) else "."
    say(f"{who} “{asked.sentence}”{ends}", MEANS.format(says=asked.says, target=asked.target))
    return seen


def _draw(run: Run, seen: Sweep | None, problem: str, news: str) -> None:
    files = seen.question.files if seen else {}
    if seen and seen.pending:
        news = f"{len(seen.looks)} of {counted(len(seen.looks) + len(seen.pending), 'snapshot')} are computed"
    data: dict[str, Any] = {
        "runs": run_names(),
        "run": run.name,
        "subject": run.name,
        "problem": problem,
        "news": news,
        "rows": rows(seen) if seen else [],
        "head": head_data(seen) if seen else None,
        "share": f"probability of the {seen.question.says}" if seen else "",
        "color": role_color("decoder"),
        "alt": rows_alt(seen) if seen else f"The run {run.name}. {problem}",
        "at": AT_UPDATE.open(-1, [-1, *files]),
    }

    def opened(update: int) -> None:
        if seen and update in files:
            open_checkpoint(files[update].name)
            take_sentence(seen.question.sentence)

    with st.container(key="picture_time_machine"):
        components.time_machine(
            data, key="time_machine", on_run=_choose_run, on_snapshot=_stop_at, on_open=opened
        )  # fmt: skip


def _choose_run(name: str) -> None:
    RUN.choose(name)
    AT_UPDATE.forget()


def _stop_at(update: int) -> None:
    AT_UPDATE.forget()
    if update >= 0:
        AT_UPDATE.choose(update)

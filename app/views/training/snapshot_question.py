"""What the snapshots of a run are asked: a sentence, and the translation whose probability each of them gives.

It is the visitor's sentence if the run reads its language; else an example of the run, and the page says so. The
translation is the right one where that is known (a toy task, or the visitor has typed it); else the final one, which
the newest snapshot writes.
"""

from dataclasses import dataclass

import streamlit as st

from app.compute import snapshot_results
from app.library import checkpoints
from app.library.checkpoints import CheckpointFile
from app.library.runs import Run
from app.library.snapshots import snapshots
from app.library.tasks import Task, task_of
from app.stage.scene import Scene
from app.state.choices import RUN_RIGHT, RUN_SENTENCE
from transformer.config import ModelConfig
from transformer.data.toy_tasks import TOY_TASKS
from transformer.decoding.translator import Translator
from transformer.errors import HeadlightError
from transformer.text.normalisation import normalise

_RIGHT_FOR = "run_right_for"  # in the session: the run and the sentence of the right translation
NO_SNAPSHOTS = (
    "This run has no snapshots (yet). With `training.snapshots = [0, 50, 100, 200, 400]` in its recipe it stores a "
    "small checkpoint after each of these updates. This picture then shows the same sentence at each of them."
)


class NothingToAsk(Exception):
    """The snapshots cannot be asked; the message says why. It may quote what a visitor typed."""


@dataclass(frozen=True)
class Question:
    """What all snapshots of a run are asked.

    Attributes:
        files: the snapshots by update, the first one first.
        is_known: whether `target` is the right translation; else it is what the newest snapshot writes.
        remark: why it is not the visitor's sentence, or "".
    """

    run: str
    files: dict[int, CheckpointFile]
    task: Task
    config: ModelConfig
    sentence: str
    target: str
    is_known: bool
    remark: str

    @property
    def says(self) -> str:
        """What the decoder reads, in words."""
        return "right translation" if self.is_known else "final translation"


def question(run: Run, scene: Scene | None) -> Question:
    """Raises NothingToAsk."""
    files = snapshots(run.name)
    if not files:
        raise NothingToAsk(NO_SNAPSHOTS)
    last = list(files.values())[-1]
    try:
        newest = checkpoints.load_snapshot(last)
        task = task_of(newest)
        sentence, remark = _sentence(newest, task, scene)
        known = _given(run, sentence) or answer(run, sentence)
        target = known or snapshot_results.written_by(last, sentence)
    except (HeadlightError, OSError) as error:
        raise NothingToAsk(f"The newest snapshot cannot be used. {error}") from None
    if not target:
        raise NothingToAsk("The newest snapshot writes nothing for this sentence. Type another sentence.")
    return Question(run.name, files, task, newest.model.config, sentence, target, bool(known), remark)


def usual_sentence(newest: Translator, task: Task, scene: Scene | None) -> tuple[str, str]:
    """The sentence of the page, if the run reads such sentences, and ""; else an example of the run, or "", and why."""
    reader = normalise(scene.translation.source) if scene else ""
    remark = _hindrance(reader, newest, task, scene)
    if reader and not remark:
        return reader, ""
    return task.examples[0] if task.examples else "", remark


def answer(run: Run, sentence: str) -> str:
    """The right translation, where a toy task knows it; else ""."""
    toy = run.recipe.data.toy if run.recipe else None
    return (TOY_TASKS[toy].answer(sentence) or "") if toy else ""


def _sentence(newest: Translator, task: Task, scene: Scene | None) -> tuple[str, str]:
    typed = normalise(RUN_SENTENCE.value)
    if not typed:
        usual, remark = usual_sentence(newest, task, scene)
        if not usual:
            raise NothingToAsk(f"{remark} Type a sentence for it, under Details.".strip())
        return usual, remark
    if problem := _too_long(typed, newest):
        raise NothingToAsk(problem)
    return typed, ""


def _given(run: Run, sentence: str) -> str:
    """The right translation as the visitor has typed it for this sentence, or ""."""
    if st.session_state.get(_RIGHT_FOR, (run.name, sentence)) != (run.name, sentence):
        RUN_RIGHT.forget()
    st.session_state[_RIGHT_FOR] = (run.name, sentence)
    return RUN_RIGHT.value.strip()


def _hindrance(sentence: str, newest: Translator, task: Task, scene: Scene | None) -> str:
    """Why the visitor's sentence is not for this run, or ""."""
    is_toy = task.examples in (toy.examples for toy in TOY_TASKS.values())
    if scene and scene.task != task and (is_toy or scene.task.source != task.source):
        theirs, ours = (f"{each.source} → {each.target}" for each in (scene.task, task))
        return f"Your sentence is for {theirs}, this run for {ours}."
    return _too_long(sentence, newest)


def _too_long(sentence: str, newest: Translator) -> str:
    tokens, limit = len(newest.tokenizer.encode(sentence)), checkpoints.most_pieces(newest)
    if tokens <= limit:
        return ""
    return f"This sentence has {tokens:,} tokens; the page shows up to {limit:,} of this run. Shorten it."

"""What all snapshots of a run make of one sentence, and the controls that say which sentence and which head it is."""

from contextlib import suppress
from dataclasses import dataclass

import streamlit as st

from app.compute import snapshot_results
from app.compute.snapshot_results import Look
from app.figures.axes import TokenAxis
from app.figures.heads import clearest_head
from app.library import checkpoints
from app.library.checkpoints import CheckpointFile
from app.library.runs import Run
from app.library.tasks import Task, task_of
from app.stage.heads import SHORT
from app.stage.scene import Scene
from app.state.choices import CLEAREST, RUN_HEAD, RUN_KIND, RUN_RIGHT, RUN_SENTENCE
from transformer.data.toy_tasks import TOY_TASKS
from transformer.errors import HeadlightError
from transformer.model.attention_kinds import KINDS, Kind, depth
from transformer.text.normalisation import normalise

_RIGHT_FOR = "run_right_for"  # in the session: the run and the sentence of the right translation
MOST_CHARACTERS = 300
NARROW = 204  # px: four in a line of the main column at 1280


@dataclass(frozen=True)
class Sweep:
    """What every snapshot that can be read makes of the sentence."""

    run: str
    task: Task
    sentence: str
    right: str
    is_known: bool  # else the right translation is taken to be what the newest snapshot writes
    kind: Kind
    chosen_head: tuple[int, int] | None  # None: the clearest one
    updates: list[int]
    looks: list[Look]

    @property
    def losses(self) -> list[float]:
        return [look.loss for look in self.looks]

    @property
    def axes(self) -> tuple[TokenAxis, TokenAxis]:
        """(queries, keys)."""
        look = self.looks[-1]
        source = TokenAxis(f"{self.task.source} (source)", "encoder", look.source)
        target = TokenAxis(f"{self.task.target} ({self.says})", "decoder", look.reads, look.predicts)
        if self.kind == "encoder":
            return source, source
        return target, source if self.kind == "cross" else TokenAxis(f"{target.title}, as read", "decoder", look.reads)

    @property
    def says(self) -> str:
        return "right translation" if self.is_known else "translation of the newest snapshot"

    @property
    def head(self) -> tuple[int, int]:
        """Layer and head, from 0."""
        queries, keys = self.axes
        weights = self.looks[-1].attention.weights
        return self.chosen_head or clearest_head(weights, queries.predicts or queries.tokens, keys.tokens)


def sweep(run: Run, files: dict[int, CheckpointFile], scene: Scene | None) -> Sweep | None:
    """Asks for sentence and kind, and runs all snapshots. None: nothing can be shown, and the page has said why."""
    try:
        newest = checkpoints.load_snapshot(list(files.values())[-1])
    except (HeadlightError, OSError) as error:
        st.text(f"The newest snapshot cannot be opened. {error}")
        return None
    task = task_of(newest)
    usual = _usual_sentence(task, scene)
    with st.container(key="run_choices", horizontal=True, vertical_alignment="bottom"):
        kind = RUN_KIND.open(allowed=KINDS)
        st.selectbox(
            "Attention",
            list(KINDS),
            format_func=SHORT.__getitem__,
            key=RUN_KIND.key,
            persist_state="session",
            width=NARROW,
        )
        RUN_SENTENCE.open()
        typed = st.text_input(
            "Sentence for this run", key=RUN_SENTENCE.key, placeholder=usual, max_chars=MOST_CHARACTERS,
            autocomplete="off", persist_state="session", width="stretch",
        )  # fmt: skip
        sentence = normalise(typed or "") or usual
        answer = _answer(run, sentence)
        if st.session_state.get(_RIGHT_FOR, (run.name, sentence)) != (run.name, sentence):
            RUN_RIGHT.forget()
        st.session_state[_RIGHT_FOR] = (run.name, sentence)
        RUN_RIGHT.open()
        given = st.text_input(
            "Its right translation", key=RUN_RIGHT.key, placeholder=answer or "what the newest snapshot writes",
            max_chars=MOST_CHARACTERS, autocomplete="off", persist_state="session", width="stretch",
        )  # fmt: skip
        config = newest.model.config
        head = _choose_head(depth(config, kind), config.heads)
    if not sentence:
        st.info("Type a sentence for this run.")
        return None
    pieces, limit = len(newest.tokenizer.encode(sentence)), checkpoints.most_pieces(newest)
    if pieces > limit:
        st.warning(f"This sentence has {pieces:,} tokens; the page shows up to {limit:,} of this run. Shorten it.")
        return None
    looks: dict[int, Look] = {}
    try:
        known = (given or "").strip() or answer
        right = known or snapshot_results.written_by(list(files.values())[-1], sentence)
        if not right:
            st.info("The newest snapshot writes nothing for this sentence. Type its right translation above.")
            return None
        with st.spinner("Running the snapshots …", show_time=True):
            for update, file in files.items():
                with suppress(OSError):  # a run that is resumed has just taken it away
                    looks[update] = snapshot_results.look(file, sentence, right, kind)
    except HeadlightError as error:
        with st.container(border=True):
            st.text(str(error))
        return None
    if not looks:
        return None
    return Sweep(run.name, task, sentence, right, bool(known), kind, head, list(looks), list(looks.values()))


def _usual_sentence(task: Task, scene: Scene | None) -> str:
    """The sentence of the page, if the run reads such sentences; else an example of its own."""
    if (scene and scene.task == task) or not task.examples:
        return normalise(scene.translation.source) if scene else ""
    return task.examples[0]


def _answer(run: Run, sentence: str) -> str:
    """The right translation, where it is known."""
    toy = run.recipe.data.toy if run.recipe else None
    return (TOY_TASKS[toy].answer(sentence) or "") if toy else ""


def _choose_head(layers: int, heads: int) -> tuple[int, int] | None:
    """Layer and head, from 0; None: the clearest one."""
    every = [CLEAREST, *((layer, head) for layer in range(layers) for head in range(heads))]
    RUN_HEAD.open(allowed=every)
    chosen: tuple[int, int] = st.selectbox(
        "Layer and head",
        every,
        key=RUN_HEAD.key,
        persist_state="session",
        format_func=lambda at: "the clearest head" if at == CLEAREST else f"layer {at[0] + 1}, head {at[1] + 1}",
        width=NARROW,
        help="The clearest head of the newest snapshot attends most sharply to words, and at another from row to row.",
    )
    return None if chosen == CLEAREST else chosen

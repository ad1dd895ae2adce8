"""The question for the snapshots of a run: a sentence and a translation, whose probability each snapshot gives.

The sentence is the visitor's if the run reads its language; otherwise it is a sentence of the run's text, or an example
of its language, and the page says so. The translation is the right one if that is known (from a toy task, from the text
of the run, or typed by the visitor); otherwise it is the one that the newest snapshot writes.
"""

from dataclasses import dataclass

import streamlit as st

from app.compute import snapshot_results
from app.languages import _, gettext_noop, ngettext
from app.library import checkpoints
from app.library.catalogue import entry
from app.library.checkpoints import CheckpointFile
from app.library.runs import Run
from app.library.snapshots import snapshots
from app.library.tasks import Task, task_of
from app.stage.scene import Scene
from app.state.choice import Choice
from app.state.choices import RUN_RIGHT, RUN_SENTENCE
from app.views.training import launch_run
from app.views.training.known_pairs import known_pairs, right_translation
from transformer.config import ModelConfig
from transformer.data.toy_tasks import TOY_TASKS
from transformer.decoding.translator import Translator
from transformer.errors import HeadlightError
from transformer.text.normalisation import normalise

NO_SNAPSHOTS = gettext_noop(
    "This run has stored no snapshots. With training.snapshots=[0,50,100,200,400] in its recipe, or after --set, it "
    "stores a small checkpoint after each of these updates. This picture then shows the same sentence at each of them."
)

FIRST_COMES = gettext_noop(
    "This run stores its first snapshot when its text and its model are prepared. This picture then shows the same "
    "sentence at each snapshot."
)

NONE_YET = gettext_noop("This run was stopped before it stored its first snapshot.")


class NothingToAsk(Exception):
    """There is no question for the snapshots; the message says why. It may quote what a visitor typed."""


@dataclass(frozen=True)
class Question:
    """The question for all snapshots of a run.

    Attributes:
        files: the snapshots by update, the first one first. The last of them can be used.
        unusable: the updates of newer snapshots, which cannot be used.
        is_known: whether `target` is the right translation; else it is what the newest snapshot writes.
        parameters: the number of parameters of each snapshot.
        remark: why `sentence` is not the visitor's sentence; "" if it is.
    """

    run: str
    files: dict[int, CheckpointFile]
    unusable: tuple[int, ...]
    task: Task
    config: ModelConfig
    parameters: int
    sentence: str
    target: str
    is_known: bool
    remark: str

    @property
    def says(self) -> str:
        """What the decoder reads, in words."""
        return _("right translation") if self.is_known else _("final translation")


def question(run: Run, scene: Scene | None) -> Question:
    """The question for the snapshots of a run. Raises NothingToAsk."""
    files = snapshots(run.name)
    if not files:
        raise NothingToAsk(when_the_first_comes(run) or _(NONE_YET if _would_store_one(run) else NO_SNAPSHOTS))
    translator, update = _newest(files)
    newest_file, unusable = files[update], tuple(each for each in files if each > update and files[each].is_there)
    files = {each: file for each, file in files.items() if each <= update}
    try:
        task = task_of(translator)
        sentence, remark = _sentence(run, newest_file, translator, task, scene)
        known = _typed_right_translation(run, sentence) or right_translation(run, sentence)
        target = known or snapshot_results.written_by(newest_file, sentence)
    except (HeadlightError, OSError) as error:
        reason = str(error).replace(newest_file.path, newest_file.name)
        raise NothingToAsk(_("The newest snapshot cannot be used. {reason}", reason=reason)) from None
    if not target:
        raise NothingToAsk(_("The newest snapshot writes nothing for this sentence. Type another sentence."))
    model = translator.model
    return Question(
        run.name, files, unusable, task, model.config, model.parameter_count, sentence, target, bool(known), remark
    )  # fmt: skip


def when_the_first_comes(run: Run) -> str:
    """When a run that is being trained stores its first snapshot; "" if it stores none."""
    if not launch_run.is_busy(run.folder):
        return ""
    if run.recipe is None:  # one that was started in the browser begins with a snapshot
        return _(FIRST_COMES) if run.ours else ""
    first = min((update for update in run.recipe.training.snapshots if update >= run.update), default=None)
    if first is None:
        return ""
    if first == 0:
        return _(FIRST_COMES)
    return ngettext(
        "This run stores its first snapshot after {first:,} update. This picture then shows the same sentence at each "
        "snapshot.",
        "This run stores its first snapshot after {first:,} updates. This picture then shows the same sentence at each "
        "snapshot.",
        first,
        first=first,
    )


def _would_store_one(run: Run) -> bool:
    """Whether it was stopped, and stores a first snapshot if it is resumed."""
    planned = run.recipe.training.snapshots if run.recipe else ()
    return run.state == "stopped" and run.update <= min(planned, default=-1)


def _newest(files: dict[int, CheckpointFile]) -> tuple[Translator, int]:
    """The newest snapshot that can be read, and its update. Raises NothingToAsk."""
    reasons = []
    for update in sorted(files, reverse=True):
        try:
            return checkpoints.load_snapshot(files[update]), update
        except (HeadlightError, OSError) as error:
            reasons.append(str(error).replace(files[update].path, files[update].name))
    raise NothingToAsk(_("The newest snapshot cannot be used. {reason}", reason=reasons[0]))


def usual_sentence(run: Run, translator: Translator, task: Task, scene: Scene | None) -> tuple[str, str]:
    """(sentence, remark): the sentence of the page and "" if the run can read it; otherwise a sentence of the text of
    the run, or an example of its language, or "", and the reason."""
    reader = normalise(scene.translation.sentence) if scene else ""
    remark = _why_unsuitable(reader, translator, task, scene)
    if reader and not remark:
        return reader, ""
    examples = [*(source for source, _target in known_pairs(run)), *task.examples]
    return next((sentence for sentence in examples if not _too_long(sentence, translator)), ""), remark


def _sentence(
    run: Run, newest_file: CheckpointFile, translator: Translator, task: Task, scene: Scene | None
) -> tuple[str, str]:
    data = entry(newest_file).recipe("data")
    typed = normalise(_typed(RUN_SENTENCE, (str(data.get("toy")), str(data.get("source_language")))))
    if not typed:
        usual, remark = usual_sentence(run, translator, task, scene)
        if not usual:
            type_one = _("Type a sentence for it, under Details.")
            raise NothingToAsk(f"{remark} {type_one}".strip())
        return usual, remark
    if problem := _too_long(typed, translator):
        raise NothingToAsk(problem)
    return typed, ""


def _typed_right_translation(run: Run, sentence: str) -> str:
    """The right translation as the visitor has typed it for this sentence, or ""."""
    return _typed(RUN_RIGHT, (run.name, sentence)).strip()


def _typed(choice: Choice[str], now: tuple[str, ...]) -> str:
    """What the visitor has typed, or "". If it was typed for something else than what is shown now, it is forgotten."""
    key = f"{choice.key} typed for"  # in the session: a text, and what it was typed for
    text, before = st.session_state.get(key, ("", now))
    if choice.value == text and before != now:
        choice.forget()
    st.session_state[key] = (choice.value, now)
    return choice.value


def _why_unsuitable(sentence: str, translator: Translator, task: Task, scene: Scene | None) -> str:
    """Why this run cannot read the visitor's sentence, or ""."""
    is_toy = task.examples in (toy.examples for toy in TOY_TASKS.values())
    if scene and scene.task != task and (is_toy or scene.task.source != task.source):
        theirs, ours = (f"{each.source} → {each.target}" for each in (scene.task, task))
        if theirs == ours:
            return _("This run has learned a toy task, and your sentence may have words that it does not know.")
        return _("Your sentence is for {theirs}, this run for {ours}.", theirs=theirs, ours=ours)
    return _too_long(sentence, translator)


def _too_long(sentence: str, translator: Translator) -> str:
    tokens, limit = len(translator.tokenizer.encode(sentence)), checkpoints.most_tokens(translator)
    if tokens <= limit:
        return ""
    return _(
        "This sentence has {tokens:,} tokens; for this run the page shows up to {limit:,}. Shorten it.",
        tokens=tokens,
        limit=limit,
    )

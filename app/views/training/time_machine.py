"""The time machine: one sentence at every snapshot of a run, from its first weights on.

Every snapshot reads the same translation (teacher forcing, as in training). So a cell of the head's matrix is the same
query and key at each update, and the probabilities can be compared. The picture also shows what each snapshot writes by
itself.
"""

from typing import Any

import streamlit as st

from app import components
from app.compute.guess_signs import other_language
from app.figures.theme import role_color
from app.languages import _, gettext_noop, ngettext
from app.languages.numbers import formatted
from app.library.run_checkpoints import is_of_run
from app.library.run_samples import Samples, read_samples
from app.library.runs import Run, is_continued
from app.library.snapshots import run_names, snapshots
from app.stage.lecture import shown_scene
from app.stage.scene import Scene
from app.stage.template import say
from app.state.choices import AT_UPDATE, COMPARED, RUN
from app.state.events import open_checkpoint, take_sentence
from app.views.shared.show_figure import download_and_table
from app.views.training.samples_section import sample_rows, samples_alt, samples_table, shown_sample
from app.views.training.snapshot_question import NothingToAsk, Question, question, when_the_first_comes
from app.views.training.snapshot_rows import head_data, rows, rows_alt, rows_table
from app.views.training.snapshot_sweep import Sweep, sweep
from transformer.text.normalisation import normalise

MEANS_RIGHT = gettext_noop(
    "Each bar is the probability that the model gives to a token of the right translation, “{target}”, which it reads "
    "(teacher forcing; geometric mean over the tokens). Marked words differ from the row above."
)
MEANS_FINAL = gettext_noop(
    "Each bar is the probability that the model gives to a token of the final translation, “{target}”, which it reads "
    "(teacher forcing; geometric mean over the tokens). Marked words differ from the row above."
)


def time_machine(run: Run, scene: Scene | None, news: str) -> Sweep | None:
    """Draws the picture and the text below it. None: there is nothing to see, and the picture says why.

    Args:
        news: a text about a run that is being trained, or "".
    """
    seen, problem = None, ""
    try:
        seen = sweep(question(run, scene))
    except NothingToAsk as reason:
        problem = str(reason)
    _draw(run, seen, problem, {"model": _model(run, scene, seen), "news": news or _language(scene, seen)})
    if seen is None:
        _say_samples(run)
        return None
    asked = seen.question
    download_and_table(key="time_machine", name=f"{run.name} - {asked.sentence}"[:80], table=lambda: rows_table(seen))
    end = "" if asked.sentence.endswith((".", "!", "?")) else "."
    who = (
        _("{remark} The example is “{sentence}”{end}", remark=asked.remark, sentence=asked.sentence, end=end)
        if asked.remark
        else _(
            "Each row is the same model of the run “{run}” after more training, given “{sentence}”{end}",
            run=run.name,
            sentence=asked.sentence,
            end=end,
        )
    )
    say(who, _(MEANS_RIGHT if asked.is_known else MEANS_FINAL, target=asked.target), *_left_out(seen))
    return seen


def _left_out(seen: Sweep) -> list[str]:
    """Names the snapshots that cannot be used, if there are any."""
    if not seen.unusable:
        return []
    return [
        ngettext(
            "Left out, because it cannot be used: the snapshot of update {updates}.",
            "Left out, because they cannot be used: the snapshots of the updates {updates}.",
            len(seen.unusable),
            updates="; ".join(formatted(update, ",") for update in seen.unusable),
        )
    ]


def _samples(run: Run) -> Samples:
    """The sample translations, which are shown where the run has no snapshots."""
    return {} if snapshots(run.name) else read_samples(run.folder)


def _say_samples(run: Run) -> None:
    """Draws the text below the sample translations."""
    samples = _samples(run)
    if not samples:
        return
    download_and_table(key="time_machine", name=run.name, table=lambda: samples_table(samples))
    sample = samples[max(samples)][shown_sample(samples)]
    say(
        _(
            "Each row is what the run “{run}” wrote at a validation for “{sentence}”, of which “{reference}” is a "
            "right translation. Marked words differ from the row above.",
            run=run.name,
            sentence=sample.source,
            reference=sample.reference,
        ),
        when_the_first_comes(run)
        or _(
            "This run stored no snapshots. With training.snapshots=[0,50,100] in its recipe, or after --set, this "
            "picture shows your own sentence, and what the model attends to."
        ),
    )


def _model(run: Run, scene: Scene | None, seen: Sweep | None) -> str:
    """Says that the model of the run is another one than the open one; "" if the open checkpoint is of this run and not
    edited."""
    if scene is None or (seen is None and not _samples(run)):
        return ""
    if is_of_run(scene.subject.file.name, run.name):
        if not scene.subject.edits:
            return ""
        return _("“{run}” (without the edits of the model at the top of the page)", run=run.name)
    if seen and seen.question.parameters < scene.subject.translator.model.parameter_count:
        return _("“{run}” (a smaller model than the one at the top of the page)", run=run.name)
    return _("“{run}” (not the model at the top of the page)", run=run.name)


def _language(scene: Scene | None, seen: Sweep | None) -> str:
    """Says that the visitor's sentence seems to be in another language; else ""."""
    if scene is None or seen is None or seen.question.sentence != normalise(scene.translation.sentence):
        return ""
    sign = other_language(scene.subject, scene.translation, scene.hypothesis)
    return sign.of_the_sentence if sign else ""


def _draw(run: Run, seen: Sweep | None, problem: str, says: dict[str, str]) -> None:
    """Draws the picture. `says` has its texts about the model and the news."""
    files = seen.question.files if seen else {}
    if seen and seen.pending:
        says["news"] = ngettext(
            "{done} of {count:,} snapshot is computed",
            "{done} of {count:,} snapshots are computed",
            len(seen.results) + len(seen.pending),
            done=len(seen.results),
        )
    samples = _samples(run)
    data: dict[str, Any] = {
        "runs": run_names(),
        "run": run.name,
        "continued": is_continued(run),
        "subject": [run.name, shown_scene.name()],
        "problem": "" if samples else problem,
        "rows": rows(seen) if seen else sample_rows(samples),
        "head": head_data(seen) if seen else None,
        "share": _share(seen.question) if seen else "",
        "color": role_color("decoder"),
        "alt": _alt(run, seen, samples, problem),
        "at": AT_UPDATE.open(-1, [-1, *files]),
    } | says

    def opened(update: int) -> None:
        if seen and update in files:
            open_checkpoint(files[update].name)
            take_sentence(seen.question.sentence)

    with st.container(key="picture_time_machine"):
        components.time_machine(
            data, key="time_machine", on_run=_choose_run, on_snapshot=_stop_at, on_open=opened
        )  # fmt: skip


def _alt(run: Run, seen: Sweep | None, samples: Samples, problem: str) -> str:
    if seen:
        return rows_alt(seen)
    return samples_alt(samples) if samples else _("The run “{run}”. {problem}", run=run.name, problem=problem)


def _share(asked: Question) -> str:
    """What the bars show."""
    if asked.is_known:
        return _("mean probability per token of the right translation")
    return _("mean probability per token of the final translation")


def _choose_run(name: str) -> None:
    """Shows another run. If it was compared with the present one, the same runs are compared as before."""
    if name in COMPARED.value:
        COMPARED.choose([RUN.value if other == name else other for other in COMPARED.value])
    RUN.choose(name)
    AT_UPDATE.forget()


def _stop_at(update: int) -> None:
    AT_UPDATE.forget()
    if update >= 0:
        AT_UPDATE.choose(update)

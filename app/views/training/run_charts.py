"""Charts of runs: their loss, what else they measured, and their learning rate beside the paper's."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from app.figures.training_curves import Curve, Style, curve_alt, curve_chart, curve_table
from app.languages import _, with_label
from app.languages.numbers import in_latex
from app.library.runs import Run, read_curves
from app.library.source_code import joined_lines, lines_of_definition
from app.stage.scene import Scene
from app.views.shared.bleu_caption import say_where_bleu_is_0
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet
from app.views.training.learning_rate_curves import planned_rate, rate_of_the_paper
from transformer.config import Recipe, TrainingConfig
from transformer.recipe import stored_recipe
from transformer.training.learning_rate import cooldown_length


def loss_chart(runs: Sequence[Run], marked: int | None, sentence: tuple[np.ndarray, np.ndarray] | None) -> None:
    """Draws training and validation loss of the runs, and the loss of the sentence by snapshot (updates, values)."""
    curves = [
        *_curves(runs, "train", "loss", ""),
        *_curves(runs, "valid", "loss", _("validation"), "validation"),
    ]
    if sentence is not None:
        curves.append(Curve(runs[0].name, _("this sentence"), *sentence, None, "computed"))
    if not curves:
        return
    _place(curves, _("Loss"), _("nats per token"), key="loss", marked=marked)
    caption = _(
        "A nat is 1.44 bits. With a loss of 0.69 nats the right token has a probability of 1/2 (geometric mean). e to "
        "the power of the validation loss is the perplexity."
    )
    measured = [run for run in runs if ("train", "loss") in read_curves(run.folder)]
    if any(run.recipe and run.recipe.training.label_smoothing for run in measured):
        caption += " " + _("The training loss includes label smoothing, the validation loss does not.")
    st.caption(caption)


def measurements_section(runs: Sequence[Run]) -> None:
    """Draws the scores of the validations, the speed, and the norm of the gradient."""
    st.header(_("What the run measured"), anchor=False)
    scores = [*_curves(runs, "valid", "bleu", "BLEU"), *_curves(runs, "valid", "chrf", "chrF", "validation")]
    charts = [
        (scores, _("BLEU and chrF of the validation text"), _("0 to 100"), "scores"),
        (_curves(runs, "valid", "accuracy", ""), _("Tokens that are ranked first"), _("share"), "accuracy"),
        (_curves(runs, "train", "tokens_per_second", ""), _("Speed"), _("target tokens per second"), "speed"),
        (
            _curves(runs, "train", "gradient_norm", ""),
            _("Norm of the gradient, before clipping"),
            _("norm"),
            "gradient",
        ),
    ]
    measured = [chart for chart in charts if chart[0]]
    if runs and not measured:
        st.text(_not_yet(runs[0]))
    for row in (measured[:2], measured[2:]):
        if not row:
            continue
        for column, (curves, title, unit, key) in zip(st.columns(len(row), gap="medium"), row, strict=True):
            with column:
                _place(curves, title, unit, key=key, width=1100 // len(row))
                if key == "scores":
                    say_where_bleu_is_0(read_curves(run.folder) for run in runs)


def _not_yet(run: Run) -> str:
    """The text for a run that has no curves yet."""
    first = min(run.recipe.training.log_every, run.updates) if run.recipe else 0
    if run.update < first:
        return _("Nothing has been measured yet. The first numbers come after update {first:,}.", first=first)
    return _("Nothing has been measured yet.")


def rate_section(runs: Sequence[Run], scene: Scene | None) -> None:
    """Draws equation 3 and the rate of each run; if there is no run, the rate by the recipe of the checkpoint."""
    st.header(_("The learning rate"), anchor=False)
    half = in_latex("0.5")
    triplet(
        _("section 5.3, equation 3"),
        rf"lrate = d_{{\text{{model}}}}^{{-{half}}} \cdot \min(step\_num^{{-{half}}},\; "
        rf"step\_num \cdot warmup\_steps^{{-{in_latex('1.5')}}})",
        _(
            "“This corresponds to increasing the learning rate linearly for the first warmup_steps training steps, "
            "and decreasing it thereafter proportionally to the inverse square root of the step number.” The code "
            "multiplies three things: this curve, scaled to a peak of 1; the peak, which is the paper's unless the "
            "recipe names one; and a cool-down, which the paper does not have: over the last share `cooldown` of the "
            "updates, the rate falls to 0 in a straight line."
        ),
        lines_of_definition("training/learning_rate.py", "learning_rate"),
        whole=joined_lines(
            *(lines_of_definition("training/learning_rate.py", name) for name in ("_shape", "_cooldown"))
        ),
    )
    rate_chart(runs, scene)


def rate_chart(runs: Sequence[Run], scene: Scene | None) -> None:
    """Draws the rate of each run, or the one that the recipe plans, and that of equation 3."""
    curves = _curves(runs, "train", "rate", "")
    for place, run in enumerate(runs):
        if run.recipe and run.recipe.training.warmup:
            warmup, width = run.recipe.training.warmup, run.recipe.model.d_model
            curves.append(rate_of_the_paper(run.name, place, warmup, width, max(run.updates, 1)))
    recipe = _recipe_of(scene) if not runs else None
    if scene and recipe:
        plan, width = recipe.training, recipe.model.d_model
        curves = [planned_rate(scene.subject.file.name, 0, plan, width)]
        if plan.warmup:
            curves.append(rate_of_the_paper(scene.subject.file.name, 1, plan.warmup, width, plan.updates))
    plans = {run.name: run.recipe.training for run in runs if run.recipe}
    if scene and recipe:
        plans = {scene.subject.file.name: recipe.training}
    if any(cooldown_length(training) for training in plans.values()):
        st.text("\n".join(with_label(name, cooldown_text(training)) for name, training in plans.items()))
    _place(curves, _("Learning rate of each update"), _("rate"), key="rate", width=1100)


def cooldown_text(training: TrainingConfig) -> str:
    """The updates in which the rate of a run falls in a straight line, in words."""
    length = cooldown_length(training)
    if not length:
        return _("no cool-down")
    first, last = training.updates - length + 1, training.updates
    return _("cools down from update {first:,} to {last:,}", first=first, last=last)


def _recipe_of(scene: Scene | None) -> Recipe | None:
    checkpoint = scene.subject.translator.checkpoint if scene else None
    return stored_recipe(checkpoint.recipe) if checkpoint else None


def _curves(runs: Sequence[Run], kind: str, name: str, what: str, style: Style = "measured") -> list[Curve]:
    found = [(place, run, read_curves(run.folder).get((kind, name))) for place, run in enumerate(runs)]
    return [Curve(run.name, what, *points, place, style) for place, run, points in found if points is not None]


def _place(
    curves: Sequence[Curve], title: str, unit: str, *, key: str, marked: int | None = None, width: int = 560
) -> None:
    if not curves:
        return
    show_figure(
        curve_chart(curves, title=title, unit=unit, marked=marked, width=width),
        key=f"curve_{key}",
        name=title,
        alt=curve_alt(curves, title),
        table=lambda: curve_table(curves),
    )

"""Before and after: the translation by the original model and by the edited one, below each experiment."""

import math
from collections.abc import Sequence

from app import components
from app.components.outcome import OutcomeRow, OutcomeToken
from app.compute.outcomes import Outcome, outcome_of
from app.compute.subject import Subject
from app.figures.shares import probability_text
from app.figures.theme import minus, role_color
from app.languages import _, gettext_noop
from app.languages.numbers import formatted
from app.stage.scene import Scene
from app.views.shared import two_translations
from transformer.decoding.translation import Hypothesis

LARGEST = 5.0  # natural log: a bar is full where a token is 150 times less probable
SAME_TRANSLATION = (
    gettext_noop("The translation and its log-probability stay the same."),
    gettext_noop("The translation stays the same. Its log-probability is {change:.2f} lower."),
    gettext_noop("The translation stays the same. Its log-probability is {change:.2f} higher."),
)
BY_THE_EDITED_MODEL = (
    gettext_noop("For the edited model, the log-probability of the original translation stays the same."),
    gettext_noop("For the edited model, the log-probability of the original translation is {change:.2f} lower."),
    gettext_noop("For the edited model, the log-probability of the original translation is {change:.2f} higher."),
)


def before_and_after(scene: Scene, *, key: str, edited: Subject | None = None, label: str = "") -> Outcome:
    """Draws both translations; below each token of the original, how the edits change its log-probability.

    Args:
        edited: the edited model; if it is left out, that of the scene.
        label: the name of the edited model; if it is left out, "Edited model".
    """
    edited = edited or scene.subject
    found = outcome_of(edited, scene.translated_by(edited.original), scene.best(edited))
    labels = _("Original model"), label or _("Edited model")
    is_edited = bool(edited.edits)
    words = summary(found, labels) if is_edited else _("Nothing is edited yet: both are the same model.")
    two_rows(found, labels, words, is_edited=is_edited, language=scene.task.target_code, key=key)
    return found


def two_rows(
    found: Outcome, labels: tuple[str, str], words: str, *, is_edited: bool = True, language: str, key: str
) -> None:
    """Draws two translations token by token, and a sentence below them. Without edits, both rows have probabilities."""
    after = OutcomeRow(labels[1], _("probability"), _with_probabilities(found.after, found.new))
    if is_edited:
        changes = [
            OutcomeToken(token, gone, _signed(-lost), min(max(lost, 0) / LARGEST, 1))
            for token, gone, lost in zip(found.before.tokens, found.missing, found.lost, strict=False)
        ]
        before = OutcomeRow(labels[0], _("change in log-probability"), changes)
    else:
        before = OutcomeRow(labels[0], _("probability"), _with_probabilities(found.before, found.missing))
    components.outcome(
        (before, after),
        summary=words,
        color=role_color("decoder"),
        language=language,
        key=key,
    )


def _with_probabilities(hypothesis: Hypothesis, changed: Sequence[bool]) -> list[OutcomeToken]:
    return [
        OutcomeToken(token, differs, probability_text(math.exp(value)), math.exp(value))
        for token, differs, value in zip(hypothesis.tokens, changed, hypothesis.log_probabilities, strict=True)
    ]


def summary(found: Outcome, labels: tuple[str, str]) -> str:
    """What the edits do, in one sentence."""
    total = sum(found.lost)
    if found.compared.first_difference is None:
        return change_of_score(total, SAME_TRANSLATION)
    return f"{two_translations.summary(found.compared, labels)} {change_of_score(total, BY_THE_EDITED_MODEL)}"


def note_of_original_model(scene: Scene) -> str:
    """A note for a picture of the original model, if the model of the page has edits; else ""."""
    return " " + _("Of the original model, without the edits.") if scene.subject.edits else ""


def change_of_score(lost: float, texts: tuple[str, str, str]) -> str:
    """A sentence about a log-probability that is lower by `lost`; `texts` are for one that stays, falls or rises."""
    stays, falls, rises = texts
    if abs(lost) < 0.005:
        return _(stays)
    return _(falls if lost > 0 else rises, change=abs(lost))


def _signed(value: float) -> str:
    """The value with its sign; "" if it rounds to 0."""
    return "" if abs(value) < 0.05 else minus(formatted(value, "+.1f"))

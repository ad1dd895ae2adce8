"""Before and after: the translation by the original model and by the edited one, below each experiment."""

import math

from app import components
from app.components.outcome import OutcomeRow, OutcomeToken
from app.compute.outcomes import Outcome, outcome
from app.compute.subject import Subject
from app.figures.theme import minus, role_color
from app.stage.scene import Scene
from app.views.shared import two_translations

LARGEST = 5.0  # natural log: a bar is full where a token is 150 times less probable


def before_and_after(scene: Scene, *, key: str, edited: Subject | None = None, label: str = "Edited model") -> Outcome:
    """Draws both translations; below each token of the original, how the edits change its log-probability.

    Args:
        edited: the edited model; that of the scene if it is left out. label: its name.
    """
    edited = edited or scene.subject
    found = outcome(edited, scene.translation.source, scene.translation.settings, scene.best(edited))
    two_rows(
        found,
        ("Original model", label),
        summary(found, bool(edited.edits)),
        language=scene.task.target_code,
        key=key,
    )
    return found


def two_rows(found: Outcome, labels: tuple[str, str], words: str, *, language: str, key: str) -> None:
    """Draws two translations token by token, and a sentence below them."""
    before = [
        OutcomeToken(piece, gone, _signed(-lost), min(max(lost, 0) / LARGEST, 1))
        for piece, gone, lost in zip(found.before.pieces, found.missing, found.lost, strict=False)
    ]
    after = [
        OutcomeToken(piece, new, f"{math.exp(value):.0%}", math.exp(value))
        for piece, new, value in zip(found.after.pieces, found.new, found.after.log_probabilities, strict=True)
    ]
    components.outcome(
        (OutcomeRow(labels[0], "change in log-probability", before), OutcomeRow(labels[1], "probability", after)),
        summary=words,
        color=role_color("decoder"),
        language=language,
        key=key,
    )


def summary(found: Outcome, is_edited: bool) -> str:
    """What the edits do, in one sentence."""
    if not is_edited:
        return "Nothing is edited yet: both are the same model."
    total = sum(found.lost)
    if found.compared.parts_at is None:
        if abs(total) < 0.005:
            return "The translation and its log-probability stay the same."
        return f"The translation stays the same. Its log-probability {goes(total)}."
    return (
        f"{two_translations.summary(found.compared)} For the edited model, the log-probability of the first "
        f"{goes(total)}."
    )


def goes(lost: float) -> str:
    """What a log-probability does that has lost so much."""
    if abs(lost) < 0.005:
        return "stays the same"
    return f"is {abs(lost):.2f} {'lower' if lost > 0 else 'higher'}"


def _signed(value: float) -> str:
    """Nothing where it rounds to 0."""
    return "" if abs(value) < 0.05 else minus(f"{value:+.1f}")

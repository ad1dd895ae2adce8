"""Before and after: the translation by the original model and by the edited one, below each experiment."""

import math

from app import components
from app.components.outcome import OutcomeRow, OutcomeToken
from app.compute.outcomes import Outcome, outcome
from app.figures.theme import role_color
from app.stage.scene import Scene

LARGEST = 5.0  # natural log: a bar is full where a token is 150 times less probable


def before_and_after(scene: Scene, *, key: str) -> Outcome:
    """Draws both translations; below each token of the original, how much log-probability it lost by the edits."""
    found = outcome(scene.subject, scene.translation.source, scene.translation.settings)
    before = [
        OutcomeToken(piece, gone, _signed(-lost), min(max(lost, 0) / LARGEST, 1))
        for piece, gone, lost in zip(found.before.pieces, found.missing, found.lost, strict=False)
    ]
    after = [
        OutcomeToken(piece, new, f"{math.exp(value):.0%}", math.exp(value))
        for piece, new, value in zip(found.after.pieces, found.new, found.after.log_probabilities, strict=True)
    ]
    components.outcome(
        (
            OutcomeRow("Original model", "log-probability lost", before),
            OutcomeRow("Edited model", "probability", after),
        ),
        summary=summary(found, bool(scene.subject.edits)),
        color=role_color("decoder"),
        language=scene.task.target_code,
        key=key,
    )
    return found


def summary(found: Outcome, is_edited: bool) -> str:
    """What the edits do, in one sentence."""
    if not is_edited:
        return "Nothing is edited yet."
    if found.parts_at is None:
        total = sum(found.lost)
        if abs(total) < 0.005:
            return "The translation and its log-probability stay the same."
        how = "falls" if total > 0 else "rises"
        return f"The translation stays the same; its log-probability {how} by {abs(total):.2f}."
    changed = sum(found.new)
    tokens = "1 token is" if changed == 1 else f"{changed} tokens are"
    return f"The two part at token {found.parts_at + 1}; {tokens} new. The original loses {sum(found.lost):.2f} nats."


def _signed(value: float) -> str:
    """Nothing where it rounds to 0."""
    return "" if abs(value) < 0.05 else f"{value:+.1f}".replace("-", "−")

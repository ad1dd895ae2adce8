"""Whether the weights diverge: the loss climbs far above where it has been, and stays there.

A loss that is no number ends a run at once (update.py). More often a rate that is too high throws the model back to
guessing pieces by their frequency: a finite loss, and a run that seems to go on. So each line of the metrics holds its
loss against the lowest so far, and against ln V, that of guessing. One nat above it, and from then on nothing is saved
over what lies on disk; so three lines running, and the run ends. A climb that comes down again costs nothing.
"""

import math

from transformer.errors import TrainingError
from transformer.training.state import Progress

RISE = 1.0  # nats a target piece: pieces that are e times less probable
LINES = 3


def watch(progress: Progress, loss: float, warmup: int, vocab_size: int) -> None:
    """Takes note of a line's loss: `progress.climbing` counts the lines running that are far above.

    Args:
        loss: nats a target piece, the mean since the line before.
        warmup: updates in which a loss may still be anything.

    Raises:
        TrainingError: the weights diverge.
    """
    lowest = min(progress.lowest_loss or math.inf, math.log(vocab_size))
    progress.climbing = progress.climbing + 1 if progress.update > warmup and loss > lowest + RISE else 0
    progress.lowest_loss = min(progress.lowest_loss or math.inf, loss)
    if progress.climbing == LINES:
        raise TrainingError(
            f"The loss has climbed to {loss:.2f} and stays there, {loss - lowest:.2f} above where it was: at update "
            f"{progress.update} the weights diverge. What is saved is from before. Go on from there with --resume and "
            "a lower training.peak_rate, or with training.clip_norm = 1.0; or start anew with a longer training.warmup."
        )

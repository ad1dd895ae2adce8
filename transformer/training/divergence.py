"""Whether the weights diverge: the loss climbs far above where it has been, and stays there.

A loss that is no number ends a run at once (update.py). More often a rate that is too high throws the model back to
guessing pieces by their frequency: a finite loss, and a run that seems to go on. So the mean loss of every fifty
updates is held against the lowest of them so far, and against ln V, that of guessing. One nat above it, and nothing is
saved over what lies on disk until it has come down; so three times running, and the run ends. What has been gathered
since the last fifty counts for saving, too, once it is more than a few batches.
"""

import math

from transformer.errors import TrainingError
from transformer.training.state import Progress

RISE = 1.0  # nats a target piece: pieces that are e times less probable
WINDOW = 50  # updates that are judged together, however often a line of the metrics is written
LEAST = 10  # updates; the loss of fewer says more about their sentences than about the weights
TIMES = 3


def watch(progress: Progress, loss: float, tokens: int, warmup: int, vocab_size: int) -> None:
    """Takes note of an update; `progress.climbing` counts the windows running whose loss is far above the lowest.

    Args:
        loss: nats, summed over so many target pieces `tokens`.
        warmup: updates in which a loss may still be anything.

    Raises:
        TrainingError: the weights diverge.
    """
    progress.window_loss += loss
    progress.window_tokens += tokens
    progress.window_updates += 1
    if progress.window_updates < WINDOW:
        return
    mean, lowest = progress.window_loss / progress.window_tokens, _lowest(progress, vocab_size)
    progress.climbing = progress.climbing + 1 if _is_high(progress, warmup, vocab_size) else 0
    progress.lowest_loss = min(progress.lowest_loss or math.inf, mean)
    progress.window_loss, progress.window_tokens, progress.window_updates = 0.0, 0, 0
    if progress.climbing == TIMES:
        raise TrainingError(
            f"The loss has climbed to {mean:.2f} and stays there, {mean - lowest:.2f} above where it was: at update "
            f"{progress.update} the weights diverge. What is saved is from before. Go on from there with --resume and "
            "a lower training.peak_rate, or with training.clip_norm = 1.0; or start anew with a longer training.warmup."
        )


def may_be_saved(progress: Progress, warmup: int, vocab_size: int) -> bool:
    """Whether the weights are, as far as the loss tells, no worse than what has been saved."""
    return not progress.climbing and (progress.window_updates < LEAST or not _is_high(progress, warmup, vocab_size))


def _is_high(progress: Progress, warmup: int, vocab_size: int) -> bool:
    """Whether the updates of this window have a loss far above the lowest."""
    mean = progress.window_loss / max(progress.window_tokens, 1)  # a state from a file may have none
    return progress.update > warmup and mean > _lowest(progress, vocab_size) + RISE


def _lowest(progress: Progress, vocab_size: int) -> float:
    return min(progress.lowest_loss or math.inf, math.log(vocab_size))

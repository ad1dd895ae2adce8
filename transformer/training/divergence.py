"""Whether the weights diverge: the loss climbs far above where it has been, and stays there.

A loss that is no number ends a run at once (update.py). More often a rate that is too high throws the model back to
guessing pieces by their frequency: a finite loss, and a run that seems to go on. So the mean loss of every fifty
updates is held against the lowest of them so far, and after the warm-up also against ln V, that of guessing. One nat
above it, and nothing is saved over what lies on disk until it has come down; so three times running, and the run ends.
What has been gathered since the last fifty counts for saving, too, once it is more than a few batches.

Trap: most rates that are too high show while the warm-up still raises them, when an untrained loss may be anything: a
watch that begins after it saves what has diverged
(test_a_run_that_diverges_ends_and_goes_on_from_before_at_a_lower_rate).
"""

import math

from transformer.errors import TrainingError
from transformer.training.training_state import Progress

RISE = 1.0  # nats a target piece: pieces that are e times less probable
WINDOW = 50  # updates that are judged together, however often a line of the metrics is written
LEAST = 10  # updates; the loss of fewer says more about their sentences than about the weights
TIMES = 3

RESUME_ADVICE = (
    "Go on from there with --resume and a lower training.peak_rate, or with training.clip_norm = 1.0; or start anew "
    "with a longer training.warmup."
)


def watch(progress: Progress, loss: float, tokens: int, warmup: int, vocab_size: int) -> None:
    """Takes note of an update; `progress.climbing` counts the windows running whose loss is far above the lowest.

    Args:
        loss: nats, summed over so many target pieces `tokens`.
        warmup: updates in which a loss may still be worse than guessing.

    Raises:
        TrainingError: the weights diverge.
    """
    progress.window_loss += loss
    progress.window_tokens += tokens
    progress.window_updates += 1
    if progress.window_updates < WINDOW:
        return
    progress.climbing = progress.climbing + 1 if _rise(progress, warmup, vocab_size) > RISE else 0
    if progress.climbing == TIMES:
        rise = f"{_rise(progress, warmup, vocab_size):.2f} above where it was"
        raise _diverged(progress, vocab_size, f"has climbed to {_mean(progress):.2f} and stays there, {rise}")
    progress.lowest_loss = min(_lowest(progress), _mean(progress))
    progress.window_loss, progress.window_tokens, progress.window_updates = 0.0, 0, 0


def may_be_saved(progress: Progress, warmup: int, vocab_size: int) -> bool:
    """Whether the weights are, as far as the loss tells, no worse than what has been saved."""
    unsure = progress.window_updates < LEAST
    return not progress.climbing and (unsure or _rise(progress, warmup, vocab_size) <= RISE)


def check_end(progress: Progress, warmup: int, vocab_size: int) -> None:
    """A run that is over while its loss is high has diverged, too, with no updates left to come down in.

    Raises:
        TrainingError: the last weights may not be saved.
    """
    if not may_be_saved(progress, warmup, vocab_size):
        raise _diverged(progress, vocab_size, "has climbed far above where it was, and the run is over")


def _diverged(progress: Progress, vocab_size: int, how: str) -> TrainingError:
    """`how`: what the loss has done, if it ever was good."""
    guessing = math.log(vocab_size)
    if _lowest(progress) > guessing + RISE:
        return TrainingError(
            f"The loss has never come near {guessing:.2f}, that of guessing: at update {progress.update} the weights "
            "have diverged, those that are saved, too. Start anew in another --run-dir, with a lower "
            "training.peak_rate, a longer training.warmup or training.clip_norm = 1.0."
        )
    return TrainingError(
        f"The loss {how}: at update {progress.update} the weights diverge. What is saved is from before. "
        f"{RESUME_ADVICE}"
    )


def _rise(progress: Progress, warmup: int, vocab_size: int) -> float:
    """How far the loss of the updates gathered lies above the lowest, in nats a target piece."""
    guessing = math.log(vocab_size) if progress.update > warmup else math.inf
    return _mean(progress) - min(_lowest(progress), guessing)


def _mean(progress: Progress) -> float:
    return progress.window_loss / max(progress.window_tokens, 1)  # a state from a file may have none


def _lowest(progress: Progress) -> float:
    return math.inf if progress.lowest_loss is None else progress.lowest_loss

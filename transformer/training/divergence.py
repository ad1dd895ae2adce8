"""Detects that the weights diverge: the loss rises far above its lowest value and stays there.

A loss that is NaN or infinite ends a run immediately (training.py). More often, a learning rate that is too high makes
the model predict tokens by their frequency only: the loss is finite, and the run seems normal. So the mean loss of
every 50 updates (a window) is compared with the lowest such mean so far, and after the warm-up also with ln V, the loss
of a uniform guess. The loss of a window is too high if it is more than one nat above the lower of the two. After one
such window nothing is saved until the loss of a window is not too high; after three in a row the run ends. Before a
save, the mean of the unfinished window is compared, too, once it has at least 10 updates.

Trap: a learning rate that is too high mostly shows during the warm-up, when an untrained model may have any loss. A
check that starts after the warm-up would save diverged weights
(test_a_run_that_diverges_ends_and_continues_from_before_at_a_lower_rate).
"""

import math

from transformer.errors import TrainingError
from transformer.training.training_state import Progress

RISE = 1.0  # nats per target token: tokens are e times less probable
WINDOW = 50  # updates, independent of log_every
LEAST = 10  # updates; the loss of fewer depends more on their sentences than on the weights
TIMES = 3  # windows in a row

RESUME_ADVICE = (
    "Continue from there with --resume and a lower training.peak_rate, or with training.clip_norm = 1.0; or start a "
    "new run with a longer training.warmup."
)


def watch(progress: Progress, loss: float, tokens: int, warmup: int, vocab_size: int) -> None:
    """Records the loss of an update; `progress.climbing` counts the last windows in a row that were far too high.

    Args:
        loss: nats, summed over `tokens` target tokens.
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
        above = "its lowest value" if _lowest(progress) <= math.log(vocab_size) else "that of a uniform guess"
        rise = f"{_rise(progress, warmup, vocab_size):.2f} above {above}"
        raise _diverged(progress, vocab_size, f"has risen to {_mean(progress):.2f} and stays there, {rise}")
    progress.lowest_loss = min(_lowest(progress), _mean(progress))
    progress.window_loss, progress.window_tokens, progress.window_updates = 0.0, 0, 0


def may_be_saved(progress: Progress, warmup: int, vocab_size: int) -> bool:
    """Whether the loss shows no sign of divergence, so that the weights may be saved."""
    unsure = progress.window_updates < LEAST
    return not progress.climbing and (unsure or _rise(progress, warmup, vocab_size) <= RISE)


def check_end(progress: Progress, warmup: int, vocab_size: int) -> None:
    """A run that finishes while its loss is too high has diverged too: no updates are left in which it could fall.

    Raises:
        TrainingError: the last weights may not be saved.
    """
    if not may_be_saved(progress, warmup, vocab_size):
        raise _diverged(progress, vocab_size, "is too high, and the run is finished")


def _diverged(progress: Progress, vocab_size: int, how: str) -> TrainingError:
    """The error. `how` says what the loss has done; it is not used if the loss was never near that of a uniform
    guess."""
    guessing = math.log(vocab_size)
    if _lowest(progress) > guessing + RISE:
        return TrainingError(
            f"The loss was never near {guessing:.2f}, the loss of a uniform guess: at update {progress.update} the "
            "weights have diverged, and so have the saved ones. Start a new run in another --run-dir, with a lower "
            "training.peak_rate, a longer training.warmup or training.clip_norm = 1.0."
        )
    return TrainingError(
        f"The loss {how}: at update {progress.update} the weights have diverged. What is saved is from before. "
        f"{RESUME_ADVICE}"
    )


def _rise(progress: Progress, warmup: int, vocab_size: int) -> float:
    """How far the mean loss of the current window is above the lowest one, in nats per target token."""
    guessing = math.log(vocab_size) if progress.update > warmup else math.inf
    return _mean(progress) - min(_lowest(progress), guessing)


def _mean(progress: Progress) -> float:
    return progress.window_loss / max(progress.window_tokens, 1)  # a state from a file may have none


def _lowest(progress: Progress) -> float:
    return math.inf if progress.lowest_loss is None else progress.lowest_loss

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


class Divergence:
    """Follows the losses of a run.

    Args:
        progress: of the run. What is compared is stored in it, so that a resumed run continues the comparison;
            `progress.climbing` counts the last windows in a row whose loss was too high.
        warmup: updates in which a loss may still be worse than guessing.
    """

    def __init__(self, progress: Progress, warmup: int, vocab_size: int):
        self.progress = progress
        self.warmup = warmup
        self.uniform_loss = math.log(vocab_size)  # of a uniform guess, in nats per target token

    def add(self, loss: float, tokens: int) -> None:
        """Records the loss of an update: nats, summed over `tokens` target tokens.

        Raises:
            TrainingError: the weights diverge.
        """
        progress = self.progress
        progress.window_loss += loss
        progress.window_tokens += tokens
        progress.window_updates += 1
        if progress.window_updates < WINDOW:
            return
        progress.climbing = progress.climbing + 1 if self._rise > RISE else 0
        if progress.climbing == TIMES:
            above = "its lowest value" if self._lowest <= self.uniform_loss else "that of a uniform guess"
            rise = f"{self._rise:.2f} above {above}"
            raise self._error(f"has risen to {self._mean:.2f} and stays there, {rise}")
        progress.lowest_loss = min(self._lowest, self._mean)
        progress.window_loss, progress.window_tokens, progress.window_updates = 0.0, 0, 0

    @property
    def may_be_saved(self) -> bool:
        """Whether the loss shows no sign of divergence, so that the weights may be saved."""
        unsure = self.progress.window_updates < LEAST
        return not self.progress.climbing and (unsure or self._rise <= RISE)

    def check_end(self) -> None:
        """A run that finishes while its loss is too high has diverged too: no updates are left in which it could fall.

        Raises:
            TrainingError: the last weights may not be saved.
        """
        if not self.may_be_saved:
            raise self._error("is too high, and the run is finished")

    @property
    def _rise(self) -> float:
        """How far the mean loss of the current window is above the lowest one, in nats per target token."""
        guessing = self.uniform_loss if self.progress.update > self.warmup else math.inf
        return self._mean - min(self._lowest, guessing)

    @property
    def _mean(self) -> float:
        return self.progress.window_loss / max(self.progress.window_tokens, 1)  # a state from a file may have none

    @property
    def _lowest(self) -> float:
        return math.inf if self.progress.lowest_loss is None else self.progress.lowest_loss

    def _error(self, what_the_loss_does: str) -> TrainingError:
        """The error. Its argument is not used if the loss was never near that of a uniform guess."""
        update = self.progress.update
        if self._lowest > self.uniform_loss + RISE:
            return TrainingError(
                f"The loss was never near {self.uniform_loss:.2f}, the loss of a uniform guess: at update {update} the "
                "weights have diverged, and so have the saved ones. Start a new run in another --run-dir, with a lower "
                "training.peak_rate, a longer training.warmup or training.clip_norm = 1.0."
            )
        return TrainingError(
            f"The loss {what_the_loss_does}: at update {update} the weights have diverged. What is saved is from "
            f"before. {RESUME_ADVICE}"
        )

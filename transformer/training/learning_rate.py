"""The learning rate (paper, section 5.3, equation 3).

    rate(u) = d_model^-0.5 * min(u^-0.5, u * warmup^-1.5)

for update u = 1, 2, ...: it rises in a straight line to d_model^-0.5 * warmup^-0.5 at u = warmup, then falls with the
inverse square root. It is computed as a shape with peak 1, times the peak rate: that of the paper, unless the recipe
names another. Constant and cosine schedules have the same warm-up. With `cooldown`, any of them ends in a straight line
down to 0.
"""

import math

from transformer.config import TrainingConfig


def learning_rate(update: int, config: TrainingConfig, d_model: int) -> float:
    """The learning rate of update number `update`, counted from 1.

    Trap: a schedule that counts the optimizer's steps may be off by one, and one that starts at 0 divides by zero.
    Tests: test_the_optimizer_makes_update_u_with_the_rate_of_u,
    test_the_rate_at_updates_1_2_w_and_w_plus_1_is_the_papers.
    """
    peak = config.peak_rate
    if peak is None:
        peak = d_model**-0.5 * config.warmup**-0.5
    return peak * _shape(update, config) * _cooldown(update, config)


def _shape(update: int, config: TrainingConfig) -> float:
    """Rises from 0 to 1 until the end of the warm-up, and then follows the schedule."""
    if update < config.warmup:
        return update / config.warmup
    if config.schedule == "inverse_sqrt":
        return math.sqrt(config.warmup / update)
    if config.schedule == "cosine":
        done = (update - config.warmup) / max(1, config.updates - config.warmup)
        return 0.5 * (1 + math.cos(math.pi * min(1.0, done)))
    return 1.0


def _cooldown(update: int, config: TrainingConfig) -> float:
    """1 until the last `cooldown` share of the updates, then a straight line down: the last update has the smallest
    rate."""
    length = cooldown_length(config)
    if length == 0:
        return 1.0
    return min(1.0, max(0.0, (config.updates - update + 1) / (length + 1)))


def cooldown_length(config: TrainingConfig) -> int:
    """The number of updates at the end over which the rate falls to 0; 0 without a cool-down."""
    return round(config.cooldown * config.updates)

"""Training. In the order in which to read:

trainer training                                     a run from top to bottom, and one update
loss optimizer learning_rate                         paper, section 5
validation validation_schedule samples               scores, and when the run ends
run_folder training_state resume_check run_recipe    what is saved, and how a run is resumed
interrupt random_state                               stopping, and resuming to the same bits
run_start update_timing init_from back_translation   what happens before the first update
data_parallel distributed                            several processes
autocast precision loss_scaling compilation prefetch   arithmetic, fast on this machine
measurements flops metrics run_report divergence     what is measured and reported
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformer.training.trainer import train

__all__ = ["train"]


def __getattr__(name: str) -> object:
    """Imports `train` when it is first used: the app imports other modules of this package, and does not train."""
    if name != "train":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from transformer.training.trainer import train

    return train

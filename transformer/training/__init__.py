"""Training. In the order in which to read:

trainer training                                  a run from top to bottom, and one update
loss optimizer learning_rate                      paper, section 5
validation validation_schedule samples            scores, and when the run ends
run_folder training_state resume_check run_recipe what is saved, and how a run is resumed
run_start init_from back_translation              what happens before the first update
data_parallel distributed                         several processes
device precision loss_scaling compilation         arithmetic, fast on this machine
measurements metrics run_report divergence        what is measured and said
"""

from transformer.training.trainer import train

__all__ = ["train"]

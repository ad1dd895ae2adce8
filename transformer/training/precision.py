"""Which precision trains faster here: measured, because what the hardware says it supports is not always fast.

Some processors "support" bfloat16 and train in it at 32 tokens per second instead of 803 in float32. So a few updates
of a model that is thrown away are timed in float32 and in bfloat16, or in float16 on a CUDA device without bfloat16.
The first updates have few tokens, so that a precision that is far slower costs little time. The choice becomes a part
of the recipe of the run; a run that is resumed keeps it and measures nothing.
"""

from collections.abc import Sequence
from random import Random

import torch

from transformer.config import EOS, ModelConfig, Recipe, TrainingPrecision
from transformer.data.batches import Batch, collate
from transformer.data.data_options import DataConfig
from transformer.device import multiplies_bfloat16
from transformer.training.update_timing import TimedModel, some_rows

TOKENS = (50, 500, 4_096)  # target tokens of the updates that are timed, one size after the other
QUICK = (50, 500)  # the same, for a page on which a user waits for the result
LENGTH = 20  # tokens of a random sentence
CLEAR = 2.0  # if one precision is so many times as fast as the other, larger updates are not timed
GAIN = 1.1  # 16 bits are less exact, and are used if they are so many times as fast
TIMES = 3  # updates of each size; the fastest counts, because other programs only slow down


def faster_precision(recipe: Recipe, batches: Sequence[Batch], device: torch.device) -> tuple[TrainingPrecision, str]:
    """The precision, "float32", "bfloat16" or "float16", and a sentence with the speeds that were measured."""
    speeds, narrow = measured_speeds(recipe, batches, device), sixteen_bits(device)
    if narrow not in speeds:
        return "float32", f"float32: this device does not compute in {narrow}."
    chosen = narrow if speeds[narrow] > GAIN * speeds["float32"] else "float32"
    listed = ", ".join(f"{speed:,.0f} target tokens per second in {name}" for name, speed in speeds.items())
    return chosen, f"Computing in {chosen}: timed were {listed}."


def measured_speeds(
    recipe: Recipe, batches: Sequence[Batch], device: torch.device, sizes: Sequence[int] = TOKENS
) -> dict[TrainingPrecision, float]:
    """Target tokens per second in each precision in which this device computes.

    Args:
        sizes: target tokens of the updates that are timed, one size after the other.
    """
    model, speeds, narrow = TimedModel(recipe, device), dict[TrainingPrecision, float](), sixteen_bits(device)
    for tokens in sizes:
        part = some_rows(max(batches, key=lambda batch: batch.target_tokens), tokens)
        speeds = {"float32": _speed(model, part, "float32")}
        try:
            speeds[narrow] = _speed(model, part, narrow)
        except RuntimeError as error:  # this device does not have it
            if isinstance(error, torch.OutOfMemoryError):
                raise
            return speeds
        if not 1 / CLEAR < speeds[narrow] / speeds["float32"] < CLEAR:
            break
    return speeds


def sixteen_bits(device: torch.device) -> TrainingPrecision:
    """The precision of 16 bits that is timed: bfloat16, which needs no loss scaling, where a GPU has it."""
    return "float16" if device.type == "cuda" and not multiplies_bfloat16(device) else "bfloat16"


def speed_of(model: ModelConfig, device: torch.device) -> float:
    """Target tokens per second in training, in the precision that is faster. No text is needed: the sentences are
    random tokens."""
    draw = Random(1)
    sentences = [[draw.randrange(EOS + 1, model.vocab_size) for _ in range(LENGTH)] for _ in range(QUICK[-1] // LENGTH)]
    recipe = Recipe(model=model, data=DataConfig(toy="reverse"))
    return max(measured_speeds(recipe, [collate(sentences, sentences)], device, QUICK).values())


def _speed(model: TimedModel, batch: Batch, precision: TrainingPrecision) -> float:
    """Target tokens per second; the time of a first update is not counted."""
    return batch.target_tokens / min([model.update(batch, precision) for _ in range(1 + TIMES)][1:])

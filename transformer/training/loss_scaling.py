"""Loss scaling, which training in float16 needs (Micikevicius et al. 2018, "Mixed Precision Training", section 3.2).

float16 has no positive number below 6e-8, and many gradients are smaller. So the loss is multiplied by a scale before
the backward pass, and the gradients are divided by it before they are clipped. If the scale is too large, a gradient
overflows: then no weight changes, the scale is halved, and the same batches are computed again. So each update is one
step of Adam, and the learning rate and the position in the text never skip an update. After 2,000 updates in a row
without overflow the scale is doubled.

Every rank has the sum of all gradients, so all find the same overflow, and their scales stay equal.

Whether a gradient has overflowed must be known before the next update, so with float16 each update waits for the
device. float32 and bfloat16, which has the range of float32, need no scale, and here nothing is computed for them.
"""

import torch
from torch import Tensor
from torch.amp import GradScaler
from torch.optim import AdamW

from transformer.config import TrainingPrecision
from transformer.training.training_state import Progress

SMALLEST = 1.0  # if a gradient overflows at this scale, the scale is not the cause
GROWTH = {"growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2000}


class LossScale:
    """The scale of a run. It is a part of the progress, so that a resumed run continues with it."""

    def __init__(self, device: torch.device, precision: TrainingPrecision, progress: Progress):
        self._progress = progress
        self.is_used = precision == "float16"
        self._scaler = GradScaler(device.type, enabled=self.is_used)
        self._scaler.load_state_dict(
            {"scale": progress.loss_scale, "_growth_tracker": progress.updates_without_overflow, **GROWTH}
        )

    def scaled(self, loss: Tensor) -> Tensor:
        """The loss from which backward starts, a scalar."""
        scaled: Tensor = self._scaler.scale(loss)
        return scaled

    def unscale(self, optimizer: AdamW) -> None:
        """Divides the gradients by the scale, once all of them are added up."""
        self._scaler.unscale_(optimizer)

    def step(self, optimizer: AdamW) -> None:
        """Changes the weights."""
        self._scaler.step(optimizer)
        self._scaler.update()
        self._remember()

    def overflowed(self) -> bool:
        """Halves the scale, because a gradient is NaN or infinite. Returns whether that may help: otherwise the loss
        itself is NaN or infinite."""
        before = self._scaler.get_scale()
        self._scaler.update()
        self._remember()
        return SMALLEST <= self._scaler.get_scale() < before

    def _remember(self) -> None:
        if self.is_used:
            state = self._scaler.state_dict()
            self._progress.loss_scale = state["scale"]
            self._progress.updates_without_overflow = state["_growth_tracker"]

"""An edit of one query's row at a site of attention (B, H, Q, K), in a full pass or in one decoding step."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.model.probe import SiteEdit, StepwiseEdit
from transformer.model.zero_edit import is_head


@dataclass(frozen=True)
class Row(StepwiseEdit):
    """Changes the row of one query at a site (B, H, Q, K), in one head, or in all if `head` is None."""

    query: int
    head: int | None
    change: Callable[[Tensor], Tensor]

    def __call__(self, now: Tensor) -> Tensor:
        """In a pass over all positions."""
        if self.query >= now.shape[2]:
            return now
        row = torch.arange(now.shape[2], device=now.device)[:, None] == self.query  # (Q, 1)
        return torch.where(self._in_head(now) & row, self.change(now), now)  # (B, H, Q, K)

    def in_step(self, position: int) -> SiteEdit:
        """In a decoding step, where all rows belong to `position`."""
        return self._all_rows if position == self.query else _unchanged

    def _all_rows(self, now: Tensor) -> Tensor:
        return torch.where(self._in_head(now), self.change(now), now)  # (B, H, Q, K)

    def _in_head(self, now: Tensor) -> Tensor:
        if self.head is None:
            return torch.ones(1, dtype=torch.bool, device=now.device)
        return is_head(self.head, now)  # (H, 1, 1)


def _unchanged(now: Tensor) -> Tensor:
    return now

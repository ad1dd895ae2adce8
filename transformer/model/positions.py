"""Positional encoding (paper, section 3.5): self-attention does not know order, so order is added to its input.

    PE(pos, 2i)   = sin(pos / 10000^(2i / d_model))
    PE(pos, 2i+1) = cos(pos / 10000^(2i / d_model))

Sine and cosine of one wavelength are neighbours ("interleaved"). Much code, MarianMT among it, puts all sines
first and all cosines after ("concatenated"): the same numbers in another order. (tensor2tensor divides i by
d/2 - 1 instead of d/2, so its numbers differ.)

Each pair (2i, 2i+1) is a point on a circle, and k positions further it is rotated by k / 10000^(2i / d_model),
so PE(pos + k) is a linear function of PE(pos).
"""

from typing import Literal

import torch
from torch import Tensor, nn

from transformer.config import ModelConfig
from transformer.errors import HeadlightError

FIRST_ROWS = 1024  # rows of a new sinusoidal table; longer sentences extend it


def sinusoids(positions: int, d_model: int, layout: Literal["interleaved", "concatenated"] = "interleaved") -> Tensor:
    """The table PE: (positions, D) in float32.

    Computed in float64, because float32 is too coarse for the angles of large positions (Trap: half precision cannot
    even represent large positions. Test: test_sinusoids_stay_exact_under_autocast_and_at_far_positions).
    """
    position = torch.arange(positions, dtype=torch.float64)[:, None]  # (P, 1)
    exponent = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model  # (D/2) = 2i / d_model
    angle = position / 10000.0**exponent  # (P, D/2)
    pair = torch.stack([angle.sin(), angle.cos()], dim=-1)  # (P, D/2, 2)
    if layout == "concatenated":
        pair = pair.transpose(1, 2)  # (P, 2, D/2)
    return pair.reshape(positions, d_model).to(torch.float32)  # (P, D)


class PositionalEncoding(nn.Module):
    """Positions start .. start + length - 1 as vectors: sinusoidal, learned (section 3.5, table 3 row E) or none.

    The sinusoidal table is not saved with the weights, because it is computed by a formula and training does not change
    it. It grows when a longer sentence needs more rows, up to `max_positions`. So a file that states a large
    `max_positions` takes no memory for it.
    """

    table: Tensor

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.kind = config.positions
        self.layout = config.sinusoid_layout
        self.max_positions = config.max_positions
        if config.positions == "learned":
            self.table = nn.Parameter(draw_normal(torch.empty(config.max_positions, config.d_model), config))  # (P, D)
        elif config.positions == "sinusoidal":
            table = sinusoids(min(FIRST_ROWS, config.max_positions), config.d_model, config.sinusoid_layout)
            self.register_buffer("table", table, persistent=False)  # (P, D)
        else:
            self.register_buffer("table", torch.zeros(1, 1), persistent=False)  # no positions

    def forward(self, length: int, start: int = 0) -> Tensor:
        """(T, D): one vector per position; (T, 1) of zeros if there are no positions.

        Raises:
            HeadlightError: the table has no such positions.
        """
        if self.kind == "none":
            return self.table.expand(length, 1)  # (T, 1)
        end = start + length
        if end > self.max_positions:
            raise HeadlightError(
                f"Position {end} was requested, but this model has {self.max_positions} (max_positions). "
                "Use a shorter sentence."
            )
        # torch.compile must not trace `_grown`. `disable` is called here and is not a decorator, because a decorator
        # would import the compiler with this module, which takes a second.
        table = self.table  # read once: another thread may replace it
        if end > len(table):
            table = torch.compiler.disable(self._grown)(end)  # (P, D)
        return table[start:end]  # (T, D)

    def _grown(self, rows: int) -> Tensor:
        """The sinusoidal table with at least `rows` rows, which is kept for later calls: (P, D).

        The table is replaced by a larger one and never written to, so threads may share it.
        """
        rows = min(max(rows, 2 * len(self.table)), self.max_positions)
        with torch.inference_mode(False):
            table = sinusoids(rows, self.table.shape[1], self.layout).to(self.table)  # (P, D)
        if len(table) > len(self.table):  # another thread may have stored a larger one
            self.table = table
        return table


def draw_normal(weight: Tensor, config: ModelConfig, generator: torch.Generator | None = None) -> Tensor:
    """Fills a matrix of any shape with draws from N(0, 1/d_model), and returns it.

    A matrix on the meta device (`meta_model` in checkpoint/header.py) has no numbers and is returned at once: to fill
    it, torch would import its compiler, which takes seconds.
    """
    return weight if weight.is_meta else nn.init.normal_(weight, std=config.d_model**-0.5, generator=generator)

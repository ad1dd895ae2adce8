"""One head's attention for one query, by hand (equation 1, section 3.2.1):

    weight_j = e^(q·k_j / sqrt(d_k)) / sum of the same over all keys j that may be attended to
    context  = weight_1 v_1 + weight_2 v_2 + ...

Each intermediate is a property. The vectors are the model's tensors (float32) and the sums are computed in float64, so
each number of a model without edits equals that of the tensor up to the model's rounding
(test_every_intermediate_by_hand_is_the_tensors).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.languages import _
from app.views.shared.rounding import ROUNDING

DIGITS = 4  # how many digits of a number are written
LARGEST_EXPONENT = 80.0  # float32 overflows above e^88; a largest score beyond ±80 is subtracted from all scores


@dataclass(frozen=True)
class ByHand:
    """The calculation for one query.

    Attributes:
        query: (E,). keys, values: (K, E). mask: (K,), True = may attend.
        chosen: the key whose weight is written out, from 0.
    """

    query: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    mask: np.ndarray
    chosen: int

    @property
    def d_k(self) -> int:
        return len(self.query)

    @cached_property
    def terms(self) -> np.ndarray:
        """(E,): q_i k_i, whose sum is the product with the chosen key."""
        return self.query.astype(np.float64) * self.keys[self.chosen]

    @cached_property
    def order(self) -> np.ndarray:
        """(E,): the dimensions, sorted by |term|, the largest first."""
        return np.argsort(-np.abs(self.terms), kind="stable")

    @cached_property
    def products(self) -> np.ndarray:
        """(K,): q·k_j."""
        found: np.ndarray = self.keys.astype(np.float64) @ self.query.astype(np.float64)
        return found

    @cached_property
    def scores(self) -> np.ndarray:
        """(K,): divided by sqrt(d_k)."""
        return self.products / np.sqrt(self.d_k)

    @cached_property
    def masked_scores(self) -> np.ndarray:
        """(K,): -inf where masked."""
        return np.where(self.mask, self.scores, -np.inf)

    @cached_property
    def subtracted(self) -> float:
        """What is subtracted from each score before the exponential: 0, or the largest score if that is beyond ±80.

        Subtracting it divides each exponential, and so their sum, by the same number: the weights do not change.
        """
        largest = float(self.masked_scores.max()) if self.mask.any() else 0.0
        return largest if abs(largest) > LARGEST_EXPONENT else 0.0

    @cached_property
    def exponentials(self) -> np.ndarray:
        """(K,): e^score, exactly 0 where masked."""
        return np.exp(self.masked_scores - self.subtracted)

    @property
    def total(self) -> float:
        """The sum of the exponentials."""
        return float(self.exponentials.sum())

    @cached_property
    def weights(self) -> np.ndarray:
        """(K,): sums to 1; all 0 for a query that may attend to nothing."""
        return self.exponentials / (self.total or 1.0)

    @property
    def digits(self) -> int:
        """How many digits of exponentials are written: four, or enough to distinguish the chosen weight from 1."""
        others = 1 - float(self.weights[self.chosen])
        return DIGITS if others <= 0 or others > 0.5 * 10**-DIGITS else min(math.ceil(-math.log10(others)) + 1, 15)

    @cached_property
    def contributions(self) -> np.ndarray:
        """(K, E): weight_j v_j, whose sum over the keys is the context."""
        return self.weights[:, None] * self.values

    @cached_property
    def context(self) -> np.ndarray:
        """(E,): the weighted sum of the values."""
        found: np.ndarray = self.contributions.sum(axis=0)
        return found

    @property
    def with_sum(self) -> np.ndarray:
        """(K + 1, E): the contributions, and the context below them."""
        return np.vstack([self.contributions, self.context])

    @property
    def largest_dimension(self) -> int:
        """Where the context is largest, in absolute value."""
        return int(np.abs(self.context).argmax())

    @cached_property
    def keys_by_weight(self) -> np.ndarray:
        """(K,): the keys, sorted by weight, the largest first."""
        return np.argsort(-self.weights, kind="stable")


def first_edited(hand: ByHand, tensors: Mapping[str, np.ndarray], query: int) -> str | None:
    """The first site after the scores whose row differs from the calculation by more than rounding, because an edit
    changes the head there; None if there is none. For the arguments see `differences`."""
    for name in ("masked_scores", "weights", "context"):
        if not np.allclose(getattr(hand, name), tensors[name][query], ROUNDING, ROUNDING):
            return name
    return None


def differences(hand: ByHand, tensors: Mapping[str, np.ndarray], query: int) -> list[dict[str, str | float]]:
    """Each step by hand beside the model's own tensor, for the chosen key, as rows of a table.

    Args:
        tensors: `products`, `scores`, `masked_scores`, `weights` (Q, K) and `context` (Q, E) of the head.
        query: the row, from 0.
    """
    mine = {
        "products": hand.products,
        "scores": hand.scores,
        "masked_scores": hand.masked_scores,
        "weights": hand.weights,
        "context": hand.context,
    }
    rows: list[dict[str, str | float]] = []
    for name, values in mine.items():
        theirs = tensors[name][query].astype(np.float64)
        same = values == theirs  # compared first, because -inf minus -inf would be NaN
        apart = np.abs(np.where(same, 0.0, values) - np.where(same, 0.0, theirs)).max()
        at = hand.largest_dimension if name == "context" else hand.chosen
        rows.append(
            {
                _("site"): name,
                _("by hand"): float(values[at]),
                _("tensor"): float(theirs[at]),
                _("largest difference in the row"): float(apart),
            }
        )
    return rows

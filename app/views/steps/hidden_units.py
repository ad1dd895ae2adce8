"""Hidden units of the feed-forward network: which are above zero for a token (paper, section 3.3)."""

import numpy as np

from app.figures.axes import TokenAxis
from app.languages import _


def share_above_zero(after: np.ndarray) -> np.ndarray:
    """The share of units above zero for each token: (R, F) -> (R,)."""
    share: np.ndarray = (after > 0).mean(axis=-1)
    return share


def units_table(before: np.ndarray, after: np.ndarray, rows: TokenAxis) -> dict[str, list[str] | np.ndarray]:
    """For each token: how many units are above zero, and which have the largest values."""
    order = np.argsort(-after, axis=-1, kind="stable")[:, :5]  # (R, 5)
    return {
        _("token"): list(rows.names),
        _("units above 0"): (after > 0).sum(axis=-1),
        _("share"): share_above_zero(after),
        _("strongest units"): [", ".join(str(unit) for unit in row) for row in order],
        _("largest value"): after.max(axis=-1),
        _("lowest before"): before.min(axis=-1),
    }

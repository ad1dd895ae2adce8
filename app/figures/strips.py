"""The vectors of one token before, in and after a LayerNorm, each as a strip of d_model cells.

    LayerNorm(x) = γ · x̂ + β,   x̂ = (x - μ) / sqrt(σ² + ε)                            (Ba et al. 2016)

Read downwards, each column is the calculation of one dimension (test_each_column_of_a_layer_norm_is_the_calculation).
Colours end at three times the root mean square, or at the largest number if that is smaller. If they always ended at
the largest number, one outlier, as the vector of <s> has, would make all other cells pale.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.figures.theme import color_limit, signed_scale
from app.languages import _


@dataclass(frozen=True)
class Norm:
    """What a LayerNorm has learned, (D) each, and the ε that keeps it from dividing by 0."""

    gain: np.ndarray
    shift: np.ndarray
    epsilon: float


@dataclass(frozen=True)
class Strip:
    """A vector (D) with its name; colours go from -limit to limit."""

    name: str
    values: np.ndarray
    limit: float


def of_norm(before: np.ndarray, after: np.ndarray, norm: Norm, name: str = "x") -> tuple[Strip, ...]:
    """A row (D) before and after its LayerNorm, and the steps between; each strip has its own range of colours.

    Args:
        name: the name of the row before, as in the formula beside the picture.
    """
    rows = {
        name: before,
        f"({name} − μ) / √(σ² + ε)": standardised(before, norm.epsilon),
        _("· gain γ"): norm.gain,
        _("+ shift β"): norm.shift,
        f"= LayerNorm({name})": after,
    }
    return tuple(Strip(label, values, color_limit(values)) for label, values in rows.items())


def standardised(row: np.ndarray, epsilon: float) -> np.ndarray:
    """(x - μ) / sqrt(σ² + ε) of a row (D), in float64."""
    wide = row.astype(np.float64)
    found: np.ndarray = (wide - wide.mean()) / np.sqrt(wide.var() + epsilon)
    return found


def strips_picture(rows: Sequence[Strip], *, title: str, alt: str) -> dict[str, Any]:
    """Data of `app.components.vector_strips`. First it shows the dimension with the largest absolute value in the last
    row."""
    return {
        "title": title,
        "alt": alt,
        "scale": signed_scale(),
        "dimension": int(np.abs(rows[-1].values).argmax()),
        "rows": [{"name": row.name, "limit": row.limit, "values": row.values.astype(np.float32)} for row in rows],
    }


def strips_alt(rows: Sequence[Strip], title: str) -> str:
    """What the picture says, in words: how long each vector is."""
    lengths = (
        _("{name}: length {length:.2f}", name=row.name, length=float(np.linalg.norm(row.values.astype(np.float64))))
        for row in rows
    )
    return _("{title}. {lengths}. Arrow keys choose a dimension.", title=title, lengths="; ".join(lengths))


def strips_table(rows: Sequence[Strip]) -> dict[str, np.ndarray]:
    """One row per dimension, one column per strip."""
    return {_("dimension"): np.arange(len(rows[0].values)), **{row.name: row.values for row in rows}}

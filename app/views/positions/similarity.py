"""How alike two positions are: PE(p) . PE(q), for every pair and by their distance.

For sinusoids sin a sin b + cos a cos b = cos(a - b), so the product depends on the distance alone:

    PE(p) . PE(p + k) = sum over i of cos(k / 10000^(2i / d_model)),   at k = 0: d_model / 2

Products of learned positions may differ at the same distance: the band goes from the smallest to the largest.
"""

from dataclasses import dataclass

import numpy as np

from app.figures.charts import BAR_ROOM, Figure, axis, chart_layout, color_bar, plain_axis
from app.figures.panels import FigurePart, frame
from app.figures.sinusoids import frequencies
from app.figures.theme import INK, pair_color, signed_scale
from app.languages import _


@dataclass(frozen=True)
class OverDistance:
    """PE(p) . PE(p + k) over all p that the table has: mean, smallest and largest for each k, (K) each."""

    mean: np.ndarray
    least: np.ndarray
    most: np.ndarray

    @property
    def spread(self) -> float:
        """The largest difference between two pairs at the same distance."""
        return float((self.most - self.least).max())


def products(table: np.ndarray) -> np.ndarray:
    """(P, D) -> (P, P): PE(p) . PE(q)."""
    wide = table.astype(np.float64)
    return wide @ wide.T


def most_alike(table: np.ndarray, row: int) -> tuple[list[int], float]:
    """The other positions whose product with this one is largest, and that product.

    There are several positions if rounding of float32 hides which product is largest.
    """
    found = products(table)[row]
    found[row] = -np.inf
    return np.flatnonzero(np.isclose(found, found.max(), rtol=1e-5)).tolist(), float(found.max())


def over_distance(table: np.ndarray) -> OverDistance:
    """Gathers the diagonals of the matrix of products, from distance 0 to the longest there is."""
    matrix = products(table)
    diagonals = [np.diagonal(matrix, k) for k in range(len(matrix))]
    return OverDistance(
        np.array([d.mean() for d in diagonals]),
        np.array([d.min() for d in diagonals]),
        np.array([d.max() for d in diagonals]),
    )


def formula_over_distance(distances: np.ndarray, d_model: int) -> np.ndarray:
    """sum over i of cos(k w_i): (K) -> (K)."""
    return np.cos(np.asarray(distances)[:, None] * frequencies(d_model)).sum(axis=1)


def similarity_matrix(table: np.ndarray, *, title: str, row: int | None = None) -> Figure:
    """PE . PE of every position with every other, from the table (P, D); the row of position `row` is framed."""
    matrix = products(table)  # (P, P)
    limit = max(float(np.abs(matrix).max()), 1e-9)
    count = len(matrix)
    cells = {
        "type": "heatmap",
        "z": matrix.astype(np.float32),
        "hovertemplate": "PE(%{y}) · PE(%{x}) = %{z:.3f}<extra></extra>",
        "colorscale": signed_scale(),
        "zmin": -limit,
        "zmax": limit,
        "colorbar": color_bar(),
    }
    axes = {
        "xaxis": plain_axis("pos", [-0.5, count - 0.5], nticks=8),
        "yaxis": plain_axis("pos", [count - 0.5, -0.5], nticks=8),
        "shapes": [] if row is None else [frame(-0.5, count - 0.5, row - 0.5, row + 0.5, 2)],
    }
    return Figure([cells], chart_layout(title, 460, bottom=BAR_ROOM) | axes)


def similarity_curve(table: np.ndarray, *, title: str, formula: bool) -> Figure:
    """PE(p) . PE(p + k) over k: the mean over p, and the band from the smallest to the largest.

    Args:
        formula: whether the table is sinusoidal; then the sum of cosines is drawn too.
    """
    found = over_distance(table)
    distances = np.arange(len(found.mean), dtype=np.int32)
    band: FigurePart = {
        "type": "scatter",
        "x": np.concatenate([distances, distances[::-1]]),
        "y": np.concatenate([found.most, found.least[::-1]]).astype(np.float32),
        "fill": "toself",
        "mode": "lines",
        "line": {"width": 0, "color": pair_color(False)},
        "opacity": 0.3,
        "name": _("smallest to largest"),
        "hoverinfo": "skip",
    }
    data = [band]
    if formula:
        cosines = {
            "type": "scatter",
            "x": distances,
            "y": formula_over_distance(distances, table.shape[1]).astype(np.float32),
            "mode": "lines",
            "line": {"color": pair_color(True), "width": 2, "dash": "dot"},
            "name": "Σ cos(k / 10000^(2i/d))",
            "hoverinfo": "skip",
        }
        data.append(cosines)
    mean = {
        "type": "scatter",
        "x": distances,
        "y": found.mean.astype(np.float32),
        "mode": "markers" if formula else "lines+markers",
        "marker": {"color": INK, "size": 6},
        "line": {"color": INK, "width": 1.5},
        "name": _("mean over p"),
        "hovertemplate": _("distance k = %{x}") + "<br>PE(p) · PE(p+k) = %{y:.3f}<extra></extra>",
    }
    data.append(mean)
    low, high = float(found.least.min()), float(found.most.max())
    pad = 0.06 * max(high - low, 1e-6)
    more = {
        "xaxis": axis(_("distance k"), [-0.6, max(len(distances) - 0.4, 0.6)]),
        "yaxis": axis("PE(p) · PE(p+k)", [min(low, 0.0) - pad, max(high, 0.0) + pad]),
        "showlegend": True,
    }
    return Figure(data, chart_layout(title, 460, top=92, bottom=60) | more)


def matrix_table(table: np.ndarray) -> dict[str, np.ndarray]:
    """All products, one row and one column per position."""
    matrix = products(table)
    return {"pos": np.arange(len(matrix)), **{str(q): matrix[:, q] for q in range(len(matrix))}}


def curve_table(table: np.ndarray) -> dict[str, np.ndarray]:
    """One row per distance."""
    found = over_distance(table)
    return {
        _("distance k"): np.arange(len(found.mean)),
        _("mean"): found.mean,
        _("least"): found.least,
        _("most"): found.most,
    }

"""How alike two positions are at each distance, for sinusoidal and for learned positions, in one picture.

The products PE(p) . PE(p + k) are divided by both lengths, because learned vectors differ in length from the sinusoids
and from each other. The result is the cosine of the angle between the two vectors.
"""

from collections.abc import Mapping

import numpy as np

from app.figures.charts import Figure, axis, chart_layout
from app.figures.tables import Table
from app.figures.theme import pair_color
from app.languages import _
from app.views.positions.similarity import OverDistance, over_distance

HEIGHT, BELOW = 250, 76  # px: the height of a picture, and the part of it below the plot


def likeness(table: np.ndarray) -> OverDistance:
    """The cosines of the positions of a table (P, D), for each distance that at least P/2 pairs of positions have."""
    wide = table.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    found = over_distance(np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0))
    shown = len(table) // 2 + 1
    return OverDistance(found.mean[:shown], found.least[:shown], found.most[:shown])


def likeness_chart(kinds: Mapping[str, OverDistance], *, title: str) -> Figure:
    """The mean over all pairs of each distance, and the band from the smallest to the largest."""
    data = []
    for place, (name, found) in enumerate(kinds.items()):
        color, distances = pair_color(place > 0), np.arange(len(found.mean), dtype=np.int32)
        data.append(
            {
                "type": "scatter",
                "x": np.concatenate([distances, distances[::-1]]),
                "y": np.concatenate([found.most, found.least[::-1]]).astype(np.float32),
                "fill": "toself", "mode": "lines", "line": {"width": 0, "color": color}, "opacity": 0.22,
                "showlegend": False, "hoverinfo": "skip",
            }
        )  # fmt: skip
        data.append(
            {
                "type": "scatter",
                "x": distances,
                "y": found.mean.astype(np.float32),
                "mode": "lines+markers", "line": {"color": color, "width": 2}, "marker": {"color": color, "size": 6},
                "name": name,
                "hovertemplate": f"{name}<br>" + _("distance k = %{x}") + ": %{y:.3f}<extra></extra>",
            }
        )  # fmt: skip
    lowest = min((float(found.least.min()) for found in kinds.values()), default=0.0)
    longest = max((len(found.mean) for found in kinds.values()), default=1)
    more = {
        "xaxis": axis(_("distance k (line: mean, band: smallest to largest)"), [-0.6, longest - 0.4]),
        "yaxis": axis(_("cosine"), [min(lowest, 0.0) - 0.05, 1.05]),
        "showlegend": True,
    }
    return Figure(data, chart_layout(title, HEIGHT, top=70, bottom=BELOW) | more)


def likeness_table(kinds: Mapping[str, OverDistance]) -> Table:
    """One row per distance; NaN beyond the end of a table."""
    columns: dict[str, np.ndarray] = {}
    for name, found in kinds.items():
        columns |= {
            _("{name}: mean", name=name): found.mean,
            _("{name}: least", name=name): found.least,
            _("{name}: most", name=name): found.most,
        }
    rows = max((len(values) for values in columns.values()), default=0)
    filled = {name: np.pad(values, (0, rows - len(values)), constant_values=np.nan) for name, values in columns.items()}
    return {_("distance k"): np.arange(rows), **filled}

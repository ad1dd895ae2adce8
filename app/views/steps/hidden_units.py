"""Hidden units of the feed-forward network: which fire for a token, and which are silent (paper, section 3.3)."""

import numpy as np

from app.figures.axes import TokenAxis, visible
from app.figures.charts import Figure, axis, settled
from app.figures.theme import pair_color

SHOWN = 24  # units in the bar chart


def strongest_units(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The units of one token that answer most, then those furthest below zero: (F,) -> (SHOWN,)."""
    order = np.lexsort((before, -np.abs(after)))
    half = min(SHOWN, order.size) - min(SHOWN, order.size) // 3
    loud, rest = order[:half], order[half:]
    quiet = rest[np.argsort(before[rest], kind="stable")][: min(SHOWN, order.size) - half]
    return np.concatenate([loud, quiet])


def firing_units(
    before: np.ndarray, after: np.ndarray, rows: TokenAxis, row: int, *, title: str, activation: str
) -> Figure:
    """One row's units before and after the activation, the strongest and the most silenced.

    Args:
        before, after: (F) of that row, from 0.
    """
    units = strongest_units(before, after)
    both = ((f"before the {activation}", before), (f"after the {activation}", after))
    data = [
        {
            "type": "bar",
            "x": np.arange(len(units)),
            "y": values[units].astype(np.float32),
            "name": name,
            "marker": {"color": pair_color(bool(number)), "opacity": 0.95 if number else 0.45},
            "customdata": units,
            "hovertemplate": f"unit %{{customdata}}<br>{name}: %{{y:.4f}}<extra></extra>",
        }
        for number, (name, values) in enumerate(both)
    ]
    whose = f"{'reads' if rows.predicts else 'token'} {visible(rows.tokens[row])}"
    layout = settled(f"{title}, {whose}", 320, top=70, bottom=60) | {
        "barmode": "group",
        "xaxis": axis(
            "hidden unit", [-0.6, len(units) - 0.4], tickvals=list(range(len(units))),
            ticktext=[str(unit) for unit in units], showgrid=False,
        ),
        "yaxis": axis("value", zeroline=True),
    }  # fmt: skip
    return Figure(data, layout)


def share_firing(after: np.ndarray) -> np.ndarray:
    """The share of units above zero for each token: (R, F) -> (R,)."""
    share: np.ndarray = (after > 0).mean(axis=-1)
    return share


def firing_table(before: np.ndarray, after: np.ndarray, rows: TokenAxis) -> dict[str, list[str] | np.ndarray]:
    """For each token: how many units fire, and which answer most."""
    order = np.argsort(-after, axis=-1, kind="stable")[:, :5]  # (R, 5)
    return {
        "token": list(rows.names),
        "units above 0": (after > 0).sum(axis=-1),
        "share": share_firing(after),
        "strongest units": [", ".join(str(unit) for unit in row) for row in order],
        "strongest value": after.max(axis=-1),
        "lowest before": before.min(axis=-1),
    }

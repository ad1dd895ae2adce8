"""A family of models as a plot: a score over the one thing in which they differ, with the spread of the seeds.

The paper's table 3 has its own picture beside it and never the same axis: other models, other data, another text. Only
the order can be compared. A member whose checkpoint ships is a full point that can be clicked; one that was not run has
no point: its place says so, and no line leads across it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.figures.axes import plotly_text
from app.figures.charts import Figure, axis, settled
from app.figures.tables import Table
from app.figures.theme import CHOSEN, GROUND, INK, pair_color

NOT_RUN, NO_ROW = "not run", "not in the paper"


@dataclass(frozen=True)
class Place:
    """One member on the axis: its label, its score (None: not run), the spread over so many seeds.

    Attributes:
        opens: whether a click opens it. is_open: whether it is open now.
    """

    label: str
    score: float | None
    spread: float | None = None
    seeds: int = 0
    opens: bool = False
    is_open: bool = False


def family_chart(places: Sequence[Place], *, title: str, varies: str, unit: str, papers: bool = False) -> Figure:
    """Scores over the members, evenly spaced.

    Args:
        varies: title of the axis below, such as "heads h". unit: title of the upright one.
        papers: the numbers are those of the paper, in the other colour.
    """
    color = pair_color(papers)
    scores = np.array([np.nan if place.score is None else place.score for place in places], np.float64)
    spreads = np.array([place.spread or 0.0 for place in places], np.float64)
    points = {
        "type": "scatter",
        "x": np.arange(len(places), dtype=np.int16),
        "y": scores,
        "mode": "lines+markers" if all(_is_number(place.label) for place in places[:-1]) else "markers",
        "line": {"color": color, "width": 1.5, "dash": "dot"},
        "marker": {
            "size": 15,
            "color": [color if place.opens else GROUND for place in places],
            "line": {"width": 2.5, "color": [CHOSEN if place.is_open else color for place in places]},
        },
        "customdata": list(range(len(places))),
        "hovertext": [_told(place) for place in places],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "showlegend": False,
    }
    if spreads.any():
        points["error_y"] = {"type": "data", "array": spreads, "color": color, "thickness": 2, "width": 7}
    layout = settled(title, 330) | {
        "xaxis": axis(
            varies, [-0.5, len(places) - 0.5], showgrid=False, tickvals=list(range(len(places))),
            ticktext=[_tick(place) for place in places],
        ),
        "yaxis": axis(unit, _limits(scores, spreads)),
        "annotations": [
            {"x": x, "y": 0.5, "yref": "paper", "text": NO_ROW if papers else NOT_RUN, "textangle": -90}
            | {"showarrow": False, "font": {"color": INK, "size": 14}}
            for x, place in enumerate(places)
            if place.score is None
        ],
    }  # fmt: skip
    return Figure([points], layout)


def _limits(scores: np.ndarray, spreads: np.ndarray) -> list[float]:
    """So that differences are seen: not from 0, but never less than one unit of the score."""
    if np.isnan(scores).all():
        return [0.0, 1.0]
    low, high = float(np.nanmin(scores - spreads)), float(np.nanmax(scores + spreads))
    room = max(0.15 * (high - low), (1.0 - (high - low)) / 2, 0.05)
    return [low - room, high + room]


def _tick(place: Place) -> str:
    text = plotly_text(place.label)
    return f"<b>{text}</b>" if place.is_open else text


def _told(place: Place) -> str:
    if place.score is None:
        return ""
    spread = f" ± {place.spread:.2f}" if place.spread is not None else ""
    seeds = f", {place.seeds} seed{'s' if place.seeds > 1 else ''}" if place.seeds else ""
    opens = "<br>it is open" if place.is_open else "<br>click: open it" if place.opens else ""
    return f"{plotly_text(place.label)}: {place.score:.2f}{spread}{seeds}{opens}"


def _is_number(label: str) -> bool:
    """Values with an order are joined by a line. (The last may be "unlimited".)"""
    return label.replace(".", "", 1).isdigit()


def family_alt(places: Sequence[Place], title: str, *, papers: bool = False) -> str:
    """What the picture says, in words."""
    none = NO_ROW if papers else NOT_RUN
    said = [
        f"{place.label} {none if place.score is None else f'{place.score:.2f}'}"
        + (f" plus or minus {place.spread:.2f}" if place.spread is not None else "")
        for place in places
    ]
    return f"{title}. {', '.join(said)}."


def family_table(places: Sequence[Place], varies: str, unit: str, *, papers: bool = False) -> Table:
    """A row a member."""
    none = NO_ROW if papers else NOT_RUN
    return {
        varies: [place.label for place in places],
        unit: [none if place.score is None else place.score for place in places],
        "spread": ["" if place.spread is None else place.spread for place in places],
        "seeds": [place.seeds or "" for place in places],
    }

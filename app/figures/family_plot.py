"""A family of models as a plot: a score over the one thing in which they differ, with a bar from the lowest run to the
highest.

The numbers of the paper's table 3 have their own picture beside it and never the same axis, because the models, the
data and the test text are different: only the order can be compared. A member whose checkpoint ships is a filled point
that can be clicked. A member that was not run has no point but a text at its place. Our axis begins at 0, so that a
small difference looks small.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.figures.axes import plotly_text
from app.figures.charts import Figure, axis, chart_layout
from app.figures.tables import Table
from app.figures.theme import BACKGROUND, CHOSEN, INK, pair_color
from app.languages import _, gettext_noop, ngettext, with_label
from app.languages.numbers import formatted

NOT_RUN, NO_ROW = gettext_noop("not trained"), gettext_noop("not in the paper")


@dataclass(frozen=True)
class Place:
    """One member on the axis.

    Attributes:
        score: None: it was not run.
        ends: the lowest and the highest score of its runs. runs: how many there are.
        opens: whether a click opens it. is_open: whether it is open now.
    """

    label: str
    score: float | None
    ends: tuple[float, float] | None = None
    runs: int = 0
    opens: bool = False
    is_open: bool = False


def family_chart(
    places: Sequence[Place], *, title: str, varies: str, unit: str, percent: bool = False, from_paper: bool = False
) -> Figure:
    """Scores over the members, evenly spaced.

    Args:
        varies: title of the axis below, such as "heads h". unit: title of the vertical axis.
        percent: the axis goes from 0 to 100%. from_paper: the numbers are those of the paper, in the other colour.
    """
    color = pair_color(from_paper)
    scores = np.array([np.nan if place.score is None else place.score for place in places], np.float64)
    lows, highs = (np.array([ends[i] for ends in map(_ends, places)], np.float64) for i in (0, 1))
    points = {
        "type": "scatter",
        "x": np.arange(len(places), dtype=np.int16),
        "y": scores,
        "mode": "markers+text",
        "text": ["" if place.score is None else f"  {formatted(place.score, '.1f')}" for place in places],
        "textposition": "middle right",
        "textfont": {"color": INK, "size": 15},
        "marker": {
            "size": 11,
            "color": [color if place.opens else BACKGROUND for place in places],
            "line": {"width": 2.5, "color": [CHOSEN if place.is_open else color for place in places]},
        },
        "customdata": list(range(len(places))),
        "hovertext": [_hover_text(place) for place in places],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "showlegend": False,
    }
    if np.nansum(highs - lows):
        points["error_y"] = {
            "type": "data", "symmetric": False, "array": highs - scores, "arrayminus": scores - lows,
            "color": color, "thickness": 2, "width": 12,
        }  # fmt: skip
    layout = chart_layout(title, 330) | {
        "xaxis": axis(
            varies, [-0.5, len(places) - 0.5], showgrid=False, tickvals=list(range(len(places))),
            ticktext=[_tick(place) for place in places],
        ),
        "yaxis": axis(unit, [-6.0, 107.0] if percent else _limits(lows, highs, from_paper)),
        "annotations": [
            {"x": x, "y": 0.5, "yref": "paper", "text": _(NO_ROW if from_paper else NOT_RUN), "textangle": -90}
            | {"showarrow": False, "font": {"color": INK, "size": 14}}
            for x, place in enumerate(places)
            if place.score is None
        ],
    }  # fmt: skip
    return Figure([points], layout)


def _limits(lows: np.ndarray, highs: np.ndarray, from_paper: bool) -> list[float]:
    """The limits of the score axis. It begins just below 0, so that a point at 0 is drawn whole. The numbers of the
    paper are close to each other, so their axis begins below the lowest of them and is at least 3 points long."""
    if np.isnan(lows).all():
        return [0.0, 1.0]
    low, high = float(np.nanmin(lows)), float(np.nanmax(highs))
    if not from_paper:
        return [-0.06 * max(high, 1.0), 1.1 * max(high, 1.0)]
    room = max(0.15 * (high - low), (3.0 - (high - low)) / 2)
    return [low - room, high + room]


def _ends(place: Place) -> tuple[float, float]:
    return place.ends or (np.nan if place.score is None else place.score,) * 2


def _tick(place: Place) -> str:
    text = plotly_text(place.label)
    return f"<b>{text}</b>" if place.is_open else text


def _hover_text(place: Place) -> str:
    if place.score is None:
        return ""
    parts = [with_label(plotly_text(place.label), formatted(place.score, ".2f"))]
    if place.ends:
        parts.append(_range(place))
    elif place.runs:
        parts.append(ngettext("{count} run", "{count} runs", place.runs))
    opens = _("<br>it is open") if place.is_open else _("<br>click to open") if place.opens else ""
    return ", ".join(parts) + opens


def _range(place: Place) -> str:
    low, high = _ends(place)
    return _("{runs} runs from {low:.2f} to {high:.2f}", runs=place.runs, low=low, high=high)


def family_alt(places: Sequence[Place], title: str, *, from_paper: bool = False) -> str:
    """What the picture says, in words."""
    none = _(NO_ROW if from_paper else NOT_RUN)
    entries = [
        f"{place.label} {none if place.score is None else formatted(place.score, '.2f')}"
        + (f" ({_range(place)})" if place.ends else "")
        for place in places
    ]
    return f"{title}. {', '.join(entries)}."


def family_table(places: Sequence[Place], varies: str, unit: str, *, from_paper: bool = False) -> Table:
    """One row per member."""
    none = _(NO_ROW if from_paper else NOT_RUN)
    return {
        varies: [place.label for place in places],
        unit: [none if place.score is None else place.score for place in places],
        _("lowest"): ["" if place.ends is None else place.ends[0] for place in places],
        _("highest"): ["" if place.ends is None else place.ends[1] for place in places],
        _("runs"): [place.runs or "" for place in places],
    }

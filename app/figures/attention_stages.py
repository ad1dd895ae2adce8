"""One row of attention through all its stages: one line per key, one column per stage, four digits in each cell.

From the stage of the mask on, a masked score is -inf, and its weight is 0; those cells are grey and have a text. Only
the weights are coloured, in the scale that all pictures of weights have.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.figures.axes import TokenAxis, plotly_text, ticks
from app.figures.charts import Figure, chart_layout
from app.figures.panels import BARE, frame, heat, words
from app.figures.tensor import label_width
from app.figures.theme import INK, MASKED, TICK_SIZE, number, role_color, text_on_weight, weight_scale
from app.languages import _, with_label
from app.languages.numbers import localised

ROW = 28  # px
NUMBER_SIZE = 16  # px
LISTED = 40  # keys whose numbers are read out


@dataclass(frozen=True)
class Stage:
    """A column: its name (marked for translation), a value per key (K,), and its entry in the line of sums."""

    name: str
    values: np.ndarray
    total: float | None = None


def plain(value: float | bool) -> str:
    """Four digits, or what a mask says: 0.3804, 12.34, 1.234×10⁷, −∞, allowed."""
    if isinstance(value, bool | np.bool_):
        return _("allowed") if value else _("masked")
    return number(float(value), 4)


def short(value: float | bool) -> str:
    """As `plain`, for narrow cells: two digits, yes or no."""
    if isinstance(value, bool | np.bool_):
        return _("yes") if value else _("no")
    text = number(float(value), 2)
    if len(text) <= 6:
        return text
    return localised(">0.99") if 0.99 < value < 1 else number(float(value), 1)


def stages_figure(
    stages: Sequence[Stage],
    keys: TokenAxis,
    mask: np.ndarray,
    *,
    title: str,
    chosen: int | None = None,
) -> Figure:
    """The stages of one query, the last of which are the weights.

    Args:
        keys: one for each line.
        mask: (K,), True = may attend.
        chosen: a key to frame, from 0.
    """
    lines, columns = len(keys), len(stages)
    sums = any(stage.total is not None for stage in stages)
    weights = stages[-1].values
    color = np.full((lines, columns), np.nan, dtype=np.float32)  # (K, stages)
    color[:, -1] = np.where(mask, weights, np.nan)
    grey = np.full((lines, columns), np.nan, dtype=np.float32)  # (K, stages)
    masked = [stage.values.dtype == bool or bool(np.isinf(stage.values).any()) for stage in stages]
    grey[~mask, masked.index(True) if True in masked else columns :] = 1  # from the mask on
    texts = [plain(value) for stage in stages for value in stage.values]
    pairs = zip(weights, mask, strict=True)
    inks = [INK] * (lines * (columns - 1))
    inks += [text_on_weight(float(weight)) if allowed else INK for weight, allowed in pairs]
    names = [f"{text}  {i}" for i, text in enumerate(ticks(keys.tokens), start=1)] + [_("sum")] * sums
    room = {"columns": columns, "beside": label_width(keys.tokens, TICK_SIZE) + 30}  # see chart.js
    x, y = np.repeat(np.arange(columns, dtype=np.int16), lines), np.tile(np.arange(lines, dtype=np.int16), columns)
    data = [
        heat(color, weight_scale(), 0, 1, xgap=0),
        heat(grey, [(0, MASKED), (1, MASKED)], 0, 1, xgap=0),
        words(
            x,
            y,
            texts,
            inks,
            NUMBER_SIZE,
            meta=room | {"short": [short(value) for stage in stages for value in stage.values]},
        ),
    ]
    shapes = []
    if sums:
        totals = [(i, plain(stage.total)) for i, stage in enumerate(stages) if stage.total is not None]
        at = np.array([i for i, text in totals], dtype=np.int16)
        summed = [text for i, text in totals]
        below = words(at, np.full(len(totals), lines), summed, INK, NUMBER_SIZE, meta=room | {"short": summed})
        data.append(below | {"textfont": below["textfont"] | {"weight": 700}})
        edge = {"x0": -0.5, "x1": columns - 0.5, "y0": lines - 0.5, "y1": lines - 0.5}
        shapes.append({"type": "line", "line": {"color": INK, "width": 1}} | edge)
    if chosen is not None:
        shapes.append(frame(-0.5, columns - 0.5, chosen - 0.5, chosen + 0.5, 3))
    layout = chart_layout(title, 90 + ROW * (lines + sums), top=76, bottom=10) | {
        "xaxis": BARE
        | {
            "side": "top",
            "tickvals": list(range(columns)),
            "ticktext": [f"<b>{plotly_text(_(stage.name))}</b>" for stage in stages],
            "tickfont": {"size": 14, "color": INK},
            "range": [-0.5, columns - 0.5],
        },
        "yaxis": BARE
        | {
            "tickvals": list(range(lines + sums)),
            "ticktext": names,
            "tickfont": {"size": TICK_SIZE, "color": role_color(keys.role)},
            "range": [lines - 0.5 + sums, -0.5],
            "automargin": True,
        },
        "shapes": shapes,
    }
    return Figure(data, layout)


def stages_table(stages: Sequence[Stage], keys: TokenAxis) -> dict[str, list[str] | np.ndarray]:
    """The same numbers as columns of a table, the first of which names the keys."""
    return {_("key"): list(keys.names), **{_(stage.name): stage.values for stage in stages}}


def stages_alt(stages: Sequence[Stage], keys: TokenAxis, title: str) -> str:
    """What the picture says, in words: each key with its numbers."""
    lines = [
        with_label(name, ", ".join(f"{_(stage.name)} {plain(stage.values[i])}" for stage in stages))
        for i, name in enumerate(keys.names[:LISTED])
    ]
    if len(keys) > LISTED:
        first = _("{title}. The first {listed} of {count} keys:", title=title, listed=LISTED, count=len(keys))
    else:
        first = _("{title}. Each of {count} keys:", title=title, count=len(keys))
    return f"{first} {'; '.join(lines)}."

"""Two translations of one sentence, token by token: how their sums of log-probabilities grow.

Greedy decoding takes the most probable token at each step. A beam may take a less probable one: its sum is lower then,
but may be higher at the end. log p(y | x) = sum over t of log p(y_t | y_<t, x) (paper, section 6.1).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.figures.axes import in_words, plotly_text
from app.figures.charts import Figure, axis, chart_layout, line_at
from app.figures.tables import Table
from app.figures.theme import CHOSEN, pair_color, score_text
from app.languages import _, with_label


def running_sums(log_probabilities: Sequence[float]) -> np.ndarray:
    """The sum of log-probabilities after each step: (T) float64."""
    return np.cumsum(np.asarray(log_probabilities, dtype=np.float64))  # (T)


def running_chart(
    log_probabilities: Sequence[Sequence[float]],
    tokens: Sequence[Sequence[str]],
    names: Sequence[str],
    first_difference: int,
    *,
    title: str,
) -> Figure:
    """Two lines over the steps, from the last step that they share; the end of each line is labelled with its sum.

    Args:
        log_probabilities: of the tokens of each of the two outputs. tokens: these tokens, for the hover.
        first_difference: the first step at which the outputs differ, from 0.
    """
    begin = max(first_difference - 1, 0)
    sums = [running_sums(each)[begin:] for each in log_probabilities]  # (T - begin) each
    last = begin + max(map(len, sums))
    low, high = min(float(each.min()) for each in sums), max(float(each.max()) for each in sums)
    room = 0.15 * max(high - low, 0.1)
    data: list[dict[str, Any]] = []
    for i, (each, written, name) in enumerate(zip(sums, tokens, names, strict=True)):
        color = pair_color(bool(i))
        above = each[-1] >= sums[1 - i][-1]
        line = {
            "type": "scatter",
            "x": np.arange(begin + 1, begin + len(each) + 1, dtype=np.int16),
            "y": each.astype(np.float32),
            "mode": "lines+markers+text",
            "line": {"color": color, "width": 3, "dash": "dot" if i else "solid"},
            "marker": {"color": color, "size": 8, "symbol": "square" if i else "circle"},
            "text": [*[""] * (len(each) - 1), score_text(float(each[-1]))],
            "textposition": "top right" if above else "bottom right",
            "textfont": {"size": 15, "color": color},
            "cliponaxis": False,
            "name": name,
            "customdata": [plotly_text(in_words(token)) for token in written[begin:]],
            "hovertemplate": _("step {step}: {token}<br>sum {sum}", step="%{x}", token="%{customdata}", sum="%{y:.3f}")
            + f"<extra>{name}</extra>",
        }
        data.append(line)
    steps = [begin + 0.8, last + 0.5 + 0.06 * (last - begin)]
    layout = chart_layout(title, 320, top=72) | {
        "xaxis": axis(_("step"), steps, dtick=max((last - begin) // 12, 1)),
        "yaxis": axis(_("sum of log p"), [low - room, high + room]),
        "shapes": [line_at(x=first_difference + 1, line={"color": CHOSEN, "width": 2, "dash": "dot"})],
        "showlegend": True,
    }
    return Figure(data, layout)


def running_table(
    log_probabilities: Sequence[Sequence[float]], tokens: Sequence[Sequence[str]], names: Sequence[str]
) -> Table:
    """One row per step: the token of each output, its log-probability, and the sum so far; empty after an
    output has ended."""
    longest = max(map(len, tokens))
    found: dict[str, Sequence[Any]] = {_("step"): list(range(1, longest + 1))}
    for each, written, name in zip(log_probabilities, tokens, names, strict=True):
        rest = [None] * (longest - len(written))
        found |= {
            _("{name}: token", name=name): [*written, *rest],
            with_label(name, "log p"): [*each, *rest],
            _("{name}: sum", name=name): [*running_sums(each).tolist(), *rest],
        }
    return found

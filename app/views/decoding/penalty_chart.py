"""Which hypothesis would win under another length penalty: the places of all, ranked by sum / lp(length), over alpha.

At alpha = 0 the plain sum decides, which favours short hypotheses; the larger alpha is, the more a long hypothesis
gains. The scores themselves shrink towards 0 as alpha grows, so the picture shows places; hover and table show scores.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.figures.charts import Figure, axis, chart_layout, line_at
from app.figures.tables import Table
from app.figures.theme import CHOSEN, INK, fixed, role_color
from app.languages import _, pgettext, with_label


def penalty_lines(
    scores: np.ndarray,
    alphas: Sequence[float],
    names: Sequence[str],
    at: int,
    *,
    title: str,
) -> Figure:
    """The places of the hypotheses over alpha. The one that wins at alphas[at] has a thick line and its score.

    Args:
        scores: (hypotheses, alphas).
        names: short names of the hypotheses, "A", "B", ...
    """
    places = 1 + (-scores).argsort(axis=0, kind="stable").argsort(axis=0)  # (hypotheses, alphas)
    winner = int(scores[:, at].argmax())
    # The side of the line at α on which the score is written.
    side = "right" if alphas[at] < (alphas[0] + alphas[-1]) / 2 else "left"
    data: list[dict[str, Any]] = []
    for i in sorted(range(len(names)), key=lambda i: i == winner):
        wins = i == winner
        winning = _("{name} is best: {score}", name=names[i], score=fixed(float(scores[i, at]), 3))
        color = role_color("decoder") if wins else "rgba(128, 136, 150, 0.85)"
        line = {
            "type": "scatter",
            "x": np.asarray(alphas),
            "y": places[i].astype(np.int16),
            "mode": "lines",
            "line": {"color": color, "width": 6 if wins else 2.5},
            "customdata": scores[i],
            "hovertemplate": _(
                "{name}, place {place}<br>α {alpha}, score {score}",
                name=names[i],
                place="%{y}",
                alpha="%{x:.2f}",
                score="%{customdata:.4f}",
            )
            + "<extra></extra>",
            "showlegend": False,
        }
        labels = {
            "type": "scatter",
            "x": [alphas[0], alphas[at], alphas[-1]],
            "y": places[i, [0, at, -1]].astype(np.int16),
            "mode": "markers+text",
            "text": [
                f"{names[i]} ",
                f" {winning} " if wins else "",
                f" {names[i]}",
            ],
            "textposition": ["middle left", f"top {side}", "middle right"],
            "textfont": {"size": 16, "color": color if wins else INK},
            "marker": {"color": color, "size": [7, 12 if wins else 8, 7]},
            "hoverinfo": "skip",
            "cliponaxis": False,
            "showlegend": False,
        }
        data += [line, labels]
    count = len(names)
    layout = chart_layout(title, 130 + 34 * count) | {
        "xaxis": axis("α", [alphas[0] - 0.12, alphas[-1] + 0.12]),
        "yaxis": axis(
            pgettext("in a ranking", "place"), [count + 0.5, 0.2], tickvals=list(range(1, count + 1)), showgrid=False
        ),
        "shapes": [line_at(x=alphas[at], line={"color": CHOSEN, "width": 2, "dash": "dot"})],
    }
    return Figure(data, layout)


def worth_showing(variants: Sequence[np.ndarray], most: int) -> list[int]:
    """Which hypotheses to show: all that win for some alpha, and of the others the best, up to `most` together.

    Args:
        variants: scores (hypotheses, alphas) under each form of the penalty; hypotheses are sorted, the best first.
    """
    winners = {int(i) for scores in variants for i in scores.argmax(axis=0)}
    others = [i for i in range(len(variants[0])) if i not in winners]
    return sorted([*winners, *others[: max(most - len(winners), 0)]])


def letters(count: int) -> list[str]:
    """A, B, ... Z, A1, B1, ...: short names for labels in a picture."""
    return [chr(65 + i % 26) + (str(i // 26) if i >= 26 else "") for i in range(count)]


def penalty_table(
    names: Sequence[str],
    texts: Sequence[str],
    lengths: Sequence[int],
    sums: Sequence[float],
    columns: dict[str, np.ndarray],
) -> Table:
    """One row per hypothesis; `columns`: the scores, by the titles of their columns."""
    return {_("name"): names, _("tokens"): lengths, _("sum"): sums, **columns, _("translation"): texts}


def penalty_alt(scores: np.ndarray, names: Sequence[str], title: str) -> str:
    """The ranking in words: scores (hypotheses)."""
    order = np.argsort(-scores, kind="stable")
    return with_label(title, ", ".join(f"{names[i]} {fixed(float(scores[i]), 3)}" for i in order) + ".")


def penalty_curves(scores: np.ndarray, alphas: Sequence[float], names: Sequence[str]) -> Table:
    """The lines as columns of a table: scores (hypotheses, alphas)."""
    return {"α": alphas, **dict(zip(names, scores, strict=True))}

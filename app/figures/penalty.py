"""Which hypothesis would win under another length penalty: score / lp(length) over alpha, a line a hypothesis.

At alpha = 0 it is the plain sum, and the short have the advantage; the larger alpha, the more a long one gains.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from app.figures.charts import axis, settle
from app.figures.tables import Table
from app.theme import ink, role_color


def penalty_lines(
    scores: np.ndarray,
    alphas: Sequence[float],
    names: Sequence[str],
    at: int,
    *,
    title: str,
    dark: bool = False,
) -> go.Figure:
    """scores (hypotheses, alphas): the one that wins at alphas[at] is drawn heavily, and says so.

    Args:
        names: short names of the hypotheses, "A", "B", ...
    """
    winner = int(scores[:, at].argmax())
    figure = go.Figure()
    for i in sorted(range(len(names)), key=lambda i: i == winner):
        color = role_color("decoder", dark) if i == winner else "rgba(128, 136, 150, 0.85)"
        figure.add_scatter(
            x=np.asarray(alphas), y=scores[i], mode="lines", name=names[i], showlegend=False,
            line={"color": color, "width": 4 if i == winner else 1.6},
            hovertemplate=f"{names[i]}<br>α %{{x:.2f}}<br>score %{{y:.4f}}<extra></extra>",
        )  # fmt: skip
        figure.add_scatter(
            x=[alphas[at]], y=[scores[i, at]], mode="markers+text", text=[names[i] + (" wins" if i == winner else "")],
            textposition="top right" if i == winner else "bottom right", hoverinfo="skip", showlegend=False,
            textfont={"size": 15 if i == winner else 13, "color": color if i == winner else ink(dark)},
            marker={"color": color, "size": 10 if i == winner else 6}, cliponaxis=False,
        )  # fmt: skip
    figure.add_vline(x=alphas[at], line={"color": "#ff9a1f", "width": 2, "dash": "dot"})
    settle(figure, title, 330)
    low, high = float(scores.min()), float(scores.max())
    room = (high - low or 1.0) * 0.12
    figure.update_layout(
        xaxis=axis("α", dark, [alphas[0], alphas[-1] + 0.15]),
        yaxis=axis("score = sum / length penalty", dark, [low - room, high + room]),
    )
    return figure


def letters(count: int) -> list[str]:
    """A, B, ... Z, A1, B1, ...: names that a picture can carry."""
    return [chr(65 + i % 26) + (str(i // 26) if i >= 26 else "") for i in range(count)]


def penalty_table(
    names: Sequence[str],
    texts: Sequence[str],
    lengths: Sequence[int],
    sums: Sequence[float],
    columns: dict[str, np.ndarray],
) -> Table:
    """A row a hypothesis; `columns` are scores by what they are called."""
    return {"name": names, "translation": texts, "pieces": lengths, "sum": sums, **columns}


def penalty_alt(scores: np.ndarray, names: Sequence[str], title: str) -> str:
    """The ranking in words: scores (hypotheses)."""
    order = np.argsort(-scores, kind="stable")
    return f"{title}: " + ", ".join(f"{names[i]} {float(scores[i]):z.3f}" for i in order) + "."


def penalty_curves(scores: np.ndarray, alphas: Sequence[float], names: Sequence[str]) -> Table:
    """The lines as columns of a table: scores (hypotheses, alphas)."""
    return {"α": alphas, **dict(zip(names, scores, strict=True))}

"""The positional encoding as a picture (paper, section 3.5): one row a position, one column a dimension.

    PE(pos, 2i) = sin(pos / 10000^(2i/d_model)),  PE(pos, 2i+1) = cos(pos / 10000^(2i/d_model))

Positions count from 0, as in the formula: the first token stands at position 0. The same picture
shows a table that was learned.
"""

import numpy as np

from app.figures.axes import TokenAxis, plotly_text, visible
from app.figures.charts import BAR_ROOM, Figure, color_bar, plain_axis, settled
from app.figures.panels import frame
from app.figures.sinusoids import Layout, pair_of
from app.figures.theme import CHOSEN, role_color, signed_scale

CELLS = 24_000  # of the first picture; wider models show fewer positions
LEGEND_ROOM = 24  # px above the first picture
FEWEST, MOST = 32, 64  # positions shown beyond those of the sentence


def positions_shown(sentence: int, d_model: int, available: int) -> int:
    """How many rows the picture has: the sentence's, and more as far as the screen and the table go."""
    return min(max(sentence, FEWEST, min(MOST, CELLS // d_model)), available)


def encoding_heatmap(
    table: np.ndarray,
    tokens: TokenAxis,
    *,
    title: str,
    limit: float = 1.0,
    row: int | None = None,
) -> Figure:
    """The table (P, D) as it is. The positions that this sentence uses are marked at the left, with their tokens.

    Args:
        limit: colours go from -limit to limit.
        row: the chosen position, from 0, which is framed and named.
    """
    positions, d_model = table.shape
    used = min(len(tokens), positions)
    edge = -0.5 - 0.014 * d_model
    numbers = {
        "type": "heatmap",
        "z": np.asarray(table, dtype=np.float32),
        "hovertemplate": "position %{y}, dimension %{x}<br>%{z:.4f}<extra></extra>",
        "colorscale": signed_scale(),
        "zmin": -limit,
        "zmax": limit,
        "colorbar": color_bar(),
    }
    sentence = {
        "type": "scatter",
        "x": np.full(used, (edge - 0.5) / 2, dtype=np.float32),
        "y": np.arange(used, dtype=np.int16),
        "mode": "markers",
        "marker": {"symbol": "square", "size": 7, "color": role_color(tokens.role)},
        "text": [f"position {i}: {plotly_text(visible(token))}" for i, token in enumerate(tokens.tokens[:used])],
        "hovertemplate": "%{text}<extra></extra>",
        "name": f"the {used} tokens of this sentence",
    }
    layout = settled(
        title, BAR_ROOM + 44 + LEGEND_ROOM + min(9 * positions, 400), top=44 + LEGEND_ROOM, bottom=BAR_ROOM
    )
    layout |= {"showlegend": True}
    axes = {
        "xaxis": plain_axis("dimension", [edge, d_model - 0.5], nticks=12),
        "yaxis": plain_axis("position", [positions - 0.5, -0.5], nticks=10),
    }
    if row is None or row >= used:
        return Figure([numbers, sentence], layout | axes)
    named = f"position {row}: {plotly_text(visible(tokens.tokens[row]))}"
    chosen = {
        "type": "scatter",
        "x": [(edge - 0.5) / 2],
        "y": [row],
        "mode": "markers",
        "marker": {"symbol": "square", "size": 11, "color": CHOSEN},
        "hovertemplate": f"{named}<extra></extra>",
        "name": named,
    }
    mark = frame(-0.5, d_model - 0.5, row - 0.5, row + 0.5, 2)
    return Figure([numbers, sentence, chosen], layout | axes | {"shapes": [mark]})


def encoding_names(d_model: int, layout: Layout | None) -> list[str]:
    """What each dimension is: "0: sine of pair 0"; for a learned table the number alone."""
    if layout is None:
        return [str(j) for j in range(d_model)]
    found = [pair_of(j, d_model, layout) for j in range(d_model)]
    return [f"{j}: {'cosine' if cosine else 'sine'} of pair {pair}" for j, (pair, cosine) in enumerate(found)]


def encoding_table(table: np.ndarray, names: list[str], tokens: TokenAxis) -> dict[str, np.ndarray]:
    """The numbers of the table (P, D), a row a position with its token, if it has one; a column a dimension."""
    marks = [*tokens.tokens[: len(table)], *[""] * (len(table) - len(tokens))]
    return {
        "position": np.arange(len(table)),
        "token": np.array(marks, dtype=object),
        **{name: table[:, j] for j, name in enumerate(names)},
    }

"""The positional encoding as a picture (paper, section 3.5): one row per position, one column per dimension.

    PE(pos, 2i) = sin(pos / 10000^(2i/d_model)),  PE(pos, 2i+1) = cos(pos / 10000^(2i/d_model))

Rows are numbered by pos of the formula, which counts from 0: position 1 has pos 0. The same picture shows a
learned table.
"""

import numpy as np

from app.figures.axes import TokenAxis, in_words, plotly_text
from app.figures.charts import BAR_ROOM, Figure, chart_layout, color_bar, plain_axis
from app.figures.panels import frame
from app.figures.sinusoids import Layout, pair_of
from app.figures.theme import CHOSEN, role_color, signed_scale
from app.languages import _, with_label

CELLS = 24_000  # about as many the heatmap has at most: a wider model shows fewer positions, but at least `FEWEST`
LEGEND_ROOM = 24  # px above the heatmap
FEWEST, MOST = 32, 64  # positions shown, if the sentence does not have more


def positions_shown(sentence: int, d_model: int, available: int) -> int:
    """How many rows the picture has: at least those of the sentence, and more if picture and table have room."""
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
        "hovertemplate": _("pos %{y}, dimension %{x}") + "<br>%{z:.4f}<extra></extra>",
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
        "text": [with_label(f"pos {i}", plotly_text(in_words(token))) for i, token in enumerate(tokens.tokens[:used])],
        "hovertemplate": "%{text}<extra></extra>",
        "name": _("the {count} tokens of this sentence", count=used),
    }
    layout = chart_layout(
        title, BAR_ROOM + 44 + LEGEND_ROOM + min(9 * positions, 400), top=44 + LEGEND_ROOM, bottom=BAR_ROOM
    )
    layout |= {"showlegend": True}
    axes = {
        "xaxis": plain_axis(_("dimension"), [edge, d_model - 0.5], nticks=12),
        "yaxis": plain_axis("pos", [positions - 0.5, -0.5], nticks=10),
    }
    if row is None or row >= used:
        return Figure([numbers, sentence], layout | axes)
    named = with_label(f"pos {row}", plotly_text(in_words(tokens.tokens[row])))
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
    return [
        _("{dimension}: cosine of pair {pair}", dimension=j, pair=pair)
        if cosine
        else _("{dimension}: sine of pair {pair}", dimension=j, pair=pair)
        for j, (pair, cosine) in enumerate(found)
    ]


def encoding_table(table: np.ndarray, names: list[str], tokens: TokenAxis) -> dict[str, np.ndarray]:
    """The numbers of the table (P, D), one row per position with its token, if it has one; one column per dimension."""
    marks = [*tokens.tokens[: len(table)], *[""] * (len(table) - len(tokens))]
    return {
        "pos": np.arange(len(table)),
        _("token"): np.array(marks, dtype=object),
        **{name: table[:, j] for j, name in enumerate(names)},
    }

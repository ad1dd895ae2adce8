"""Embedding times sqrt(d_model), plus position (paper, sections 3.4 and 3.5): the sum, and how large its two parts are.

The embedding starts as N(0, 1/d_model), which makes its length about 1. A sinusoidal position has the length
sqrt(d_model / 2), so without the scale the position would be much larger than the word.
"""

import numpy as np

from app.figures.axes import TokenAxis, in_words, plotly_text, ticks
from app.figures.charts import BAR_ROOM, Figure, axis, band, chart_layout, color_bar, plain_axis
from app.figures.theme import CHOSEN, INK, SMALL_TICK_SIZE, TICK_SIZE, pair_color, role_color, signed_scale
from app.languages import _, gettext_noop

PARTS = (gettext_noop("embedding · √d_model"), gettext_noop("position"), gettext_noop("sum"))


def norms(scaled: np.ndarray, positions: np.ndarray, total: np.ndarray) -> dict[str, np.ndarray]:
    """Euclidean length of each row of the three (T, D): (T) each."""
    found = (np.linalg.norm(part.astype(np.float64), axis=-1) for part in (scaled, positions, total))
    return dict(zip(PARTS, found, strict=True))


def norm_bars(lengths: dict[str, np.ndarray], tokens: TokenAxis, chosen: int) -> Figure:
    """Three bars per token: how long its scaled embedding is, its position, and their sum."""
    place = np.arange(len(tokens), dtype=np.int16)
    names = [
        _("position {position}: {token}", position=i, token=plotly_text(in_words(token)))
        for i, token in enumerate(tokens.tokens, start=1)
    ]
    colors = (role_color(tokens.role), pair_color(True), INK)
    data = [
        {
            "type": "bar",
            "x": place,
            "y": values.astype(np.float32),
            "name": _(name),
            "marker": {"color": color},
            "hovertext": names,
            "hovertemplate": "%{hovertext}<br>%{y:.3f}<extra>" + _(name) + "</extra>",
        }
        for (name, values), color in zip(lengths.items(), colors, strict=True)
    ]
    frame = {"line": {"color": CHOSEN, "width": 3}, "fillcolor": "rgba(0,0,0,0)"}
    size = TICK_SIZE if len(tokens) <= 32 else SMALL_TICK_SIZE
    most = max(float(values.max()) for values in lengths.values())
    more = {
        "barmode": "group",
        "bargap": 0.25,
        "shapes": [band(chosen - 0.5, chosen + 0.5, **frame)],
        "xaxis": axis(
            tokens.title, [-0.6, len(tokens) - 0.4], showgrid=False, tickvals=place,
            ticktext=ticks(tokens.tokens),
            tickfont={"size": size, "color": role_color(tokens.role)},
            tickangle=0 if len(tokens) <= 10 else -45,
        ),
        "yaxis": axis(_("length of the vector"), [0, 1.08 * max(most, 1e-6)]),
        "showlegend": True,
    }  # fmt: skip
    title = _("Length of each token's scaled embedding, of its position, and of the sum")
    return Figure(data, chart_layout(title, 400, top=72) | more)


def sum_strips(scaled: np.ndarray, position: np.ndarray, total: np.ndarray, token: str, index: int) -> Figure:
    """One token's three vectors (D) below each other: embedding, plus position, equals what enters the first layer."""
    values = np.stack([scaled, position, total]).astype(np.float32)  # (3, D)
    limit = max(float(np.abs(values).max()), 1e-6)
    strips = {
        "type": "heatmap",
        "z": values,
        "zmin": -limit,
        "zmax": limit,
        "ygap": 6,
        "colorscale": signed_scale(),
        "hovertemplate": _("%{y}, dimension %{x}") + "<br>%{z:.4f}<extra></extra>",
        "colorbar": color_bar(),
    }
    embedding, place, whole = map(_, PARTS)
    names = [embedding, f"+ {place}", f"= {whole}"]
    axes = {
        "xaxis": plain_axis(_("dimension"), [-0.5, len(scaled) - 0.5], nticks=12),
        "yaxis": plain_axis("", [2.5, -0.5], tickvals=[0, 1, 2], ticktext=names),
    }
    title = _(
        "What enters the first layer for {token} at position {position}: the sum",
        token=in_words(token),
        position=index + 1,
    )
    return Figure([strips], chart_layout(title, 260, bottom=BAR_ROOM) | axes)


def norm_table(lengths: dict[str, np.ndarray], tokens: TokenAxis) -> dict[str, list[str] | np.ndarray]:
    """The same numbers as columns of a table."""
    share = lengths[PARTS[1]] / np.maximum(lengths[PARTS[1]] + lengths[PARTS[0]], 1e-30)
    named = {_(name): values for name, values in lengths.items()}
    return {_("token"): list(tokens.names), **named, _("share of the position"): share}


def strips_table(scaled: np.ndarray, position: np.ndarray, total: np.ndarray) -> dict[str, np.ndarray]:
    """One row per dimension."""
    return {_("dimension"): np.arange(len(scaled)), **dict(zip(map(_, PARTS), (scaled, position, total), strict=True))}

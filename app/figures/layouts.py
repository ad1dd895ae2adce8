"""The paper's layout above, half and half below, and the permutation between them (paper, section 3.5).

    interleaved     sin 0, cos 0, sin 1, cos 1, ...     the formula: dimension 2i is a sine, 2i+1 its cosine
    concatenated    sin 0, sin 1, ..., cos 0, cos 1, ...     half and half: the picture that most people have seen

The same numbers in another order: each line joins the two places of one dimension.
"""

import numpy as np

from app.figures.charts import BAR_ROOM, Figure, axis, chart_layout, color_bar
from app.figures.panels import FigurePart
from app.figures.sinusoids import Layout, encoding, pair_of, permutation
from app.figures.theme import INK, pair_color, signed_scale
from app.languages import _, gettext_noop, pgettext

ROWS = 20  # positions in each of the two strips
NAMES_UP_TO = 32  # dimensions; beyond, the axis has only numbers
LAYOUT_NAMES: dict[Layout, str] = {
    "interleaved": gettext_noop("the paper's 2i, 2i+1"),
    "concatenated": gettext_noop("half and half"),
}


def layout_formula(layout: Layout) -> str:
    """Sine and cosine of a pair in their dimensions, as LaTeX."""
    sine, cosine = ("2i", "2i+1") if layout == "interleaved" else ("i", "d_{model}/2+i")
    angle = r"\frac{pos}{10000^{2i/d_{model}}}"
    return (
        rf"\begin{{gathered}}PE_{{(pos,\,{sine})}}=\sin{angle}\\[4pt] "
        rf"PE_{{(pos,\,{cosine})}}=\cos{angle}\end{{gathered}}"
    )


def layout_tables(d_model: int) -> dict[Layout, np.ndarray]:
    """Both encodings of the first positions: (P, D) each."""
    positions = np.arange(ROWS)
    return {layout: encoding(positions, d_model, layout) for layout in LAYOUT_NAMES}


def layouts_figure(d_model: int, own: Layout | None) -> Figure:
    """Both layouts and the lines between them.

    Args:
        own: the layout of the checkpoint, named in its strip; None: it has no sinusoids.
    """
    data = [_strip(table, layout) for layout, table in layout_tables(d_model).items()]
    data += [_lines(d_model, cosine) for cosine in (False, True)]
    if d_model <= NAMES_UP_TO:
        data += [_column_names(d_model, layout) for layout in LAYOUT_NAMES]
    words = [
        {
            "text": (
                _("<b>{layout}</b> (this checkpoint)", layout=_(LAYOUT_NAMES[layout]))
                if layout == own
                else f"<b>{_(LAYOUT_NAMES[layout])}</b>"
            ),
            "x": 0, "xref": "paper", "xanchor": "left", "y": height, "yref": "paper", "yanchor": "bottom",
            "showarrow": False, "font": {"size": 15, "color": INK},
        }
        for layout, height in zip(LAYOUT_NAMES, (0.99, 0.35), strict=True)
    ]  # fmt: skip
    bare = {"showgrid": False, "zeroline": False, "fixedrange": True, "ticks": ""}
    strip = bare | {"range": [ROWS - 0.5, -0.5], "title": {"text": _("position")}, "nticks": 4}
    more = {
        "annotations": words,
        "xaxis": axis(_("dimension"), [-0.5, d_model - 0.5], showgrid=False, ticks="", nticks=16, anchor="y3"),
        "yaxis": strip | {"domain": [0.68, 0.98]},
        "yaxis2": bare | {"domain": [0.40, 0.68], "range": [-0.3, 1.3], "showticklabels": False},
        "yaxis3": strip | {"domain": [0.04, 0.34]},
        "showlegend": True,
    }
    title = _("Two layouts of the same numbers, d_model = {d_model}", d_model=d_model)
    return Figure(data, chart_layout(title, 580, top=72, bottom=BAR_ROOM) | more)


def _strip(table: np.ndarray, layout: Layout) -> FigurePart:
    """The table (P, D) of a layout; the colour bar belongs to both strips."""
    below = layout == "concatenated"
    return {
        "type": "heatmap",
        "z": table.astype(np.float32),
        "yaxis": "y3" if below else "y",
        "zmin": -1,
        "zmax": 1,
        "colorscale": signed_scale(),
        "showscale": below,
        "colorbar": color_bar(),
        "hovertemplate": _("pos {position}, dimension {dimension}", position="%{y}", dimension="%{x}")
        + f"<br>%{{z:.4f}}<extra>{_(LAYOUT_NAMES[layout])}</extra>",
    }


def _lines(d_model: int, cosine: bool) -> FigurePart:
    """Lines from dimension permutation[j] above to j below, with a gap after each."""
    order = permutation(d_model)
    below = np.arange(d_model).reshape(2, -1)[int(cosine)]
    x = np.stack([order[below], below, np.full(len(below), np.nan)], axis=-1)
    y = np.tile([1.0, 0.0, np.nan], (len(below), 1))
    return {
        "type": "scatter",
        "x": x.ravel().astype(np.float32),
        "y": y.ravel().astype(np.float32),
        "yaxis": "y2",
        "mode": "lines",
        "line": {"width": 2.5 if d_model <= NAMES_UP_TO else 1, "color": pair_color(cosine)},
        "name": _("cosines") if cosine else _("sines"),
        "hoverinfo": "skip",
    }


def _column_names(d_model: int, layout: Layout) -> FigurePart:
    """sin 0, cos 0, ... on the inner edge of each strip."""
    below = layout == "concatenated"
    found = [pair_of(j, d_model, layout) for j in range(d_model)]
    return {
        "type": "scatter",
        "x": np.arange(d_model, dtype=np.int16),
        "y": np.full(d_model, 0.0 if below else 1.0, dtype=np.float32),
        "yaxis": "y2",
        "mode": "text",
        "cliponaxis": False,
        "text": [f"{'cos' if cosine else 'sin'} {pair}" for pair, cosine in found],
        "textposition": "bottom center" if below else "top center",
        "textfont": {
            "size": 14 if d_model <= 16 else 11,
            "color": [pair_color(cosine) for pair, cosine in found],
        },
        "hoverinfo": "skip",
        "showlegend": False,
    }


def layout_table(d_model: int) -> dict[str, list[str] | np.ndarray]:
    """Where each dimension goes: one row per dimension of the concatenated layout."""
    order = permutation(d_model)
    found = [pair_of(int(j), d_model, "interleaved") for j in order]
    return {
        _("half and half"): np.arange(d_model),
        _("the paper's"): order,
        pgettext("in a table of positions", "number"): [
            _("cosine of pair {pair}", pair=pair) if cosine else _("sine of pair {pair}", pair=pair)
            for pair, cosine in found
        ],
    }


def same_numbers(d_model: int) -> float:
    """The largest difference between the concatenated table and the paper's with its columns permuted: 0."""
    tables = layout_tables(d_model)
    return float(np.abs(tables["interleaved"][:, permutation(d_model)] - tables["concatenated"]).max())

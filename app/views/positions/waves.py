"""Single dimensions of the positional encoding over the positions, and their wavelengths (paper, section 3.5).

    dimension 2i: sin(pos / w), dimension 2i+1: cos(pos / w), w = 10000^(2i/d_model), with the wavelength 2 pi w

A dimension of a learned table has no wavelength and no partner. Positions that training never reached are still random;
their background is shaded.
"""

import numpy as np

from app.figures.charts import FAINT, Figure, axis, band, chart_layout, line_at
from app.figures.panels import FigurePart
from app.figures.sinusoids import Layout, encoding, pair_dimensions, pair_of, wavelengths
from app.figures.theme import INK, number, pair_color, role_color
from app.languages import _
from app.languages.numbers import formatted
from app.views.positions.encoding_matrix import encoding_names

UNTRAINED = {"fillcolor": "#e5484d", "opacity": 0.16, "line": {"width": 0}, "layer": "below"}
POWERS = [1, 10, 100, 1000, 10000]  # on the axis of wavelengths


def wave(
    table: np.ndarray,
    dimension: int,
    layout: Layout | None,
    sentence: int,
    *,
    trained: int | None = None,
) -> Figure:
    """One dimension of the table (P, D) over the positions, and its partner in the pair.

    Dots are the table's numbers; the line through them is the formula between whole positions.

    Args:
        layout: None for a learned table: one dimension, no formula.
        sentence: how many positions the shown sentence uses.
        trained: how many positions the training reached; those beyond are shaded. None: all, or unknown.
    """
    positions, d_model = table.shape
    shown = (
        [dimension]
        if layout is None
        else sorted(pair_dimensions(pair_of(dimension, d_model, layout)[0], d_model, layout))
    )
    data: list[FigurePart] = []
    for column in shown:
        cosine = layout is not None and pair_of(column, d_model, layout)[1]
        color = pair_color(cosine)
        if layout is None:
            name = _("dimension {dimension}", dimension=column)
        elif cosine:
            name = _("cosine, dimension {dimension}", dimension=column)
        else:
            name = _("sine, dimension {dimension}", dimension=column)
        strong = column == dimension
        if layout is not None:
            fine = np.linspace(0, positions - 1, min(12 * positions, 1500))
            formula = {
                "type": "scatter",
                "x": fine.astype(np.float32),
                "y": encoding(fine, d_model, layout)[:, column].astype(np.float32),
                "mode": "lines",
                "line": {"color": color, "width": 3 if strong else 1.5, "dash": "solid" if strong else "dot"},
                "hoverinfo": "skip",
                "showlegend": False,
            }
            data.append(formula)
        numbers = {
            "type": "scatter",
            "x": np.arange(positions, dtype=np.int32),
            "y": np.asarray(table[:, column], dtype=np.float32),
            "name": name,
            "mode": "markers" if layout is not None else "lines+markers",
            "marker": {"color": color, "size": (9 if positions <= 64 else 5) if strong else 5},
            "line": {"color": color, "width": 1.5},
            "hovertemplate": "pos %{x}<br>%{y:.4f}<extra>" + name + "</extra>",
        }
        data.append(numbers)
    limit = 1.12 if layout is not None else 1.08 * max(float(np.abs(table).max()), 1e-6)
    shade = {"fillcolor": FAINT, "opacity": 0.28, "line": {"width": 0}, "layer": "below"}
    shapes = [band(-0.5, min(sentence, positions) - 0.5, **shade)]
    if trained is not None and trained < positions:
        shapes.append(band(trained - 0.5, positions - 0.5, **UNTRAINED))
    more = {
        "shapes": shapes,
        "xaxis": axis(_("pos (shaded: this sentence)"), [-0.5, positions - 0.5]),
        "yaxis": axis("", [-limit, limit]),
        "showlegend": True,
    }
    return Figure(data, chart_layout(wave_title(dimension, d_model, layout), 340, top=72) | more)


def wave_title(dimension: int, d_model: int, layout: Layout | None) -> str:
    """Names the dimension, its formula and its wavelength."""
    if layout is None:
        return _("Dimension {dimension}, as learned: there is no formula and no wavelength", dimension=dimension)
    pair, cosine = pair_of(dimension, d_model, layout)
    length = wavelengths(d_model)[pair]
    function = "cos" if cosine else "sin"
    formula = f"{function}(pos / 10000^({2 * pair}/{d_model}))"
    return _(
        "Dimension {dimension}: {formula}, wavelength {length} positions",
        dimension=dimension,
        formula=formula,
        length=wavelength_text(length),
    )


def wavelength_text(length: float) -> str:
    """6.28, 19.9, 1,234."""
    return number(length)


def wavelength_chart(d_model: int, dimension: int, layout: Layout, sentence: int) -> Figure:
    """The wavelengths of all pairs, a geometric progression from 2 pi towards 10000 * 2 pi; the chosen one marked."""
    lengths = wavelengths(d_model)
    chosen = pair_of(dimension, d_model, layout)[0]
    index = np.arange(len(lengths), dtype=np.int32)
    progression = {
        "type": "scatter",
        "x": index,
        "y": lengths.astype(np.float32),
        "mode": "lines+markers",
        "marker": {"size": 4, "color": INK},
        "line": {"width": 1, "color": FAINT},
        "hovertemplate": _("pair i = %{x}<br>wavelength %{y:,.2f} positions") + "<extra></extra>",
        "showlegend": False,
    }
    crossed = abs(np.log10(lengths[chosen] / sentence)) < 0.2  # then the sentence's line would cross the text
    mark = {
        "type": "scatter",
        "x": [chosen],
        "y": [float(lengths[chosen])],
        "mode": "markers+text",
        "marker": {"size": 15, "color": pair_color(False), "line": {"width": 2, "color": INK}},
        "text": [f"  {wavelength_text(lengths[chosen])}  "],
        "textposition": f"{'bottom' if crossed else 'middle'} {'left' if chosen > len(lengths) / 2 else 'right'}",
        "textfont": {"size": 15, "color": INK},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    color = role_color("encoder")
    words = {  # Plotly wants the logarithm of y for a text on a logarithmic axis, but y itself for a line
        "text": _("this sentence: {count}", count=sentence), "x": 1, "xref": "x domain", "xanchor": "right",
        "y": float(np.log10(sentence)), "yanchor": "top", "showarrow": False, "font": {"size": 14, "color": color},
    }  # fmt: skip
    pad = 0.04 * max(len(lengths), 2)
    more = {
        "shapes": [line_at(y=sentence, line={"color": color, "width": 1.5, "dash": "dash"})],
        "annotations": [words],
        "xaxis": axis(_("pair i"), [-pad, len(lengths) - 1 + pad], nticks=6),
        "yaxis": axis(
            _("positions"),
            [-0.3, 5.2],
            type="log",
            tickvals=POWERS,
            ticktext=[formatted(power, ",") for power in POWERS],
        ),
    }
    return Figure([progression, mark], chart_layout(_("Wavelength of each pair"), 340, top=72) | more)


def wave_table(table: np.ndarray, dimension: int, layout: Layout | None) -> dict[str, np.ndarray]:
    """The numbers of one dimension and of its partner, one row per position."""
    d_model = table.shape[1]
    names = encoding_names(d_model, layout)
    shown = [dimension]
    if layout is not None:
        shown = sorted(pair_dimensions(pair_of(dimension, d_model, layout)[0], d_model, layout))
    return {
        "pos": np.arange(len(table)),
        **{_("dimension {dimension}", dimension=names[j]): table[:, j] for j in shown},
    }


def wavelength_table(d_model: int) -> dict[str, np.ndarray]:
    """One row per pair."""
    found = wavelengths(d_model)
    return {_("pair i"): np.arange(len(found)), _("wavelength in positions"): found}

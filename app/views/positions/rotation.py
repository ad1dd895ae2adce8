"""From PE(p) to PE(p + k): each pair turns by its own angle k w_i, like the hands of a clock (paper, section 3.5:
"PE(pos + k) can be represented as a linear function of PE(pos)").

A pair is drawn as the point (sine, cosine) = (dimension 2i, dimension 2i+1): position 0 is at the top, and moving on
turns clockwise. The matrix of pair i is [[cos k w_i, sin k w_i], [-sin k w_i, cos k w_i]], the same for every p.
For a learned table, the picture shows the pairs of dimensions in the same way, with the rotation that fits them best.
"""

import numpy as np

from app.figures.charts import FAINT, Figure, chart_layout
from app.figures.panels import FigurePart
from app.figures.sinusoids import frequencies, wavelengths
from app.figures.theme import INK, minus, number, pair_color
from app.languages import _
from app.languages.numbers import formatted
from app.views.positions.waves import wavelength_text

SHARES = (0.0, 0.12, 0.25, 0.45, 1.0)  # of the way from the shortest wavelength to the longest
GAP = (np.nan, np.nan)  # ends a line
STEP = 2.7  # from one centre to the next, in radii


def shown_pairs(pairs: int) -> list[int]:
    """Five pairs, or as many as there are: more of the fast ones, because the slow ones hardly move in a sentence."""
    return sorted({round(share * (pairs - 1)) for share in SHARES})


def rotation_circles(
    points: np.ndarray, matrices: np.ndarray, p: int, shift: int, *, title: str, formula: bool
) -> Figure:
    """Some pairs at position p, at p + shift, and where the matrices take the former.

    Args:
        points: (P, D/2, 2), the table as points.
        matrices: (D/2, 2, 2).
        formula: whether the points are sinusoids, which are on circles of radius 1 and have a wavelength.
    """
    shown = shown_pairs(points.shape[1])
    centres = np.arange(len(shown)) * STEP
    radius = 1.0 if formula else max(float(np.linalg.norm(points[:, shown], axis=-1).max()), 1e-9)
    before, after = points[p, shown] / radius, points[p + shift, shown] / radius  # (N, 2)
    turned = np.einsum("iab,ib->ia", matrices[shown], before)  # (N, 2)
    first, second = pair_color(False), pair_color(True)
    # A sinusoid's angle is known: k w. A fitted matrix gives it only up to whole turns: it is taken from -π to π.
    angles = shift * frequencies(2 * points.shape[1]) if formula else np.arctan2(matrices[:, 0, 1], matrices[:, 0, 0])
    around = np.linspace(0, 2 * np.pi, 73)
    rim = np.stack([np.append(np.sin(around), np.nan), np.append(np.cos(around), np.nan)], axis=-1)  # (74, 2)
    data = [
        _strokes([rim + np.array([c, 0]) for c in centres], FAINT, 1.5),
        _strokes([_arc(a, b, c) for a, b, c in zip(angles[shown], before, centres, strict=True)], INK, 2),
    ]
    for ends, color, width in ((before, first, 2.0), (after, second, 3.0)):
        hands = [np.array([[c, 0], [c + x, y], GAP]) for c, (x, y) in zip(centres, ends, strict=True)]
        data.append(_strokes(hands, color, width))
    ring = {"size": 22, "symbol": "circle-open", "color": INK, "line": {"width": 2}}
    for ends, name, marker in (
        (before, f"PE({p})", {"size": 11, "color": first}),
        (after, f"PE({p + shift})", {"size": 13, "color": second}),
        (turned, _("rotation · PE({p})", p=p), ring),
    ):
        found = {
            "type": "scatter",
            "x": (centres + ends[:, 0]).astype(np.float32),
            "y": ends[:, 1].astype(np.float32),
            "customdata": np.column_stack([shown, ends * radius]).astype(np.float32),
            "mode": "markers",
            "marker": marker,
            "name": name,
            "hovertemplate": _("{name}, pair {pair}", name=name, pair="%{customdata[0]}")
            + "<br>(%{customdata[1]:.4f}, %{customdata[2]:.4f})<extra></extra>",
        }
        data.append(found)
    lengths = wavelengths(2 * points.shape[1])
    words: list[FigurePart] = []
    for pair, centre, matrix, angle in zip(shown, centres, matrices[shown], angles[shown], strict=True):
        wavelength = _("wavelength {length}", length=wavelength_text(lengths[pair]))
        above = {
            "x": centre, "y": 1.18, "yanchor": "bottom", "showarrow": False, "font": {"size": 14, "color": INK},
            "text": _("pair {pair}", pair=pair) + (f"<br>{wavelength}" if formula else ""),
        }  # fmt: skip
        turned_by = f"{number(np.degrees(angle))}°"
        below = {
            "x": centre, "y": -1.2, "yanchor": "top", "showarrow": False, "align": "center",
            "font": {"size": 15, "color": INK, "family": "monospace"},
            "text": "<br>".join(f"[{_digits(a)} {_digits(b)}]" for a, b in matrix) + f"<br>{turned_by}",
        }  # fmt: skip
        words += [above, below]
    bare = {"visible": False, "fixedrange": True, "constrain": "domain"}
    more = {
        "annotations": words,
        "xaxis": bare | {"range": [-1.35, centres[-1] + 1.35]},
        "yaxis": bare | {"range": [-2.4, 1.75], "scaleanchor": "x", "scaleratio": 1},
        "showlegend": True,
    }
    return Figure(data, chart_layout(title, 370, top=72, bottom=6) | more)


def _strokes(lines: list[np.ndarray], color: str, width: float) -> FigurePart:
    """Lines (N, 2) with gaps of NaN between them, as one trace."""
    joined = np.concatenate(lines).astype(np.float32)
    return {
        "type": "scatter", "x": joined[:, 0], "y": joined[:, 1], "mode": "lines",
        "line": {"color": color, "width": width}, "hoverinfo": "skip", "showlegend": False,
    }  # fmt: skip


def _arc(angle: float, start: np.ndarray, centre: float) -> np.ndarray:
    """The turn of a pair, clockwise if the angle is positive. Whole turns are left out."""
    t = np.linspace(0, np.fmod(angle, 2 * np.pi), 60)
    x, y = 0.45 * start
    arc = np.stack([np.cos(t) * x + np.sin(t) * y + centre, np.cos(t) * y - np.sin(t) * x], axis=-1)
    return np.concatenate([arc, [GAP]])


def _digits(value: float) -> str:
    return minus(formatted(value, "+.3f")).replace("+", " ")


def rotation_table(matrices: np.ndarray, formula: bool) -> dict[str, np.ndarray]:
    """All matrices, one row per pair."""
    angles = np.arctan2(matrices[:, 0, 1], matrices[:, 0, 0])
    found = {
        _("pair i"): np.arange(len(matrices)),
        _("angle (rad, -π to π)"): angles,
        "cos": matrices[:, 0, 0],
        "sin": matrices[:, 0, 1],
    }
    return found | ({_("wavelength"): wavelengths(2 * len(matrices))} if formula else {})

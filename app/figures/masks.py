"""Masks as pictures (section 3.2.3): each part by itself, and all together.

A cell that may attend is blue. A cell that may not has the colour and the letter of its reason: P padding, F future,
W outside the attention window; where there are several, the colour of the first and the letters of all. Which cells are
forbidden is read from the mask of the model, the parts only say why.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.figures.axes import TokenAxis, plotly_text, ticks
from app.figures.charts import settle
from app.figures.hand import tick_height
from app.figures.reasons import NAMES, Part, Parts, forbidden_by
from app.theme import CHOSEN, ink, mask_color, role_color

PARTS: tuple[Part, ...] = ("padding", "causal", "window")
LETTERS: dict[Part, str] = {"padding": "P", "causal": "F", "window": "W"}
LETTERS_UP_TO = 22  # columns of a panel
CELLS_TO_CLICK = 2500
SMALL_FROM = 54  # columns beside each other
Cell = tuple[int, int]


def reasons(mask: np.ndarray, parts: Parts) -> np.ndarray:
    """(Q, K) of 0 = may attend, or 1 + the place in PARTS of the first part that forbids."""
    found = np.zeros(mask.shape, dtype=np.int8)
    for number, name in reversed(list(enumerate(PARTS, start=1))):
        if name in parts:
            found[~parts[name]] = number
    found[mask] = 0
    return found


def letters(mask: np.ndarray, parts: Parts) -> np.ndarray:
    """(Q, K) of strings: the letters of all parts that forbid a cell, "" where it may attend."""
    found = np.full(mask.shape, "", dtype="<U3")
    for name in PARTS:
        if name in parts:
            found = np.where(mask | parts[name], found, np.char.add(found, LETTERS[name]))
    return found


def reason_scale(dark: bool) -> list[tuple[float, str]]:
    """The colours of `reasons`, in four steps over the range -0.5 to 3.5."""
    colors = [mask_color("allowed", dark), *(mask_color(name, dark) for name in PARTS)]
    return [(edge / 4, color) for i, color in enumerate(colors) for edge in (i, i + 1)]


def reason_legend(figure: go.Figure, parts: Sequence[Part], dark: bool) -> None:
    """What the colours and letters mean, as a legend."""
    for name, text in (("allowed", "may look"), *((p, f"{LETTERS[p]} {NAMES[p]}") for p in PARTS if p in parts)):
        figure.add_scatter(
            x=[None], y=[None], mode="markers", name=text,
            marker={"symbol": "square", "size": 14, "color": mask_color(name, dark)},  # type: ignore[arg-type]
        )  # fmt: skip


def parts_figure(
    mask: np.ndarray,
    parts: Parts,
    queries: TokenAxis,
    keys: TokenAxis,
    *,
    title: str,
    cell: Cell,
    dark: bool = False,
) -> go.Figure:
    """The parts of a mask beside each other, and the mask of the model, which is what all of them allow.

    Args:
        mask: (Q, K) of the model, True = may attend. parts: (Q, K) each.
        cell: the chosen query and key, from 0.
    """
    panels: list[tuple[str, np.ndarray, Parts]] = [
        (NAMES[name], part, {name: part}) for name, part in parts.items() if len(parts) > 1
    ]
    panels.append(("together" if len(parts) > 1 else f"{NAMES['padding']} alone", mask, parts))
    rows, columns = mask.shape
    figure = make_subplots(rows=1, cols=len(panels), shared_yaxes=True, horizontal_spacing=0.025)
    for number, (_, allowed, why) in enumerate(panels, start=1):
        figure.add_heatmap(
            z=reasons(allowed, why), zmin=-0.5, zmax=3.5, colorscale=reason_scale(dark), showscale=False, xgap=1,
            ygap=1, hoverinfo="skip", row=1, col=number,
        )  # fmt: skip
        if columns * len(panels) <= 3 * LETTERS_UP_TO:
            q, k = np.nonzero(~allowed)
            figure.add_scatter(
                x=k.astype(np.int16), y=q.astype(np.int16), text=letters(allowed, why)[q, k].tolist(), mode="text",
                textfont={"size": 11, "color": ink(dark)}, hoverinfo="skip", showlegend=False, row=1, col=number,
            )  # fmt: skip
        if rows * columns * len(panels) <= CELLS_TO_CLICK:
            _markers(figure, allowed, why, number)
        frame_cell(figure, cell, mask.shape, number)
    reason_legend(figure, list(parts), dark)
    panel_axes(figure, [name for name, _, _ in panels], queries, keys, dark, per_line=len(panels))
    top = panels_top(keys, len(panels))
    height = top + 44 + max(rows * (20 if rows <= 40 else 11), 60)
    settle(figure, title, height, top=top, bottom=44, showlegend=True)
    return legend_below(figure)


def legend_below(figure: go.Figure) -> go.Figure:
    """The legend below the picture: above it stand tokens."""
    figure.update_layout(legend={"x": 0, "xanchor": "left", "y": 0, "yanchor": "bottom", "yref": "container"})
    return figure


def panels_top(keys: TokenAxis, per_line: int) -> int:
    """The px above the panels: the title, the name of the panel, the tokens of the keys."""
    return 72 + tick_height(keys, 9 if len(keys) * per_line > SMALL_FROM else 12, 60)


def _markers(figure: go.Figure, allowed: np.ndarray, why: Parts, column: int) -> None:
    """Something in each cell that can be clicked and says what it is."""
    rows, columns = allowed.shape
    q, k = np.divmod(np.arange(rows * columns, dtype=np.int16), columns)
    said = [
        "may look" if allowed[i, j] else " and ".join(NAMES[p] for p in forbidden_by(why, i, j))
        for i, j in zip(q, k, strict=True)
    ]
    figure.add_scatter(
        x=k, y=q, mode="markers", marker={"symbol": "square", "size": 17, "opacity": 0},
        selected={"marker": {"opacity": 0}}, unselected={"marker": {"opacity": 0}},
        text=said, hovertemplate="%{y}<br>%{x}<br>%{text}<extra></extra>", showlegend=False, row=1, col=column,
    )  # fmt: skip


def frame_cell(figure: go.Figure, cell: Cell, shape: tuple[int, ...], column: int, row: int = 1) -> None:
    """Frames the chosen cell in a panel, its row thinly."""
    q, k = cell
    for x0, x1, width in ((-0.5, shape[1] - 0.5, 1.5), (k - 0.5, k + 0.5, 3.5)):
        figure.add_shape(
            type="rect", x0=x0, x1=x1, y0=q - 0.5, y1=q + 0.5, line={"color": CHOSEN, "width": width}, row=row,
            col=column,
        )  # fmt: skip


def panel_axes(
    figure: go.Figure, names: Sequence[str], queries: TokenAxis, keys: TokenAxis, dark: bool, *, per_line: int
) -> None:
    """Tokens on all panels: keys above each with the panel's name, queries at the left of each line of panels."""
    small = len(keys) * per_line > SMALL_FROM
    bare = {"showgrid": False, "zeroline": False, "fixedrange": True, "ticks": "", "tickmode": "array"}
    for number, name in enumerate(names):
        suffix = str(number + 1) if number else ""
        first = number % per_line == 0
        figure.update_layout(
            {
                f"xaxis{suffix}": bare
                | {
                    "side": "top",
                    "tickvals": list(range(len(keys))),
                    "ticktext": ticks(keys.tokens),
                    "tickangle": -60,
                    "tickfont": {"size": 9 if small else 12, "color": role_color(keys.role, dark)},
                    "title": {"text": f"<b>{plotly_text(name)}</b>", "font": {"size": 15, "color": ink(dark)}},
                    "range": [-0.5, len(keys) - 0.5],
                },
                f"yaxis{suffix}": bare
                | {
                    "tickvals": list(range(len(queries))),
                    "ticktext": ticks(queries.tokens),
                    "tickfont": {"size": 9 if len(queries) > 40 else 13, "color": role_color(queries.role, dark)},
                    "range": [len(queries) - 0.5, -0.5],
                    "automargin": True,
                    "showticklabels": first,
                },
            }
        )


def mask_table(mask: np.ndarray, parts: Parts, queries: TokenAxis, keys: TokenAxis) -> dict[str, list[str]]:
    """The mask as columns of a table: "may look", or the parts that forbid."""
    found = letters(mask, parts)
    return {"query": list(queries.names)} | {
        name: [text or "may look" for text in found[:, k].tolist()] for k, name in enumerate(keys.names)
    }


def mask_alt(mask: np.ndarray, parts: Parts, queries: TokenAxis, keys: TokenAxis, title: str) -> str:
    """What the picture says, in words: how many keys each query may look at."""
    lines = [
        f"{name}: {int(row.sum())} of {len(keys)} keys" for name, row in zip(queries.names[:40], mask, strict=False)
    ]
    used = ", ".join(NAMES[name] for name in parts)
    return f"{title}. Made of: {used}. How many keys each query may look at: " + "; ".join(lines) + "."

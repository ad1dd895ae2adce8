"""Masks as pictures (section 3.2.3): each part by itself, and all together.

A cell that may attend is blue. A cell that may not has the colour and the letter of its reason: P padding, C causal,
W outside the attention window; where there are several, a colour of its own and the letters of all. Which cells are
forbidden is read from the mask of the model, the parts only say why.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from app.figures.axes import TokenAxis
from app.figures.charts import Figure, settled
from app.figures.mask_reasons import NAMES, Part, Parts, forbidden_by
from app.figures.panels import (
    BELOW,
    TEXT_FROM,
    Cell,
    Piece,
    cell_frames,
    clickable,
    heat,
    panel_axes,
    panel_height,
    panels_top,
    words,
)
from app.figures.tensor import label_width
from app.figures.theme import INK, mask_color
from app.languages import _

PARTS: tuple[Part, ...] = ("padding", "causal", "window")
LETTERS: dict[Part, str] = {"padding": "P", "causal": "C", "window": "W"}
SEVERAL = len(PARTS) + 1  # in `reasons`: more than one part forbids the cell
LETTERS_UP_TO = 22  # columns of a panel
ROW = 20  # px
CAPITAL = 0.68  # width of a capital over the height of the text


def reasons(mask: np.ndarray, parts: Parts) -> np.ndarray:
    """(Q, K) of 0 = may attend, 1 + the place in PARTS of the part that forbids, or SEVERAL."""
    found = np.zeros(mask.shape, dtype=np.int8)
    for number, name in enumerate(PARTS, start=1):
        if name in parts:
            found = np.where(parts[name], found, np.where(found, SEVERAL, number)).astype(np.int8)
    found[mask] = 0
    return found


def letters(mask: np.ndarray, parts: Parts) -> np.ndarray:
    """(Q, K) of strings: the letters of all parts that forbid a cell, "" where it may attend."""
    found = np.full(mask.shape, "", dtype="<U3")
    for name in PARTS:
        if name in parts:
            found = np.where(mask | parts[name], found, np.char.add(found, LETTERS[name]))
    return found


def reason_scale() -> list[tuple[float, str]]:
    """The colours of `reasons`, in steps over the range -0.5 to SEVERAL + 0.5."""
    colors = [mask_color("allowed"), *(mask_color(part) for part in PARTS), mask_color("several")]
    return [(edge / len(colors), color) for i, color in enumerate(colors) for edge in (i, i + 1)]


def reason_heat(mask: np.ndarray, parts: Parts, panel: int = 1) -> Piece:
    """The cells of a mask in the colours of their reasons."""
    return heat(reasons(mask, parts), reason_scale(), -0.5, SEVERAL + 0.5, panel)


def reason_legend(drawn: Sequence[np.ndarray]) -> list[Piece]:
    """What the colours and letters mean in these pictures of `reasons`, as traces that are only in the legend."""
    found = set(np.unique(np.concatenate([each.ravel() for each in drawn])).tolist())
    parts = [(part, f"{LETTERS[part]} {_(NAMES[part])}") for part in PARTS]
    names = [("allowed", _("may attend")), *parts, ("several", _("more than one"))]
    entries = [entry for number, entry in enumerate(names) if number in found]
    return [
        {
            "type": "scatter", "x": [None], "y": [None], "mode": "markers", "name": text,
            "marker": {"symbol": "square", "size": 14, "color": mask_color(name)},  # type: ignore[arg-type]
        }
        for name, text in entries
    ]  # fmt: skip


def parts_figure(
    mask: np.ndarray,
    parts: Parts,
    queries: TokenAxis,
    keys: TokenAxis,
    *,
    title: str,
    cell: Cell,
) -> Figure:
    """The parts of a mask beside each other, and the mask of the model, which is what all of them allow.

    Args:
        mask: (Q, K) of the model, True = may attend. parts: (Q, K) each.
        cell: the chosen query and key, from 0.
    """
    panels: list[tuple[str, np.ndarray, Parts]] = [
        (_(NAMES[name]), part, {name: part}) for name, part in parts.items() if len(parts) > 1
    ]
    panels.append((_("together") if len(parts) > 1 else _("padding mask alone"), mask, parts))
    rows, columns = mask.shape
    panel = panel_height(rows, ROW)
    data: list[Piece] = []
    shapes: list[Piece] = []
    for number, (_name, allowed, why) in enumerate(panels, start=1):
        data.append(clickable(reason_heat(allowed, why, number), partial(_cell_texts, allowed, why)))
        if columns * len(panels) <= 3 * LETTERS_UP_TO and panel >= TEXT_FROM * rows:
            q, k = np.nonzero(~allowed)
            text = letters(allowed, why)[q, k].tolist()
            x, y, size = k.astype(np.int16), q.astype(np.int16), min(15, panel // rows)
            beside = label_width(queries.tokens, 13) + 40
            room = {"columns": columns * len(panels), "beside": beside, "short": text, "letter": CAPITAL}
            data.append(words(x, y, text, INK, size, number, meta=room))  # see chart.js
        shapes += cell_frames(cell, columns, number)
    names = [panel[0] for panel in panels]
    top = panels_top(keys, len(panels))
    height = top + 44 + max(panel, 60)
    axes = panel_axes(names, queries, keys, per_line=len(panels), across=0.025)
    settings = {"shapes": shapes, "showlegend": True, "legend": BELOW}
    layout = settled(title, height, top=top, bottom=44) | axes | settings
    legend = reason_legend([reasons(allowed, why) for name, allowed, why in panels])
    return Figure([*data, *legend], layout)


def _cell_texts(allowed: np.ndarray, why: Parts) -> list[str]:
    """What each cell is, row by row."""
    return [
        _("may attend") if allowed[i, j] else _(" and ").join(_(NAMES[p]) for p in forbidden_by(why, i, j))
        for i, j in np.ndindex(allowed.shape)
    ]


def mask_table(mask: np.ndarray, parts: Parts, queries: TokenAxis, keys: TokenAxis) -> dict[str, list[str]]:
    """The mask as columns of a table: "may attend", or the parts that forbid."""
    found = letters(mask, parts)
    return {_("query"): list(queries.names)} | {
        name: [text or _("may attend") for text in found[:, k].tolist()] for k, name in enumerate(keys.names)
    }


def mask_alt(mask: np.ndarray, parts: Parts, queries: TokenAxis, keys: TokenAxis, title: str) -> str:
    """What the picture says, in words: how many keys each query may attend to."""
    lines = [
        _("{query}: {count} of {keys} keys", query=name, count=int(row.sum()), keys=len(keys))
        for name, row in zip(queries.names[:40], mask, strict=False)
    ]
    used = ", ".join(_(NAMES[name]) for name in parts)
    return _(
        "{title}. Made of: {used}. How many keys each query may attend to: {lines}.",
        title=title,
        used=used,
        lines="; ".join(lines),
    )

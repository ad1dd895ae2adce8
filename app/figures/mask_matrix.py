"""Masks as pictures (section 3.2.3): each part by itself, and all together.

A cell that may attend is blue. A cell that may not has the colour and the letter of its reason: P padding, C causal,
W outside the attention window; where there are several, a colour of its own and the letters of all. Which cells are
forbidden is read from the mask of the model, the parts only say why. A cell in which the mask differs from its parts
has been changed by an edit; its letter is E.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from app.figures.axes import TokenAxis
from app.figures.charts import Figure, chart_layout
from app.figures.mask_reasons import EDIT, NAMES, Parts, combined_mask, forbidden_by
from app.figures.panels import (
    BELOW,
    TEXT_FROM,
    Cell,
    FigurePart,
    cell_frames,
    clickable,
    heat,
    panel_axes,
    panel_height,
    panels_top,
    words,
)
from app.figures.tensor import label_width
from app.figures.theme import INK, MaskReason, mask_color
from app.languages import _
from transformer.analysis.batch_masks import Part

PARTS: tuple[Part, ...] = ("padding", "causal", "window")
LETTERS: dict[Part, str] = {"padding": "P", "causal": "C", "window": "W"}
# The numbers in `reasons` after those of PARTS: more than one part forbids the cell; an edit forbids or allows it
SEVERAL, FORBIDDEN_BY_EDIT, ALLOWED_BY_EDIT = range(len(PARTS) + 1, len(PARTS) + 4)
LAST = ALLOWED_BY_EDIT
LETTERS_UP_TO = 22  # columns of a panel
ROW = 20  # px
EDIT_LETTER = "E"  # of a cell that an edit has changed
CAPITAL = 0.68  # width of a capital, divided by the size of the text


def reasons(mask: np.ndarray, parts: Parts) -> np.ndarray:
    """(Q, K) of 0 = may attend, 1 + the place in PARTS of the part that forbids, or one of the numbers after them."""
    found = np.zeros(mask.shape, dtype=np.int8)
    for number, name in enumerate(PARTS, start=1):
        if name in parts:
            found = np.where(parts[name], found, np.where(found, SEVERAL, number)).astype(np.int8)
    found = np.where(mask, ALLOWED_BY_EDIT * (found > 0), found)
    return np.where(~mask & (found == 0), FORBIDDEN_BY_EDIT, found).astype(np.int8)


def letters(mask: np.ndarray, parts: Parts) -> np.ndarray:
    """(Q, K) of strings: E where an edit has changed the cell, else the letters of all parts that forbid it."""
    found = np.full(mask.shape, "", dtype="<U3")
    for name in PARTS:
        if name in parts:
            found = np.where(mask | parts[name], found, np.char.add(found, LETTERS[name]))
    return np.where(mask == combined_mask(parts), found, EDIT_LETTER)


def reason_scale() -> list[tuple[float, str]]:
    """The colours of `reasons`, in steps over the range -0.5 to LAST + 0.5."""
    names: tuple[MaskReason, ...] = ("allowed", *PARTS, "several", "edit", "allowed")
    colors = [mask_color(name) for name in names]
    return [(edge / len(colors), color) for i, color in enumerate(colors) for edge in (i, i + 1)]


def reason_heat(mask: np.ndarray, parts: Parts, panel: int = 1) -> FigurePart:
    """The cells of a mask in the colours of their reasons."""
    return heat(reasons(mask, parts), reason_scale(), -0.5, LAST + 0.5, panel)


def reason_legend(drawn: Sequence[np.ndarray]) -> list[FigurePart]:
    """What the colours and letters mean in these pictures of `reasons`, as traces that are only in the legend."""
    found = set(np.unique(np.concatenate([each.ravel() for each in drawn])).tolist())
    names: list[tuple[MaskReason, str]] = [
        ("allowed", _("may attend")),
        *((part, f"{LETTERS[part]} {_(NAMES[part])}") for part in PARTS),
        ("several", _("more than one")),
        ("edit", f"{EDIT_LETTER} {_(EDIT[False])}"),
        ("allowed", f"{EDIT_LETTER} {_(EDIT[True])}"),
    ]
    entries = [entry for number, entry in enumerate(names) if number in found]
    return [
        {
            "type": "scatter", "x": [None], "y": [None], "mode": "markers", "name": text,
            "marker": {"symbol": "square", "size": 14, "color": mask_color(name)},
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
    """The parts of a mask beside each other, and the mask of the model, which is what all of them allow unless an edit
    has changed it.

    Args:
        mask: (Q, K) of the model, True = may attend. parts: (Q, K) each.
        cell: the chosen query and key, from 0.
    """
    is_edited = not np.array_equal(mask, combined_mask(parts))
    panels: list[tuple[str, np.ndarray, Parts]] = [
        (_(NAMES[name]), part, {name: part}) for name, part in parts.items() if len(parts) > 1 or is_edited
    ]
    whole = _("with the edit") if is_edited else _("together") if len(parts) > 1 else _("padding mask alone")
    panels.append((whole, mask, parts))
    rows, columns = mask.shape
    panel = panel_height(rows, ROW)
    data: list[FigurePart] = []
    shapes: list[FigurePart] = []
    for number, (_name, allowed, why) in enumerate(panels, start=1):
        data.append(clickable(reason_heat(allowed, why, number), partial(_cell_texts, allowed, why)))
        if columns * len(panels) <= 3 * LETTERS_UP_TO and panel >= TEXT_FROM * rows:
            found = letters(allowed, why)
            q, k = np.nonzero(found != "")
            text = found[q, k].tolist()
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
    layout = chart_layout(title, height, top=top, bottom=44) | axes | settings
    legend = reason_legend([reasons(allowed, why) for name, allowed, why in panels])
    return Figure([*data, *legend], layout)


def _cell_texts(allowed: np.ndarray, why: Parts) -> list[str]:
    """What each cell is, row by row."""

    def text(query: int, key: int) -> str:
        forbidden = forbidden_by(why, query, key)
        if allowed[query, key] == bool(forbidden):
            return _(EDIT[bool(forbidden)])
        return _(" and ").join(_(NAMES[part]) for part in forbidden) or _("may attend")

    return [text(query, key) for query, key in np.ndindex(allowed.shape)]


def mask_table(mask: np.ndarray, parts: Parts, queries: TokenAxis, keys: TokenAxis) -> dict[str, list[str]]:
    """The mask as columns of a table: "may attend", or the letters of the parts that forbid, or what an edit does."""
    found = letters(mask, parts)

    def text(query: int, key: int) -> str:
        letter = str(found[query, key])
        return _(EDIT[bool(mask[query, key])]) if letter == EDIT_LETTER else letter or _("may attend")

    return {_("query"): list(queries.names)} | {
        name: [text(query, key) for query in range(len(mask))] for key, name in enumerate(keys.names)
    }


def mask_alt(mask: np.ndarray, parts: Parts, queries: TokenAxis, keys: TokenAxis, title: str) -> str:
    """What the picture says, in words: how many keys each query may attend to."""
    lines = [
        _("{query}: {count} of {keys} keys", query=name, count=int(row.sum()), keys=len(keys))
        for name, row in zip(queries.names[:40], mask, strict=False)
    ]
    edit = [] if np.array_equal(mask, combined_mask(parts)) else [_("an edit")]
    used = ", ".join([*(_(NAMES[name]) for name in parts), *edit])
    return _(
        "{title}. Made of: {used}. How many keys each query may attend to: {lines}.",
        title=title,
        used=used,
        lines="; ".join(lines),
    )

"""How many cells does this mask remove, or which of these cells?

Margin: 1. A cell is removed or not, and the number of removed cells is a whole number that differs from each other
answer by at least 1.
"""

from dataclasses import replace
from random import Random

import numpy as np

from app.figures.axes import TokenAxis
from app.languages import _, ngettext
from app.languages.numbers import formatted
from app.questions.question import MOST_ANSWERS, Place, Question, token_name
from app.stage.scene import Scene
from transformer.model.attention_kinds import KINDS, SITES, Kind, depth

Cell = tuple[int, int]


def masked_cells(scene: Scene, place: Place, draw: Random) -> Question | None:
    """A question about decoder self-attention, unless the place has another kind. None if the mask removes nothing. The
    page Masks draws the causal mask also if an edit takes it away, so there the question is about this mask."""
    if place.page == "masks":
        scene = replace(scene, subject=scene.subject.with_causal_mask)
    kind: Kind = place.kind or "decoder"
    layer, head = place.layer or 0, place.head or 0
    if layer >= depth(scene.config, kind) or head >= scene.config.heads:
        return None
    site = f"{SITES[kind].format(layer)}.mask"
    mask = scene.record(site)[site][head]  # (Q, K)
    if mask.all() or mask.shape[0] < 2:
        return None
    shown = Place("masks" if kind == "decoder" else "attention", kind, layer, head)
    removed = [(int(q), int(k)) for q, k in np.argwhere(~mask)]
    allowed = [(int(q), int(k)) for q, k in np.argwhere(mask)]
    named = _(KINDS[kind])
    if (scene.attention(kind).masks != mask).any():  # an edit has changed the mask of a head
        named = _("{kind}, layer {layer}, head {head}", kind=named, layer=layer + 1, head=head + 1)
    if draw.random() < 0.5 or len(allowed) < 2:
        return _how_many(mask, named, shown, draw)
    return _which(scene, mask, removed, allowed, named, shown, draw)


def _how_many(mask: np.ndarray, named: str, place: Place, draw: Random) -> Question:
    """`named`: the attention in words."""
    rows, columns = mask.shape
    size, removed = mask.size, int((~mask).sum())
    others = {size - removed, size - rows, size // 2, rows, removed + rows, removed - rows, size, removed + 1}
    others = {number for number in others if number > 0} - {removed}
    answers = sorted([removed, *draw.sample(sorted(others), min(len(others), MOST_ANSWERS - 1))])
    why = ngettext(
        "It removes {count:,} cell of {rows} × {columns} = {size:,}.",
        "It removes {count:,} cells of {rows} × {columns} = {size:,}.",
        removed,
        rows=rows,
        columns=columns,
        size=size,
    )
    if np.array_equal(mask, np.tril(np.ones_like(mask))):
        why = _(
            "It removes all cells after the diagonal: {rows} × {before} / 2 = {removed:,} of {rows} × {rows} = "
            "{size:,}. Row t may attend to tokens 1 to t.",
            rows=rows,
            before=rows - 1,
            removed=removed,
            size=size,
        )
    return Question(
        "masked-cells",
        _(
            "{kind}: {rows} rows are queries, {columns} columns are keys. How many cells does the mask remove?",
            kind=named,
            rows=rows,
            columns=columns,
        ),
        tuple(formatted(number, ",") for number in answers),
        answers.index(removed),
        why,
        float(min(abs(number - removed) for number in answers if number != removed)),
        place,
    )


def _which(
    scene: Scene, mask: np.ndarray, removed: list[Cell], allowed: list[Cell], named: str, place: Place, draw: Random
) -> Question:
    """The answers are one removed cell and allowed cells, in the order of the rows. The mirror image of the removed
    cell is one of them if it is allowed."""
    kind: Kind = place.kind or "decoder"
    queries, keys = scene.axes(kind)
    row, key = draw.choice(removed)
    mirrored = [(key, row)] if (key, row) in allowed else []
    others = [cell for cell in allowed if cell not in mirrored]
    drawn = draw.sample(others, min(len(others), MOST_ANSWERS - 1 - len(mirrored)))
    cells = sorted([(row, key), *mirrored, *drawn])
    return Question(
        "masked-cells",
        _(
            "{kind}. A row is a query, a column is a key. Which of these cells does the mask remove?",
            kind=named,
        ),
        tuple(_cell_name(queries, keys, cell) for cell in cells),
        cells.index((row, key)),
        _why(scene, mask, row, key, kind),
        1.0,
        Place(place.page, kind, place.layer, place.head, row, key),
    )


def _cell_name(queries: TokenAxis, keys: TokenAxis, cell: Cell) -> str:
    row, key = cell
    return _(
        "row {row} {query}, column {column} {key}",
        row=row + 1,
        query=_text(queries, row),
        column=key + 1,
        key=_text(keys, key),
    )


def _text(axis: TokenAxis, index: int) -> str:
    """The token without its position, which `_cell_name` writes beside it."""
    return token_name(TokenAxis("", "encoder", (axis.tokens[index],)), 0)


def _why(scene: Scene, mask: np.ndarray, row: int, key: int, kind: Kind) -> str:
    window = scene.config.attention_window
    if kind == "decoder" and key > row and not np.triu(mask, 1).any():
        after = _(
            "Token {column} comes after token {row}: when row {row} predicts, it is not written yet.",
            column=key + 1,
            row=row + 1,
        )
        return f"{after} {_allowed(mask[row], row)}".rstrip()
    if kind != "cross" and window is not None and abs(row - key) > window:
        return _(
            "Column {column} is {apart} positions away from row {row}, and the attention window of this checkpoint "
            "is {window}.",
            column=key + 1,
            apart=abs(row - key),
            row=row + 1,
            window=window,
        )
    return _("The mask does not allow row {row} to attend to column {column}.", row=row + 1, column=key + 1)


def _allowed(allowed: np.ndarray, row: int) -> str:
    """To which tokens a row (K) may attend; "" if they do not follow one another."""
    tokens = np.flatnonzero(allowed) + 1
    if len(tokens) == 1:
        return _("Row {row} may attend to token {token}.", row=row + 1, token=int(tokens[0]))
    if not len(tokens) or np.ptp(tokens) >= len(tokens):
        return ""
    return _(
        "Row {row} may attend to tokens {first} to {last}.", row=row + 1, first=int(tokens[0]), last=int(tokens[-1])
    )

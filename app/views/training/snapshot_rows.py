"""The picture of the time machine as data for the browser: a row for each snapshot, and one head at each of them."""

import base64
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from app.figures.axes import visible
from app.figures.tables import Table
from app.figures.theme import counted, fixed, kind_color, probability_text
from app.stage.heads import SHORT
from app.views.shared.text_difference import words
from app.views.training.snapshot_sweep import Sweep

STEPS = 65_535  # of a weight on its way to the browser: 16 bits, so that the two digits that are written are right


def rows(sweep: Sweep) -> list[dict[str, Any]]:
    """A row a snapshot, in order: update, the words that it writes, and what it thinks of the target."""
    layer, head = sweep.head
    found: list[dict[str, Any]] = []
    before: str | None = None
    for update in sorted([*sweep.looks, *sweep.pending]):
        look = sweep.looks.get(update)
        if look is None:
            found.append({"update": f"{update:,}", "number": update})
            before = None
            continue
        text = look.text + (" …" if look.cut else "")
        probability = float(np.exp(-look.loss))
        found.append(
            {
                "update": f"{update:,}",
                "number": update,
                "words": marked(before, text) or [["(nothing)", False]],
                "share": probability,
                "probability": probability_text(probability),
                "loss": fixed(look.loss, 2),
                "weights": packed(look.attention.weights[layer, head]),
            }
        )
        before = text
    return found


def marked(before: str | None, text: str) -> list[list[Any]]:
    """The words of a text, each with the white space before it and whether it is not in the text before; None: there
    is no text before, and nothing is marked."""
    new = words(text)
    if before is None:
        return [[word, False] for word in new]
    old = [word.strip() for word in words(before)]
    changed = [True] * len(new)
    matcher = SequenceMatcher(None, old, [word.strip() for word in new], autojunk=False)
    for block in matcher.get_matching_blocks():
        changed[block.b : block.b + block.size] = [False] * block.size
    return [[word, mark] for word, mark in zip(new, changed, strict=True)]


def packed(weights: np.ndarray) -> str:
    """Weights (Q, K) as 16 bits each, in base64."""
    return base64.b64encode(np.rint(weights * STEPS).astype("<u2").tobytes()).decode()


def head_data(sweep: Sweep) -> dict[str, Any]:
    """Which head is drawn, and the tokens along its sides."""
    layer, head = sweep.head
    queries, keys = sweep.axes
    chosen = "" if sweep.chosen_head else ", the clearest one of the last snapshot"
    return {
        "title": f"{SHORT[sweep.kind]} attention, layer {layer + 1}, head {head + 1}",
        "about": f"{SHORT[sweep.kind]} attention, layer {layer + 1}, head {head + 1}{chosen}. Rows: {queries.title}"
        f"{', the token that is predicted' if queries.predicts else ''}. Columns: {keys.title}. Each row sums to 1.",
        "rows": [visible(token) for token in queries.predicts or queries.tokens],
        "columns": [visible(token) for token in keys.tokens],
        "color": kind_color(sweep.kind),
    }


def rows_table(sweep: Sweep) -> Table:
    """What each snapshot writes, and its loss of the target."""
    looks = sweep.looks.values()
    return {
        "update": sweep.updates,
        "writes": [look.text for look in looks],
        "loss (nats per token)": sweep.losses,
        "probability of a token": [float(np.exp(-look.loss)) for look in looks],
    }


def rows_alt(sweep: Sweep) -> str:
    """What the picture says, in words."""
    said = [
        f"after {counted(update, 'update')} “{look.text}”, {probability_text(float(np.exp(-look.loss)))}"
        for update, look in sweep.looks.items()
    ]
    return f"The sentence “{sweep.question.sentence}” at {len(said)} snapshots: {'; '.join(said)}."

"""The picture of the time machine as data for the browser: a row for each snapshot, and one head at each of them."""

from difflib import SequenceMatcher
from typing import Any

import numpy as np

from app.figures.axes import in_words
from app.figures.base64_numbers import weights_in_base64
from app.figures.shares import probability_text
from app.figures.tables import Table
from app.figures.theme import fixed, kind_color
from app.languages import _, ngettext
from app.languages.numbers import formatted
from app.stage.heads import SHORT
from app.views.shared.text_difference import words
from app.views.training.snapshot_sweep import Sweep


def rows(sweep: Sweep) -> list[dict[str, Any]]:
    """One row per snapshot, in order: update, the words that it writes, and the probability of the target."""
    layer, head = sweep.head
    found: list[dict[str, Any]] = []
    before: str | None = None
    for update in sorted([*sweep.results, *sweep.pending]):
        result = sweep.results.get(update)
        if result is None:
            found.append({"update": formatted(update, ","), "number": update})
            before = None
            continue
        text = result.text + (" …" if result.is_truncated else "")
        probability = float(np.exp(-result.loss))
        found.append(
            {
                "update": formatted(update, ","),
                "number": update,
                "words": marked(before, text) or [[_("(nothing)"), False]],
                "share": probability,
                "probability": probability_text(probability),
                "loss": fixed(result.loss, 2),
                "weights": weights_in_base64(result.attention.weights[layer, head]),
            }
        )
        before = text
    return found


def marked(before: str | None, text: str) -> list[list[Any]]:
    """The words of a text, each with the white space before it, and with True if the text `before` does not have
    it there. If `before` is None, no word is marked."""
    new = words(text)
    if before is None:
        return [[word, False] for word in new]
    old = [word.strip() for word in words(before)]
    changed = [True] * len(new)
    matcher = SequenceMatcher(None, old, [word.strip() for word in new], autojunk=False)
    for block in matcher.get_matching_blocks():
        changed[block.b : block.b + block.size] = [False] * block.size
    return [[word, mark] for word, mark in zip(new, changed, strict=True)]


def head_data(sweep: Sweep) -> dict[str, Any]:
    """Which head is drawn, and the tokens along its sides."""
    layer, head = sweep.head
    queries, keys = sweep.axes
    place = {"kind": _(SHORT[sweep.kind]), "layer": layer + 1, "head": head + 1}
    title = _("{kind} attention, layer {layer}, head {head}", **place)
    about = [
        _("{title}.", title=title)
        if sweep.chosen_head
        else _("{title}, the clearest one of the last snapshot.", title=title),
        _("Rows: {tokens}, the token that is predicted.", tokens=queries.title)
        if queries.predicts
        else _("Rows: {tokens}.", tokens=queries.title),
        _("Columns: {tokens}. Each row sums to 1.", tokens=keys.title),
    ]
    reads = (
        _("Rows: the right translation, which all snapshots read")
        if sweep.question.is_known
        else _("Rows: the final translation, which all snapshots read")
    )
    return {
        "title": title,
        "about": " ".join(about),
        "reads": reads if queries.predicts else "",
        "rows": [in_words(token) for token in queries.predicts or queries.tokens],
        "columns": [in_words(token) for token in keys.tokens],
        "color": kind_color(sweep.kind),
    }


def rows_table(sweep: Sweep) -> Table:
    """What each snapshot writes, and its loss on the target."""
    results = sweep.results.values()
    return {
        _("update"): sweep.updates,
        _("writes"): [result.text for result in results],
        _("loss (nats per token)"): sweep.losses,
        _("probability of a token"): [float(np.exp(-result.loss)) for result in results],
    }


def rows_alt(sweep: Sweep) -> str:
    """What the picture says, in words."""
    entries = [
        ngettext(
            "after {count:,} update “{text}”, {probability}",
            "after {count:,} updates “{text}”, {probability}",
            update,
            text=result.text,
            probability=probability_text(float(np.exp(-result.loss))),
        )
        for update, result in sweep.results.items()
    ]
    return _(
        "The sentence “{sentence}” at {count} snapshots: {texts}.",
        sentence=sweep.question.sentence,
        count=len(entries),
        texts="; ".join(entries),
    )

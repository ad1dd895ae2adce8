"""The search as a tree: a column a step, in it the candidates of that step, those that went on above the others.

Whatever is drawn comes from the search itself (`Translation.tree`): probability, sum of log-probabilities, score after
the length penalty, and what became of it. Fates are told by shape and sign as well as by colour.
"""

from collections.abc import Collection, Sequence
from typing import Any, Protocol

import numpy as np

from app.figures.axes import TokenAxis, visible
from app.figures.tables import Table
from app.figures.theme import probability_text, role_color, score_text


class NodeLike(Protocol):
    """What `transformer.decoding.SearchNode` offers."""

    @property
    def id(self) -> int: ...
    @property
    def parent(self) -> int | None: ...
    @property
    def step(self) -> int: ...
    @property
    def piece(self) -> str: ...
    @property
    def log_probability(self) -> float: ...
    @property
    def sum(self) -> float: ...
    @property
    def normalised(self) -> float: ...
    @property
    def fate(self) -> str: ...
    @property
    def reason(self) -> str: ...


SIGNS = {"start": "", "kept": "→", "pruned": "✕", "finished": "■", "stopped": "‖", "unfinished": "…"}
FATES = {
    "start": "the start",
    "kept": "kept: goes on",
    "pruned": "pruned",
    "finished": "finished with </s>",
    "stopped": "still alive when the search ended",
    "unfinished": "cut off",
}


def tree_picture(
    tree: Sequence[NodeLike],
    best: Collection[int],
    chosen: int,
    probabilities: Sequence[float],
    *,
    title: str,
    pruned: bool = True,
) -> dict[str, Any]:
    """The data of the browser component `tree`.

    Args:
        best: ids of the nodes of the shown hypothesis, drawn heavily.
        chosen: id of the node whose details are shown.
        probabilities: of each node's token, given what came before: exp of its log-probability.
        pruned: whether to draw the candidates that went no further. The chosen one is drawn in any case.
    """
    drawn = [node for node in tree if pruned or node.fate != "pruned" or node.id == chosen]
    rows = tree_rows(drawn)
    fates = {node.fate for node in drawn}
    nodes = []
    for node in drawn:
        start = node.parent is None
        p = probability_text(probabilities[node.id])
        numbers = f"Σ {score_text(node.sum)} · {score_text(node.normalised)}"
        nodes.append(
            {
                "id": node.id,
                "parent": node.parent,
                "step": node.step,
                "row": rows[node.id],
                "piece": visible(node.piece),
                "probability": "" if start else p,
                "share": float(probabilities[node.id]),
                "numbers": "" if start else numbers,
                "sign": SIGNS[node.fate],
                "fate": node.fate,
                "best": node.id in best,
                "label": f"step {node.step}, {visible(node.piece)}, {p}, {FATES[node.fate]}",
            }
        )
    return {
        "nodes": nodes,
        "chosen": chosen,
        "title": title,
        "color": role_color("decoder"),
        "legend": [f"{sign} {FATES[fate]}" for fate, sign in SIGNS.items() if sign and fate in fates],
    }


def tree_rows(nodes: Sequence[NodeLike]) -> dict[int, int]:
    """The place of each node in its column, from 0: what went no further below, and the larger the sum, the higher."""
    rows: dict[int, int] = {}
    for step in {node.step for node in nodes}:
        column = [node for node in nodes if node.step == step]
        column.sort(key=lambda node: (node.fate == "pruned", -node.sum, node.id))
        rows |= {node.id: row for row, node in enumerate(column)}
    return rows


def tree_table(tree: Sequence[NodeLike], probabilities: Sequence[float], best: Collection[int]) -> Table:
    """Every candidate as a row of a table."""
    return {
        "node": [node.id for node in tree],
        "step": [node.step for node in tree],
        "after node": [node.parent for node in tree],
        "piece": [node.piece for node in tree],
        "probability": [float(probabilities[node.id]) for node in tree],
        "log-probability": [node.log_probability for node in tree],
        "sum": [node.sum for node in tree],
        "score": [node.normalised for node in tree],
        "fate": [node.fate for node in tree],
        "why": [node.reason for node in tree],
        "shown": ["on the way" if node.id in best else "" for node in tree],
    }


def tree_alt(tree: Sequence[NodeLike], title: str) -> str:
    """What the picture says, in words."""
    counts = {fate: sum(node.fate == fate for node in tree) for fate in SIGNS}
    said = ", ".join(f"{count} {FATES[fate]}" for fate, count in counts.items() if count and fate != "start")
    return f"{title}. {len(tree) - 1} candidates in {tree[-1].step} steps: {said}. The table below has all of them."


def looked_at(tokens: TokenAxis, weights: np.ndarray, label: str) -> dict[str, Any]:
    """Weights (K) of one row of attention as bars under its keys, for `app.components.pieces`."""
    chips = [
        {
            "text": visible(token),
            "kind": "piece",
            "under": [f"{float(weight):.2f}"],
            "share": float(weight),
            "title": f"{float(weight):.4f}",
        }
        for token, weight in zip(tokens.tokens, weights, strict=True)
    ]
    return {"chips": chips, "color": role_color(tokens.role), "label": label}

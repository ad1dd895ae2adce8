"""The search as a tree: a column per step has the candidates of that step, and those that were pruned are at its end.

All that is drawn of a candidate comes from the search itself (`Translation.tree`): its probability, the sum of
log-probabilities, the score after the length penalty, and the outcome. Outcomes differ in shape and sign as well as in
colour.
"""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from app.figures.axes import TokenAxis, in_words
from app.figures.shares import decimal_text, probability_text
from app.figures.tables import Table
from app.figures.theme import role_color, score_text
from app.languages import _, gettext_noop
from app.views.decoding.reasons import reason_text
from transformer.decoding.translation import Outcome, SearchNode

SIGNS: dict[Outcome, str] = {
    "start": "",
    "kept": "→",
    "pruned": "✕",
    "finished": "■",
    "stopped": "‖",
    "unfinished": "…",
}
OUTCOMES: dict[Outcome, str] = {
    "start": gettext_noop("the start"),
    "kept": gettext_noop("kept"),
    "pruned": gettext_noop("pruned"),
    "finished": gettext_noop("finished with </s>"),
    "stopped": gettext_noop("not finished when the search ended"),
    "unfinished": gettext_noop("cut off"),
}
IN_TABLE: dict[Outcome, str] = {
    "start": gettext_noop("start"),
    "kept": gettext_noop("kept"),
    "pruned": gettext_noop("pruned"),
    "finished": gettext_noop("finished"),
    "stopped": gettext_noop("stopped"),
    "unfinished": gettext_noop("unfinished"),
}


def tree_picture(
    tree: Sequence[SearchNode],
    best: Collection[int],
    chosen: int,
    probabilities: Sequence[float],
    *,
    title: str,
    pruned: bool = True,
) -> dict[str, Any]:
    """The data of the browser component `search_tree`.

    Args:
        best: ids of the nodes of the shown hypothesis, drawn with thick lines.
        chosen: id of the node whose details are shown.
        probabilities: of each node's token, given what came before: exp of its log-probability.
        pruned: whether to draw the candidates that were pruned. The chosen one is drawn in any case.
    """
    drawn = [node for node in tree if pruned or node.outcome != "pruned" or node.id == chosen]
    rows = tree_rows(drawn)
    outcomes = {node.outcome for node in drawn}
    nodes = []
    for node in drawn:
        start = node.parent is None
        p = probability_text(probabilities[node.id])
        total = f"Σ {score_text(node.sum)}"
        nodes.append(
            {
                "id": node.id,
                "parent": node.parent,
                "step": node.step,
                "row": rows[node.id],
                "token": in_words(node.token),
                "probability": "" if start else p,
                "share": float(probabilities[node.id]),
                "sum": "" if start else total,
                "numbers": "" if start else f"{total} · {score_text(node.normalised)}",
                "sign": SIGNS[node.outcome],
                "outcome": node.outcome,
                "best": node.id in best,
                "label": _(
                    "step {step}, {token}, {probability}, {outcome}",
                    step=node.step,
                    token=in_words(node.token),
                    probability=p,
                    outcome=_(OUTCOMES[node.outcome]),
                ),
            }
        )
    return {
        "nodes": nodes,
        "chosen": chosen,
        "title": title,
        "color": role_color("decoder"),
        "legend": [f"{sign} {_(OUTCOMES[outcome])}" for outcome, sign in SIGNS.items() if sign and outcome in outcomes],
    }


def tree_rows(nodes: Sequence[SearchNode]) -> dict[int, int]:
    """The place of each node in its column, from 0 at the top: pruned nodes after the others, larger sums first."""
    rows: dict[int, int] = {}
    for step in {node.step for node in nodes}:
        column = [node for node in nodes if node.step == step]
        column.sort(key=lambda node: (node.outcome == "pruned", -node.sum, node.id))
        rows |= {node.id: row for row, node in enumerate(column)}
    return rows


def tree_table(tree: Sequence[SearchNode], probabilities: Sequence[float], best: Collection[int]) -> Table:
    """Every candidate as a row of a table."""
    return {
        _("node"): [node.id for node in tree],
        _("step"): [node.step for node in tree],
        _("after node"): [node.parent for node in tree],
        _("token"): [node.token for node in tree],
        _("probability"): [float(probabilities[node.id]) for node in tree],
        _("log-probability"): [node.log_probability for node in tree],
        _("sum"): [node.sum for node in tree],
        _("score"): [node.normalised for node in tree],
        _("outcome"): [_(IN_TABLE[node.outcome]) for node in tree],
        _("why"): [reason_text(node.reason) for node in tree],
        _("in the shown hypothesis"): [_("yes") if node.id in best else "" for node in tree],
    }


def tree_alt(tree: Sequence[SearchNode], title: str) -> str:
    """What the picture says, in words."""
    counts = {outcome: sum(node.outcome == outcome for node in tree) for outcome in SIGNS}
    shown = {outcome: count for outcome, count in counts.items() if count and outcome != "start"}
    return _(
        "{title}. {count} candidates in {steps} steps: {outcomes}. The table below has all of them.",
        title=title,
        count=len(tree) - 1,
        steps=tree[-1].step,
        outcomes=", ".join(f"{count} {_(OUTCOMES[outcome])}" for outcome, count in shown.items()),
    )


def attended_tokens(tokens: TokenAxis, weights: np.ndarray, label: str) -> dict[str, Any]:
    """Weights (K) of one row of attention as bars under its keys, for `app.components.token_strip`."""
    chips = [
        {
            "text": in_words(token),
            "kind": "ordinary",
            "under": [decimal_text(float(weight))],
            "share": float(weight),
            "title": decimal_text(float(weight), 4),
        }
        for token, weight in zip(tokens.tokens, weights, strict=True)
    ]
    return {"chips": chips, "color": role_color(tokens.role), "label": label}

"""The loop of decoding in one frame, for the browser component `next_token`: all steps of a translation at once.

A step has the most probable next tokens, why the chosen one was chosen, where one head attends in the source, and the
hypotheses that go on after it.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.figures.axes import visible
from app.figures.distribution import Mark, Offer, offers
from app.figures.tables import Table
from app.figures.theme import fixed, score_text
from app.views.decoding.tree_data import NodeLike
from transformer.config import EOS

SHOWN = (5, 9)  # tokens of a distribution on a phone and in a wide frame
MARKS = {"beam": "kept", "sampling": "drawn"}  # by method: other tokens with which a hypothesis goes on


@dataclass(frozen=True)
class Step:
    """One step of decoding.

    Attributes:
        logits: (V).
        chosen: id of the token with which the translation goes on.
        why: it was chosen, in a sentence.
        others: ids with which other hypotheses go on from here.
        allowed: (V) boolean, what may be drawn; None = everything.
    """

    logits: np.ndarray
    chosen: int
    why: str
    others: Collection[int] = ()
    allowed: np.ndarray | None = None


def as_word(piece: str) -> str:
    """A token as readers see it: "▁den" is "den", and "n", which continues a word, is "…n"."""
    if piece.startswith("▁") and len(piece) > 1:
        return visible(piece[1:])
    return f"…{visible(piece)}" if piece[:1].isalnum() else visible(piece)


def percent(probability: float) -> str:
    """A probability with three digits or more: 51.1%, 3.14%, 0.120%, 99.97%; never 0% and never 100%."""
    value = 100 * probability
    if value < 0.001:
        return "<0.001%"
    if value >= 99.995:
        return ">99.99%"
    digits = 2 if value >= 99.95 or value < 9.95 else 1
    return f"{value:.3f}%" if value < 0.0995 else f"{value:.{digits}f}%"


def both_percents(probability: float, share: float) -> str:
    """The probability, and after an arrow the share of what may be drawn where that is another number."""
    texts = percent(probability), percent(share) if share < 1 else "100%"
    return texts[0] if abs(probability - share) < 1e-9 else " → ".join(texts)


def step_data(
    step: Step, piece: Callable[[int], str], *, temperature: float = 1.0, mark: Mark = "chosen", other_mark: str = ""
) -> dict[str, Any]:
    """The distribution of a step: the most probable tokens, and all others together.

    Args:
        temperature: at which it was decoded.
        mark: of the chosen token.
        other_mark: of the tokens with which other hypotheses go on.
    """
    found = offers(
        step.logits, step.chosen, piece,
        temperature=temperature, count=SHOWN[-1], mark=mark, allowed=step.allowed,
    )  # fmt: skip
    rows = [_row(offer, other_mark if offer.id in step.others else "") for offer in found]
    chosen = next(offer for offer in found if offer.chosen)
    return {
        "rows": rows,
        "rest": {str(count): _rest(found, count, len(step.logits)) for count in SHOWN},
        "says": f"Chosen: “{as_word(chosen.piece)}” with {both_percents(chosen.probability, chosen.share)}",
        "why": f"Why “{as_word(chosen.piece)}”? {step.why}",
    }


def _row(offer: Offer, other: str) -> dict[str, Any]:
    number = percent(offer.probability) if offer.cut else both_percents(offer.probability, offer.share)
    never = offer.id < EOS  # the search leaves out <pad>, <unk> and <s>
    words = offer.mark or ("never" if never else "left out" if offer.cut else other)
    mark = f"#{offer.rank:,}" if offer.mark and offer.rank > SHOWN[-1] else words
    said = f"{visible(offer.piece)}: probability {offer.probability:.6f}, rank {offer.rank:,}, logit "
    said += fixed(offer.logit, 4) + (f", {words}" if words else "")
    said += " by another hypothesis" if words and words == other else ""
    return {
        "id": offer.id,
        "text": as_word(offer.piece),
        "p": offer.probability,
        "share": offer.share,
        "number": number,
        "mark": mark,
        "chosen": offer.chosen,
        "cut": offer.cut or never,
        "never": never,
        "title": said if offer.mark or never else f"{said}. Click to continue with it",
    }


def _rest(found: Sequence[Offer], count: int, vocabulary: int) -> dict[str, Any]:
    """All tokens but the `count` that are shown: the most probable, the last of which makes room for the chosen one."""
    shown = list(found[:count])
    if not any(offer.chosen for offer in shown):
        shown[count - 1] = next(offer for offer in found if offer.chosen)
    p = max(1 - sum(offer.probability for offer in shown), 0.0)
    share = max(1 - sum(offer.share for offer in shown), 0.0)
    number = percent(p) if share < 1e-9 else both_percents(p, share)
    return {"text": f"{vocabulary - len(shown):,} others", "p": p, "share": share, "number": number}


def frame_table(frame: dict[str, Any]) -> Table:
    """The most probable tokens of all steps, as columns of a table."""
    rows = [(step, row) for step, data in enumerate(frame["steps"], start=1) for row in data["rows"]]
    return {
        "step": [step for step, _ in rows],
        "reads": [frame["written"]["tokens"][step - 1] for step, _ in rows],
        "token": [row["text"] for _, row in rows],
        "id": [row["id"] for _, row in rows],
        "probability": [row["p"] for _, row in rows],
        "of what may be drawn": [row["share"] for _, row in rows],
        "mark": [row["mark"] for _, row in rows],
    }


def beams_data(nodes: Sequence[NodeLike], best: Collection[int], steps: int, title: str, rows: int) -> dict[str, Any]:
    """The hypotheses that go on after each step, or end with it, the best sums first.

    Args:
        nodes: of the search.
        best: ids of the nodes of the shown hypothesis.
        steps: of the shown hypothesis.
        rows: the most hypotheses that a step has.
    """
    alive = [node for node in nodes if node.fate != "pruned"]
    places = {node.id: place for place, node in enumerate(alive)}
    by_step = [
        sorted((node for node in alive if node.step == step), key=lambda node: (-node.sum, node.id))[:rows]
        for step in range(1, steps + 1)
    ]
    return {
        "title": title,
        "rows": rows,
        "nodes": [
            {
                "parent": -1 if node.parent is None else places[node.parent],
                "text": visible(node.piece),
                "sum": score_text(node.sum),
                "best": node.id in best,
                "ended": node.fate == "finished",
                "title": f"sum of log p {fixed(node.sum, 3)}, score {fixed(node.normalised, 3)}. {node.reason}",
            }
            for node in alive
        ],
        "alive": [[places[node.id] for node in column] for column in by_step],
    }

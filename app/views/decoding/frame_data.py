"""The loop of decoding in one frame, for the browser component `next_token`: all steps of a translation at once.

A step has the most probable next tokens, why the chosen one was chosen, where one head attends in the source, and the
hypotheses that are kept after it.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.figures.axes import visible
from app.figures.distribution import Mark, Offer, offers
from app.figures.shares import Share
from app.figures.tables import Table
from app.figures.theme import fixed, score_text
from app.figures.two_percents import both_in_words, both_percents, percent
from app.languages import _, gettext_noop, pgettext
from app.languages.numbers import formatted
from app.views.decoding.reasons import reason_text
from transformer.config import EOS
from transformer.decoding.finished_search import finished
from transformer.decoding.translation import SearchNode

SHOWN = (5, 9)  # tokens of a distribution on a phone and in a wide frame
MARKS = {
    "beam": gettext_noop("kept"),
    "sampling": gettext_noop("drawn"),
}  # by method: the mark of tokens with which other hypotheses continue


@dataclass(frozen=True)
class Step:
    """One step of decoding.

    Attributes:
        logits: (V).
        chosen: id of the token with which the translation continues.
        why: the sentence that says why it was chosen.
        others: ids with which other hypotheses continue from here.
        allowed: (V) boolean, what may be drawn; None = everything.
    """

    logits: np.ndarray
    chosen: int
    why: str
    others: Collection[int] = ()
    allowed: np.ndarray | None = None


def as_word(token: str) -> str:
    """A token as readers see it: "▁den" is "den", and "n", which continues a word, is "…n"."""
    if token.startswith("▁") and len(token) > 1:
        return visible(token[1:])
    return f"…{visible(token)}" if token[:1].isalnum() else visible(token)


def step_data(
    step: Step, token_of: Callable[[int], str], *, temperature: float = 1.0, mark: Mark = "chosen", other_mark: str = ""
) -> dict[str, Any]:
    """The distribution of a step: the most probable tokens, and all others together.

    Args:
        temperature: at which it was decoded.
        mark: the mark of the chosen token.
        other_mark: the mark of the tokens with which other hypotheses continue, in the visitor's language.
    """
    found = offers(
        step.logits, step.chosen, token_of,
        temperature=temperature, count=SHOWN[-1], mark=mark, allowed=step.allowed,
    )  # fmt: skip
    rows = [_row(offer, other_mark if offer.id in step.others else "") for offer in found]
    chosen = next(offer for offer in found if offer.chosen)
    probability = both_in_words(chosen.probability, chosen.share)
    return {
        "rows": rows,
        "rest": {str(count): _rest(found, count, len(step.logits)) for count in SHOWN},
        "says": _("Chosen: “{token}” with {probability}", token=as_word(chosen.token), probability=probability),
        "why": _("Why “{token}”? {reason}", token=as_word(chosen.token), reason=step.why),
    }


def least_certain(steps: Sequence[dict[str, Any]], *, is_given: bool = False) -> dict[str, Any] | None:
    """The step, from 0, whose token has the lowest probability, the first of equals, and what the frame says about it.

    None if there is only one step.

    Args:
        steps: from `step_data`.
        is_given: the model did not choose these tokens.
    """
    if len(steps) < 2:
        return None
    chosen = [next(row for row in step["rows"] if row["chosen"]) for step in steps]
    step = min(range(len(steps)), key=lambda t: chosen[t]["p"])
    probability = percent(chosen[step]["p"])
    if is_given:
        return {
            "step": step,
            "words": _("least probable, step {step}: {probability}", step=step + 1, probability=probability),
        }
    return {
        "step": step,
        "words": _("least certain, step {step}: {probability}", step=step + 1, probability=probability),
    }


def _row(offer: Offer, other: str) -> dict[str, Any]:
    number = percent(offer.probability) if offer.is_excluded else both_percents(offer.probability, offer.share)
    never = offer.id < EOS  # the search leaves out <pad>, <unk> and <s>
    if offer.mark:
        words = _("chosen") if offer.mark == "chosen" else pgettext("in a narrow column", "given")
    else:
        words = _("never") if never else pgettext("in a narrow column", "left out") if offer.is_excluded else other
    mark = f"#{formatted(offer.rank, ',')}" if offer.mark and offer.rank > SHOWN[-1] else words
    title = _(
        "{token}: probability {probability:.6f}, rank {rank:,}, logit {logit}",
        token=visible(offer.token),
        probability=Share(offer.probability),
        rank=offer.rank,
        logit=fixed(offer.logit, 4),
    )
    if words:
        title += ", " + (_("{mark} by another hypothesis", mark=words) if words == other else words)
    return {
        "id": offer.id,
        "text": as_word(offer.token),
        "p": offer.probability,
        "share": offer.share,
        "number": number,
        "mark": mark,
        "chosen": offer.chosen,
        "cut": offer.is_excluded or never,
        "never": never,
        "title": title if offer.mark or never else title + ". " + _("Click to continue with it"),
    }


def _rest(found: Sequence[Offer], count: int, vocabulary: int) -> dict[str, Any]:
    """All tokens that are not shown, together. Shown are the `count` most probable ones; if the chosen one is not among
    them, it replaces the last."""
    shown = list(found[:count])
    if not any(offer.chosen for offer in shown):
        shown[count - 1] = next(offer for offer in found if offer.chosen)
    p = max(1 - sum(offer.probability for offer in shown), 0.0)
    share = max(1 - sum(offer.share for offer in shown), 0.0)
    number = percent(p) if share < 1e-9 else both_percents(p, share)
    return {"text": _("{count:,} others", count=vocabulary - len(shown)), "p": p, "share": share, "number": number}


def frame_table(frame: dict[str, Any]) -> Table:
    """The most probable tokens of all steps, as columns of a table."""
    rows = [(step, row) for step, data in enumerate(frame["steps"], start=1) for row in data["rows"]]
    return {
        _("step"): [step for step, row in rows],
        _("reads"): [frame["written"]["tokens"][step - 1] for step, row in rows],
        _("token"): [row["text"] for step, row in rows],
        "id": [row["id"] for step, row in rows],
        _("probability"): [row["p"] for step, row in rows],
        _("share among the tokens that may be drawn"): [row["share"] for step, row in rows],
        _("mark"): [row["mark"] for step, row in rows],
    }


def beams_data(nodes: Sequence[SearchNode], best: Collection[int], steps: int, title: str, rows: int) -> dict[str, Any]:
    """The hypotheses that are kept after each step, or end with it, the best sums first; the shown one is among them.

    Args:
        nodes: of the search.
        best: ids of the nodes of the shown hypothesis.
        steps: of the shown hypothesis.
        rows: the most hypotheses that a step has.
    """
    alive = [node for node in nodes if node.outcome != "pruned"]
    places = {node.id: place for place, node in enumerate(alive)}
    by_step = []
    for step in range(1, steps + 1):
        found = sorted((node for node in alive if node.step == step), key=lambda node: (-node.sum, node.id))
        most = sorted(found, key=lambda node: node.id not in best)[:rows]
        by_step.append([node for node in found if node in most])
    return {
        "title": title,
        "rows": rows,
        "nodes": [
            {
                "parent": -1 if node.parent is None else places[node.parent],
                "text": visible(node.token),
                "sum": score_text(node.sum),
                "best": node.id in best,
                "ended": node.outcome == "finished",
                "title": _(
                    "sum of log p {sum}, score {score}. {reason}",
                    sum=fixed(node.sum, 3),
                    score=fixed(node.normalised, 3),
                    reason=reason_text(node.reason),
                ),
            }
            for node in alive
        ],
        "alive": [[places[node.id] for node in column] for column in by_step],
    }


def end_data(nodes: Sequence[SearchNode], rows: int) -> list[dict[str, Any]]:
    """What the list of hypotheses has at the last step: those that finished at any step, the best score first, as the
    search ranks them; then those that were not finished. Empty if none finished.

    Args:
        nodes: of the search. rows: the most hypotheses that are listed.
    """
    places = {node.id: place for place, node in enumerate(node for node in nodes if node.outcome != "pruned")}
    ended = finished(nodes)
    if not ended:
        return []
    stopped = sorted((node for node in nodes if node.outcome == "stopped"), key=lambda node: -node.sum)
    numbers = [
        *((node, _("finished, score {score}", score=fixed(node.normalised, 3))) for node in ended),
        *((node, _("unfinished, sum {sum}", sum=score_text(node.sum))) for node in stopped),
    ]
    return [{"node": places[node.id], "number": number} for node, number in numbers[:rows]]

"""The distribution over the next token: p = softmax(logits / temperature) (section 3.4; the paper's temperature is 1).

Temperature changes how sharp the distribution is and never the order of the tokens, so it matters for sampling only.
The logits of a step are stored, so that another temperature needs no new pass of the model.

Sampling draws from the tokens that top k and top p leave, by their shares: their probabilities divided by their sum.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from app.figures.axes import in_words, plotly_text, ticks
from app.figures.charts import FAINT, Figure, chart_layout, plain_axis
from app.figures.shares import Share
from app.figures.softmax import softmax
from app.figures.tables import Table
from app.figures.theme import INK, TICK_SIZE, fixed, role_color
from app.figures.two_percents import both_in_words, both_percents, percent
from app.languages import _, pgettext

BAR = 31  # px
LETTER = 0.03  # width of a letter, as a share of the narrowest axis
Mark = Literal["", "chosen", "given"]


@dataclass(frozen=True)
class Offer:
    """One token that may come next."""

    id: int
    token: str
    logit: float
    probability: float
    rank: int  # 1 = the most probable
    mark: Mark  # chosen: the translation continues with it. given: the same, but the visitor chose it
    is_excluded: bool  # top-k or top-p, or the search itself, forbids it
    share: float  # of the sum of the probabilities of all tokens that may be drawn; 0 if it may not be drawn

    @property
    def chosen(self) -> bool:
        """Whether the translation continues with it."""
        return bool(self.mark)


def entropy_bits(logits: np.ndarray, temperature: float = 1.0) -> float:
    """How undecided the model is: 0 = certain, log2 V = all tokens are equally probable."""
    p = softmax(logits, temperature=temperature)
    return float(-np.sum(p * np.log2(np.where(p > 0, p, 1.0)))) + 0.0


def _highest(logits: np.ndarray, count: int) -> list[int]:
    """The ids of the `count` highest logits (V), the highest first; of equal ones, the lower id.

    Sorting all logits would take longer than everything else that is done for a step.
    """
    count = min(count, len(logits))
    least = np.partition(logits, -count)[-count]
    found = np.flatnonzero(logits >= least)
    return [int(id) for id in found[np.argsort(-logits[found], kind="stable")][:count]]


def offers(
    logits: np.ndarray,
    chosen: int,
    token_of: Callable[[int], str],
    *,
    temperature: float = 1.0,
    count: int = 10,
    mark: Mark = "chosen",
    allowed: np.ndarray | None = None,
) -> list[Offer]:
    """The `count` most probable tokens, best first; the chosen one in place of the last if it is not among them.

    Args:
        logits: (V) of one step.
        token_of: how an id is written.
        mark: of the chosen token.
        allowed: (V) boolean, what may be chosen at all; None = everything.
    """
    probabilities = softmax(logits, temperature=temperature)  # (V)
    shown = _highest(logits, count)
    if chosen not in shown:
        shown[-1] = chosen
    shares = shares_of(probabilities, allowed)  # (V)
    return [
        Offer(
            id,
            token_of(id),
            float(logits[id]),
            float(probabilities[id]),
            1 + int((logits > logits[id]).sum()),
            mark if id == chosen else "",
            allowed is not None and not allowed[id],
            float(shares[id]),
        )
        for id in shown
    ]


def shares_of(probabilities: np.ndarray, allowed: np.ndarray | None) -> np.ndarray:
    """The probabilities (V) of the `allowed` tokens (V), divided by their sum; 0 for the others."""
    if allowed is None:
        return probabilities
    kept = np.where(allowed, probabilities, 0.0)  # (V)
    found: np.ndarray = kept / kept.sum()
    return found


def distribution_bars(found: list[Offer], vocabulary: int, *, title: str) -> Figure:
    """A bar per token, 0 to 1; the last bar is all other tokens together. Outlines are shares of what may be drawn."""
    rest = max(1.0 - sum(offer.probability for offer in found), 0.0)
    left = max(1.0 - sum(offer.share for offer in found), 0.0)
    color = role_color("decoder")
    names = [*ticks(tuple(offer.token for offer in found)), _("<i>{count:,} others</i>", count=vocabulary - len(found))]
    others = _("{share} · may not be drawn", share=percent(rest)) if left < 1e-9 < rest else both_percents(rest, left)
    labels = [_label(offer) for offer in found] + [others]
    shares = np.array([*(offer.share for offer in found), left])
    outlined = any(" → " in label for label in labels)
    lengths = np.array([*(offer.probability for offer in found), rest])
    bars = {
        "type": "bar",
        "x": lengths,
        "y": np.arange(len(found) + 1),
        "orientation": "h",
        "marker": {
            "color": [color if offer.chosen else "rgba(128, 136, 150, 0.75)" for offer in found] + [FAINT],
            "pattern": {"shape": ["/" if offer.is_excluded else "" for offer in found] + ["."], "fillmode": "overlay"},
        },
        "width": 0.72,
        "text": labels,
        "textposition": "none" if outlined else "outside",
        "constraintext": "none",
        "textfont": {"size": 14, "color": INK},
        "cliponaxis": False,
        "customdata": [_hover(offer) for offer in found] + [_("all other tokens together: {rest:.4f}", rest=rest)],
        "hovertemplate": "%{customdata}<extra></extra>",
        "showlegend": False,
    }
    room = _room(np.maximum(lengths, shares) if outlined else lengths, labels, 2.0 if outlined else 1.75)
    axis = _("probability → share") if outlined else pgettext("of a short axis", "probability")
    more = {
        "bargap": 0.2,
        "barmode": "overlay",
        "xaxis": plain_axis(axis, [0, room], tickvals=[0, 0.5, 1], tickformat=".0%"),
        "yaxis": plain_axis("", [len(names) - 0.5, -0.5], tickmode="array", tickvals=list(range(len(names))))
        | {"ticktext": names, "tickfont": {"size": TICK_SIZE + 1, "color": INK}},
    }
    edges = [color if offer.chosen else INK for offer in found] + [INK]
    data = [bars, *(_outlines(lengths, shares, labels, edges) if outlined else [])]
    return Figure(data, chart_layout(title, 84 + BAR * len(names), top=40, bottom=44) | more)


def _room(lengths: np.ndarray, labels: list[str], usual: float) -> float:
    """The length of the axis at which every label has room after its bar; `usual` has room for "100% · chosen"."""
    left = 1 - LETTER * np.array([len(label) for label in labels])  # what a label leaves of the axis for its bar
    return float(max(usual, *(lengths / np.maximum(left, 0.25))))


def _outlines(lengths: np.ndarray, shares: np.ndarray, labels: list[str], edges: list[str]) -> list[dict[str, Any]]:
    """The shares as outlines over the bars, and the labels where the longer of the two ends."""
    still = {"hoverinfo": "skip", "showlegend": False, "cliponaxis": False, "y": np.arange(len(shares))}
    outlines = still | {
        "type": "bar",
        "x": shares,
        "orientation": "h",
        "width": 0.72,
        "marker": {"color": "rgba(0, 0, 0, 0)", "line": {"color": edges, "width": 2.0 * (shares > 0)}},
    }
    ends = still | {
        "type": "scatter",
        "mode": "text",
        "x": np.maximum(lengths, shares),
        "text": [f" {label}" for label in labels],
        "textposition": "middle right",
        "textfont": {"size": 14, "color": INK},
    }
    return [outlines, ends]


def _label(offer: Offer, both: Callable[[float, float], str] = both_percents) -> str:
    words = [percent(offer.probability) if offer.is_excluded else both(offer.probability, offer.share)]
    if offer.mark:
        words.append(_mark(offer))
        if offer.rank > 1:
            words.append(_("rank {rank:,}", rank=offer.rank))
    if offer.is_excluded:
        words.append(_("may not be drawn"))
    return " · ".join(words)


def _mark(offer: Offer) -> str:
    return {"": "", "chosen": _("chosen"), "given": _("given")}[offer.mark]


def _hover(offer: Offer) -> str:
    return _(
        "{token} (id {id})<br>rank {rank:,}<br>logit {logit}<br>probability {probability:.6f}"
        "<br>share among the tokens that may be drawn {share:.6f}",
        token=plotly_text(in_words(offer.token)),
        id=offer.id,
        rank=offer.rank,
        logit=fixed(offer.logit, 4),
        probability=Share(offer.probability),
        share=Share(offer.share),
    )


def distribution_table(found: list[Offer]) -> Table:
    """The same as columns of a table."""
    return {
        _("rank"): [offer.rank for offer in found],
        _("token"): [offer.token for offer in found],
        _("id"): [offer.id for offer in found],
        _("logit"): [offer.logit for offer in found],
        _("probability"): [offer.probability for offer in found],
        _("share among the tokens that may be drawn"): [offer.share for offer in found],
        _("in the translation"): [_mark(offer) for offer in found],
        _("may not be drawn"): [_("may not be drawn") if offer.is_excluded else "" for offer in found],
    }


def distribution_alt(found: list[Offer], title: str) -> str:
    """What the picture says, in words."""
    entries = "; ".join(f"{in_words(offer.token)} {_label(offer, both_in_words)}" for offer in found)
    return f"{title}. {entries}."

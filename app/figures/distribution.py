"""The distribution over the next piece: p = softmax(logits / temperature) (paper, section 3.4; the paper's is 1).

The logits of a step are kept, so another temperature is arithmetic on V numbers and no new pass of the model.
Temperature changes how sharp the distribution is and never the order of the pieces: only sampling notices it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.figures.axes import plotly_text, ticks, visible
from app.figures.charts import FAINT, Figure, plain_axis, settled
from app.figures.tables import Table
from app.theme import TICK_SIZE, ink, probability_text, role_color

BAR = 31  # px
Mark = Literal["", "chosen", "given"]


@dataclass(frozen=True)
class Offer:
    """One piece that may come next."""

    id: int
    piece: str
    logit: float
    probability: float
    rank: int  # 1 = the most probable
    mark: Mark  # chosen: the translation goes on with it. given: so it does, but the visitor said so
    cut: bool  # top-k or top-p, or the search itself, forbids it

    @property
    def chosen(self) -> bool:
        """Whether the translation goes on with it."""
        return bool(self.mark)


def softmax(logits: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """logits (V) -> probabilities (V), float64."""
    scaled = logits.astype(np.float64) / temperature
    powers = np.exp(scaled - scaled.max())
    return powers / powers.sum()


def entropy_bits(logits: np.ndarray, temperature: float = 1.0) -> float:
    """How undecided the model is: 0 = certain, log2 V = has no idea."""
    p = softmax(logits, temperature)
    return float(-np.sum(p * np.log2(np.where(p > 0, p, 1.0)))) + 0.0


def offers(
    logits: np.ndarray,
    chosen: int,
    piece: Callable[[int], str],
    *,
    temperature: float = 1.0,
    count: int = 10,
    mark: Mark = "chosen",
    allowed: np.ndarray | None = None,
) -> list[Offer]:
    """The `count` most probable pieces, best first, and the chosen one after them if it is not among them.

    Args:
        logits: (V) of one step.
        piece: how an id is written.
        mark: of the chosen piece.
        allowed: (V) boolean, what may be chosen at all; None = everything.
    """
    probabilities = softmax(logits, temperature)  # (V)
    order = np.argsort(-logits, kind="stable")  # (V)
    shown = [int(id) for id in order[:count]]
    if chosen not in shown:
        shown.append(chosen)
    return [
        Offer(
            id,
            piece(id),
            float(logits[id]),
            float(probabilities[id]),
            1 + int((logits > logits[id]).sum()),
            mark if id == chosen else "",
            allowed is not None and not allowed[id],
        )
        for id in shown
    ]


def distribution_bars(found: list[Offer], vocabulary: int, *, title: str, dark: bool = False) -> Figure:
    """A bar a piece, 0 to 1; the last bar is everything else together."""
    rest = max(1.0 - sum(offer.probability for offer in found), 0.0)
    color = role_color("decoder", dark)
    names = [*ticks(tuple(offer.piece for offer in found)), f"<i>{vocabulary - len(found):,} others</i>"]
    labels = [_label(offer) for offer in found] + [probability_text(rest)]
    bars = {
        "type": "bar",
        "x": np.array([*(offer.probability for offer in found), rest]),
        "y": np.arange(len(found) + 1),
        "orientation": "h",
        "marker": {
            "color": [color if offer.chosen else "rgba(128, 136, 150, 0.75)" for offer in found] + [FAINT],
            "pattern": {"shape": ["/" if offer.cut else "" for offer in found] + ["."], "fillmode": "overlay"},
        },
        "width": 0.72,
        "text": labels,
        "textposition": "outside",
        "constraintext": "none",
        "textfont": {"size": 14, "color": ink(dark)},
        "cliponaxis": False,
        "customdata": [_hover(offer) for offer in found] + [f"all other pieces together: {rest:.4f}"],
        "hovertemplate": "%{customdata}<extra></extra>",
        "showlegend": False,
    }
    more = {
        "bargap": 0.2,
        "xaxis": plain_axis("probability", dark, [0, 1.42], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".0%"),
        "yaxis": plain_axis("", dark, [len(names) - 0.5, -0.5], tickmode="array", tickvals=list(range(len(names))))
        | {"ticktext": names, "tickfont": {"size": TICK_SIZE + 1, "color": ink(dark)}},
    }
    return Figure([bars], settled(title, 84 + BAR * len(names), top=40, bottom=44) | more)


def _label(offer: Offer) -> str:
    words = [probability_text(offer.probability)]
    if offer.mark:
        words.append(offer.mark)
        if offer.rank > 1:
            words.append(f"rank {offer.rank:,}")
    if offer.cut:
        words.append("left out")
    return " · ".join(words)


def _hover(offer: Offer) -> str:
    return (
        f"{plotly_text(visible(offer.piece))} (id {offer.id})<br>rank {offer.rank:,}"
        f"<br>logit {offer.logit:.4f}<br>probability {offer.probability:.6f}"
    )


def distribution_table(found: list[Offer]) -> Table:
    """The same as columns of a table."""
    return {
        "rank": [offer.rank for offer in found],
        "piece": [offer.piece for offer in found],
        "id": [offer.id for offer in found],
        "logit": [offer.logit for offer in found],
        "probability": [offer.probability for offer in found],
        "in the translation": [offer.mark for offer in found],
        "left out": ["left out" if offer.cut else "" for offer in found],
    }


def distribution_alt(found: list[Offer], title: str) -> str:
    """What the picture says, in words."""
    said = "; ".join(f"{visible(offer.piece)} {_label(offer)}" for offer in found)
    return f"{title}. {said}."

"""What h heads cost at equal d_model (paper, section 3.2.2): the same as one, because each is d_model / h wide.

    parameters       W^Q, W^K, W^V: D x hE, and hE each for biases;  W^O: hE x D, and D for biases
    multiplications  Q and the output: Q.D.hE each;  K and V: K.D.hE each;  q.k and weights.v: h.Q.K.E each

With E = D / h every hE is D, whatever h is. With E = D, not split, everything is h times as much (but for the biases of
W^O). Multiplications are multiply-adds: each is followed by an addition. All cells are computed, the mask comes later.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from app.figures.charts import Figure, axis, settled
from app.figures.theme import CHOSEN, INK, pair_color

CHOICES = (1, 2, 4, 8, 16)
SPLIT, WHOLE = "d_k = d_model / h", "d_k = d_model, not split"
What = Literal["parameters", "multiplications", "scores"]


@dataclass(frozen=True)
class Cost:
    """One attention with so many heads, for one sentence."""

    heads: int
    d_k: int
    parameters: int
    projections: int  # multiplications in W^Q, W^K, W^V and W^O
    products: int  # in q.k
    weighted: int  # in weights times v
    rows: int  # softmaxes
    scores: int  # comparisons

    @property
    def multiplications(self) -> int:
        return self.projections + self.products + self.weighted


def cost(heads: int, d_model: int, queries: int, keys: int, *, split: bool = True) -> Cost:
    """What an attention costs whose heads share d_model, or else are each as wide as d_model."""
    width = d_model // heads if split else d_model
    inner = heads * width  # hE
    return Cost(
        heads,
        width,
        parameters=3 * (d_model * inner + inner) + inner * d_model + d_model,
        projections=2 * queries * d_model * inner + 2 * keys * d_model * inner,
        products=heads * queries * keys * width,
        weighted=heads * queries * keys * width,
        rows=heads * queries,
        scores=heads * queries * keys,
    )


def choices(d_model: int, own: int) -> list[int]:
    """Numbers of heads to compare: 1, 2, 4, 8, 16, those that divide d_model, and the model's own."""
    return sorted({heads for heads in CHOICES if d_model % heads == 0} | {own})


def cost_bars(what: What, counts: Sequence[int], own: int, sizes: tuple[int, int, int], *, title: str) -> Figure:
    """Over h, what the heads cost when they share d_model, and when they do not; the model's own h is framed.

    Args:
        sizes: d_model, queries, keys.
    """
    both = [(WHOLE, False), (SPLIT, True)] if what != "scores" else [("h × Q × K", True)]  # the smaller in front
    bars: list[dict[str, Any]] = []
    for name, split in both:
        values = [getattr(cost(heads, *sizes, split=split), what) for heads in counts]
        flat = split and what != "scores"
        bars.append(
            {
                "type": "bar",
                "x": np.arange(len(counts), dtype=np.int16),
                "y": np.array(values, np.float64),
                "width": 0.4 if flat else 0.8,
                "name": f"{name}: {short(values[0])}, whatever h" if flat else name,
                "marker": {"color": pair_color(not split)},
                "text": None if flat else [short(value) for value in values],
                "textposition": "outside",
                "textangle": 0,
                "constraintext": "none",
                "cliponaxis": False,
                "textfont": {"size": 12, "color": INK},
                "hovertext": [f"{heads} {'head' if heads == 1 else 'heads'}" for heads in counts],
                "hovertemplate": "%{hovertext}<br>%{y:,}<extra>" + name + "</extra>",
            }
        )
    most = max(float(bar["y"].max()) for bar in bars)
    place = list(counts).index(own)
    layout = settled(title, 360, top=92) | {
        "barmode": "overlay",
        "showlegend": True,
        "xaxis": axis(
            "heads h", [-0.6, len(counts) - 0.4], showgrid=False, tickvals=list(range(len(counts))),
            ticktext=[f"<b>{heads}</b>" if heads == own else str(heads) for heads in counts],
        ),
        "yaxis": axis("", [0, 1.1 * most], tickformat="~s", nticks=6),
        "shapes": [
            {"type": "rect", "x0": place - 0.48, "x1": place + 0.48, "y0": 0, "y1": 1, "yref": "paper"}
            | {"line": {"color": CHOSEN, "width": 3}}
        ],
    }  # fmt: skip
    layout["legend"] |= {"x": 0, "xanchor": "left", "y": 1.01}
    return Figure(bars, layout)


def cost_text(counts: Sequence[int], own: int, sizes: tuple[int, int, int]) -> dict[str, list[str]]:
    """A row a number of heads, with commas, as Markdown; the model's own is bold."""
    columns = cost_table(counts, sizes)
    names = [f"**{heads}**" if heads == own else str(heads) for heads in counts]
    left_out = ("h", "not split: parameters")
    shown = {name: column for name, column in columns.items() if name not in left_out}
    return {"h": names} | {name: [f"{number:,}" for number in column] for name, column in shown.items()}


def cost_table(counts: Sequence[int], sizes: tuple[int, int, int]) -> dict[str, list[int]]:
    """A row a number of heads, as numbers."""
    split = [cost(heads, *sizes) for heads in counts]
    whole = [cost(heads, *sizes, split=False) for heads in counts]
    return {
        "h": list(counts),
        "d_k": [found.d_k for found in split],
        "parameters": [found.parameters for found in split],
        "projections": [found.projections for found in split],
        "q · k": [found.products for found in split],
        "weights · v": [found.weighted for found in split],
        "multiplications": [found.multiplications for found in split],
        "softmax rows": [found.rows for found in split],
        "scores": [found.scores for found in split],
        "not split: parameters": [found.parameters for found in whole],
        "not split: multiplications": [found.multiplications for found in whole],
    }


def short(value: float) -> str:
    """A count above a bar: 512, 1.2k, 263k, 3.4M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}" if value < 999.5 * size else f"{value / size:.0f}{letter}"
    return f"{value:.0f}"

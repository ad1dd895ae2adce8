"""The logits of one step: a score for every token of the vocabulary, before the softmax (paper, section 3.4)."""

import numpy as np

from app.figures.axes import ticks
from app.figures.charts import Figure, axis, settled
from app.figures.distribution import Offer
from app.figures.theme import INK, TICK_SIZE, fixed, role_color


def logit_bars(found: list[Offer], *, title: str) -> Figure:
    """A bar per token, the highest score on top."""
    values = [offer.logit for offer in found]
    bars = {
        "type": "bar",
        "x": np.array(values),
        "y": np.arange(len(found)),
        "orientation": "h",
        "marker": {
            "color": [role_color("decoder") if offer.chosen else "rgba(128, 136, 150, 0.75)" for offer in found]
        },
        "width": 0.72,
        "text": [f"{fixed(offer.logit, 2)}{f' · {offer.mark}' if offer.mark else ''}" for offer in found],
        "textposition": "outside",
        "textfont": {"size": 14, "color": INK},
        "cliponaxis": False,
        "customdata": [offer.id for offer in found],
        "hovertemplate": "%{y}<br>id %{customdata}<br>logit %{x:.4f}<extra></extra>",
        "showlegend": False,
    }
    reach = max(1.0, *(abs(value) for value in values)) * 1.25
    layout = settled(title, 84 + 31 * len(found), top=40, bottom=44) | {
        "xaxis": axis("logit", [min(0.0, *values) * 1.25, reach]),
        "yaxis": axis(
            "",
            [len(found) - 0.5, -0.5],
            tickvals=list(range(len(found))),
            ticktext=ticks(tuple(offer.piece for offer in found)),
            tickfont={"size": TICK_SIZE + 1, "color": INK},
            showgrid=False,
        ),
    }
    return Figure([bars], layout)

"""The logit lens as pictures: how the token that was predicted in the end ranks after each layer of the decoder.

Ranks span from 1 to V, so colours follow their logarithm: 1 - log(rank) / log(V), strongest where the rank is 1.
The last layer is on top, as in the paper's figure 1; the lowest row is what enters the first layer.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.figures.axes import TokenAxis, in_words, plotly_text, ticks
from app.figures.charts import Figure, chart_layout, plain_axis
from app.figures.panels import FigurePart, clickable, frame, heat, words
from app.figures.shares import Share
from app.figures.tables import Table
from app.figures.theme import (
    CELL_SIZE,
    INK,
    SMALL_TICK_SIZE,
    TICK_SIZE,
    role_color,
    text_on_weight,
    weight_scale,
)
from app.languages import _, pgettext, with_label
from app.languages.numbers import formatted

NUMBERS_UP_TO = 26  # steps; beyond, texts would overlap
GRID_UP_TO = 40  # steps; beyond, lines between the cells would cover most of their area
NAMES_UP_TO = 50  # steps; beyond, every second one is named, or every third
WIDEST = 760  # px of all cells on a small screen
LETTER = 8  # px
ROW = 36  # px
TOP, BOTTOM = 130, 60  # px


@dataclass(frozen=True)
class LensResult:
    """The results of the lens. Row 0 belongs to the vectors that enter layer 1."""

    ranks: np.ndarray  # (N + 1, T) of the predicted token, 1 to V
    probabilities: np.ndarray  # (N + 1, T) of the predicted token
    tops: Sequence[Sequence[str]]  # (N + 1, T) the most probable token
    top_probabilities: np.ndarray  # (N + 1, T)
    steps: TokenAxis  # the T rows of the decoder
    vocabulary: int  # V

    @property
    def layers(self) -> list[str]:
        """One name per row."""
        return [_("input"), *(_("layer {layer}", layer=i) for i in range(1, len(self.ranks)))]

    def hover(self, row: int, step: int) -> str:
        """One cell in words, for hover."""
        predicted, top = (plotly_text(in_words(token)) for token in (self.steps.predicts[step], self.tops[row][step]))
        return _(
            "{layer}, step {step}<br>the translation continues with {predicted}, here rank {rank:,} of {vocabulary:,}, "
            "probability {probability:.6f}<br>most probable here: {top}, {top_probability:.6f}",
            layer=self.layers[row],
            step=step + 1,
            predicted=predicted,
            rank=int(self.ranks[row, step]),
            vocabulary=self.vocabulary,
            probability=Share(self.probabilities[row, step]),
            top=top,
            top_probability=Share(self.top_probabilities[row, step]),
        )


def closeness(ranks: np.ndarray, vocabulary: int) -> np.ndarray:
    """Ranks 1 to V -> 1 to 0, along their logarithm."""
    return (1.0 - np.log(ranks) / math.log(max(vocabulary, 2))).astype(np.float32)


def rank_text(rank: int) -> str:
    """1, 24, 3k: at most four letters, up to a million."""
    return str(rank) if rank < 1000 else formatted(rank / 1000, ".0f") + "k"


def lens_heatmap(seen: LensResult, *, step: int, title: str, show_tokens: bool = False) -> Figure:
    """Layers by steps, coloured by the rank of the predicted token.

    Args:
        step: the chosen one, framed.
        show_tokens: write the most probable token into the cells, not the rank.
    """
    rows, count = seen.ranks.shape
    drawn = closeness(seen.ranks, seen.vocabulary)  # (N + 1, T)
    bar = _color_bar(seen.vocabulary)
    gap = int(count <= GRID_UP_TO)
    cells = heat(drawn, weight_scale(), 0, 1, showscale=True, colorbar=bar, xgap=gap)
    data = [clickable(cells, lambda: [seen.hover(i, t) for i in range(rows) for t in range(count)], "")]
    if count <= NUMBERS_UP_TO:
        data.append(_texts(seen, drawn, show_tokens))
    size = TICK_SIZE if count <= NUMBERS_UP_TO else SMALL_TICK_SIZE
    every = -(-count // NAMES_UP_TO)
    named = {
        "tickvals": list(range(0, count, every)),
        "ticktext": ticks(seen.steps.predicts)[::every],
        "automargin": False,
    }
    layout = chart_layout(title, TOP + BOTTOM + ROW * rows, top=TOP, bottom=BOTTOM) | {
        "shapes": [frame(step - 0.5, step + 0.5, -0.5, rows - 0.5, 3)],
        "xaxis": plain_axis(_("predicts"), [-0.5, count - 0.5], side="top", tickmode="array", tickangle=-45)
        | {**named, "tickfont": {"size": size, "color": role_color("decoder")}},
        "yaxis": _layer_axis(seen),
    }
    return Figure(data, layout)


def _texts(seen: LensResult, drawn: np.ndarray, show_tokens: bool) -> FigurePart:
    cells = list(np.ndindex(drawn.shape))
    if show_tokens:
        texts = ticks(tuple(_short(seen.tops[i][t], _letters(seen)) for i, t in cells))
    else:
        texts = [rank_text(int(seen.ranks[cell])) for cell in cells]
    x, y = np.array([t for i, t in cells], dtype=np.int16), np.array([i for i, t in cells], dtype=np.int16)
    inks = [text_on_weight(float(drawn[cell])) for cell in cells]
    return words(x, y, texts, inks, CELL_SIZE - 2 * show_tokens)


def _color_bar(vocabulary: int) -> dict[str, object]:
    powers = [10**n for n in range(int(math.log10(vocabulary)) + 1)]
    return {
        "orientation": "h", "thickness": 8, "len": 260, "lenmode": "pixels", "x": 0, "xanchor": "left", "xpad": 0,
        "y": 0, "yanchor": "top", "ypad": 12, "outlinewidth": 0, "tickvals": closeness(np.array(powers), vocabulary),
        "ticktext": [_("rank {rank}", rank=1), *(formatted(n, ",") for n in powers[1:])],
    }  # fmt: skip


def _layer_axis(seen: LensResult) -> dict[str, object]:
    rows = len(seen.ranks)
    ticked = {"tickvals": list(range(rows)), "ticktext": seen.layers, "tickfont": {"size": 14, "color": INK}}
    return plain_axis("", [-0.5, rows - 0.5], tickmode="array") | ticked


def _short(token: str, letters: int = 9) -> str:
    """The token, cut to `letters` letters."""
    token = in_words(token)
    return token if len(token) <= letters else token[: letters - 1] + "…"


def _letters(seen: LensResult) -> int:
    """How many letters of a token fit in a cell."""
    return max(5, min(9, WIDEST // (LETTER * seen.ranks.shape[1])))


def lens_width(seen: LensResult, show_tokens: bool = False) -> int:
    """The width in px below which the chart scrolls sideways: so that texts fit into their cells."""
    count = seen.ranks.shape[1]
    cell = 7 if count > NUMBERS_UP_TO else LETTER * _letters(seen) if show_tokens else 28
    return 90 + count * cell


def lens_table(seen: LensResult) -> Table:
    """All cells as columns of a table, step by step from the input upwards."""
    cells = [(i, t) for t in range(seen.ranks.shape[1]) for i in range(len(seen.ranks))]
    return {
        _("step"): [t + 1 for i, t in cells],
        _("predicts"): [seen.steps.predicts[t] for i, t in cells],
        pgettext("a layer", "after"): [seen.layers[i] for i, t in cells],
        _("rank"): [int(seen.ranks[cell]) for cell in cells],
        _("probability"): [float(seen.probabilities[cell]) for cell in cells],
        _("most probable"): [seen.tops[i][t] for i, t in cells],
        _("its probability"): [float(seen.top_probabilities[cell]) for cell in cells],
    }


def lens_alt(seen: LensResult, title: str) -> str:
    """For each step, from which layer on the predicted token is the most probable."""
    entries = []
    for t, name in enumerate(seen.steps.names[:40]):
        behind = np.nonzero(seen.ranks[:, t] != 1)[0]
        first = int(behind[-1]) + 1 if len(behind) else 0
        if first == len(seen.ranks):
            where = _("is not the most probable")
        else:
            where = _("leads from {layer} on", layer=seen.layers[first])
        entries.append(with_label(name, where))
    return f"{title}. " + "; ".join(entries) + "."

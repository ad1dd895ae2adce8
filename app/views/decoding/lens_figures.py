"""The logit lens as pictures: how the token that was predicted in the end ranks after each layer of the decoder.

Ranks span from 1 to V, so colours follow their logarithm: 1 - log(rank) / log(V), strongest where the token leads.
The last layer is on top, as in the paper's figure 1; the lowest row is what enters the first layer.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.figures.axes import TokenAxis, plotly_text, ticks, visible
from app.figures.charts import FAINT, Figure, plain_axis, settled
from app.figures.panels import Piece, clickable, frame, heat, words
from app.figures.tables import Table
from app.figures.theme import (
    CELL_SIZE,
    INK,
    SMALL_TICK_SIZE,
    TICK_SIZE,
    probability_text,
    role_color,
    text_on_weight,
    weight_scale,
)

NUMBERS_UP_TO = 26  # steps; beyond, texts would overlap
GRID_UP_TO = 40  # steps; beyond, lines between the cells would take most of them
NAMES_UP_TO = 50  # steps; beyond, every second one is named, or every third
WIDEST = 760  # px of all cells on a small screen
LETTER = 8  # px
ROW = 36  # px
TOP, BOTTOM = 130, 60  # px


@dataclass(frozen=True)
class Seen:
    """What the lens saw, row 0 being what enters layer 1."""

    ranks: np.ndarray  # (N + 1, T) of the predicted token, 1 to V
    probabilities: np.ndarray  # (N + 1, T) of the predicted token
    tops: Sequence[Sequence[str]]  # (N + 1, T) the most probable token
    top_probabilities: np.ndarray  # (N + 1, T)
    steps: TokenAxis  # the T rows of the decoder
    vocabulary: int  # V

    @property
    def layers(self) -> list[str]:
        """A name a row."""
        return ["input", *(f"layer {i}" for i in range(1, len(self.ranks)))]

    def told(self, row: int, step: int) -> str:
        """One cell in words, for hover."""
        predicted, top = (plotly_text(visible(piece)) for piece in (self.steps.predicts[step], self.tops[row][step]))
        return (
            f"{self.layers[row]}, step {step + 1}"
            f"<br>the translation goes on with {predicted}, here rank {int(self.ranks[row, step]):,}"
            f" of {self.vocabulary:,},"
            f" probability {float(self.probabilities[row, step]):.6f}"
            f"<br>most probable here: {top}, {float(self.top_probabilities[row, step]):.6f}"
        )


def closeness(ranks: np.ndarray, vocabulary: int) -> np.ndarray:
    """Ranks 1 to V -> 1 to 0, along their logarithm."""
    return (1.0 - np.log(ranks) / math.log(max(vocabulary, 2))).astype(np.float32)


def rank_text(rank: int) -> str:
    """1, 24, 3k: at most four letters, up to a million."""
    return str(rank) if rank < 1000 else f"{rank / 1000:.0f}k"


def lens_wall(seen: Seen, *, step: int, title: str, show_pieces: bool = False) -> Figure:
    """Layers by steps, coloured by the rank of the predicted token.

    Args:
        step: the chosen one, framed.
        show_pieces: write the most probable token into the cells, not the rank.
    """
    rows, count = seen.ranks.shape
    drawn = closeness(seen.ranks, seen.vocabulary)  # (N + 1, T)
    bar = _color_bar(seen.vocabulary)
    gap = int(count <= GRID_UP_TO)
    cells = heat(drawn, weight_scale(), 0, 1, showscale=True, colorbar=bar, xgap=gap)
    data = [clickable(cells, lambda: [seen.told(i, t) for i in range(rows) for t in range(count)], "")]
    if count <= NUMBERS_UP_TO:
        data.append(_texts(seen, drawn, show_pieces))
    size = TICK_SIZE if count <= NUMBERS_UP_TO else SMALL_TICK_SIZE
    every = -(-count // NAMES_UP_TO)
    named = {
        "tickvals": list(range(0, count, every)),
        "ticktext": ticks(seen.steps.predicts)[::every],
        "automargin": False,
    }
    layout = settled(title, TOP + BOTTOM + ROW * rows, top=TOP, bottom=BOTTOM) | {
        "shapes": [frame(step - 0.5, step + 0.5, -0.5, rows - 0.5, 3)],
        "xaxis": plain_axis("predicts", [-0.5, count - 0.5], side="top", tickmode="array", tickangle=-45)
        | {**named, "tickfont": {"size": size, "color": role_color("decoder")}},
        "yaxis": _layer_axis(seen),
    }
    return Figure(data, layout)


def _texts(seen: Seen, drawn: np.ndarray, show_pieces: bool) -> Piece:
    cells = list(np.ndindex(drawn.shape))
    if show_pieces:
        texts = ticks(tuple(_short(seen.tops[i][t], _letters(seen)) for i, t in cells))
    else:
        texts = [rank_text(int(seen.ranks[cell])) for cell in cells]
    x, y = np.array([t for _, t in cells], dtype=np.int16), np.array([i for i, _ in cells], dtype=np.int16)
    inks = [text_on_weight(float(drawn[cell])) for cell in cells]
    return words(x, y, texts, inks, CELL_SIZE - 2 * show_pieces)


def _color_bar(vocabulary: int) -> dict[str, object]:
    powers = [10**n for n in range(int(math.log10(vocabulary)) + 1)]
    return {
        "orientation": "h", "thickness": 8, "len": 260, "lenmode": "pixels", "x": 0, "xanchor": "left", "xpad": 0,
        "y": 0, "yanchor": "top", "ypad": 12, "outlinewidth": 0, "tickvals": closeness(np.array(powers), vocabulary),
        "ticktext": ["rank 1", *(f"{n:,}" for n in powers[1:])],
    }  # fmt: skip


def _layer_axis(seen: Seen) -> dict[str, object]:
    rows = len(seen.ranks)
    ticked = {"tickvals": list(range(rows)), "ticktext": seen.layers, "tickfont": {"size": 14, "color": INK}}
    return plain_axis("", [-0.5, rows - 0.5], tickmode="array") | ticked


def _short(piece: str, letters: int = 9) -> str:
    """The token cut to so many letters; the mark of a word's beginning is left out where it would cost one."""
    piece = visible(piece)
    if len(piece) > letters:
        piece = piece.removeprefix("▁") or piece
    return piece if len(piece) <= letters else piece[: letters - 1] + "…"


def _letters(seen: Seen) -> int:
    """How many letters of a token stand in a cell."""
    return max(5, min(9, WIDEST // (LETTER * seen.ranks.shape[1])))


def lens_width(seen: Seen, show_pieces: bool = False) -> int:
    """The width in px below which the wall scrolls sideways: so that texts fit into their cells."""
    count = seen.ranks.shape[1]
    cell = 7 if count > NUMBERS_UP_TO else LETTER * _letters(seen) if show_pieces else 28
    return 90 + count * cell


def lens_bars(seen: Seen, step: int, *, title: str) -> Figure:
    """One step, layer by layer: the probability of the predicted token, and the token that leads where it does not."""
    rows = len(seen.ranks)
    ranks, own, best = seen.ranks[:, step], seen.probabilities[:, step], seen.top_probabilities[:, step]  # (N + 1)
    tops = ticks(tuple(_short(row[step]) for row in seen.tops))
    leads = ranks == 1  # (N + 1)
    others = [f"{top} {probability_text(float(p))}" for top, p in zip(tops, best, strict=True)]
    others = ["" if lead else text for lead, text in zip(leads, others, strict=True)]
    mine = [f"rank {int(rank):,}, {probability_text(float(p))}" for rank, p in zip(ranks, own, strict=True)]
    both = (
        ("most probable token there", np.where(leads, 0.0, best), FAINT, others, 0.2),
        ("the translation's token", own.astype(np.float64), role_color("decoder"), mine, -0.2),
    )
    data = [
        {
            "type": "bar",
            "x": values,
            "y": np.arange(rows) + shift,
            "width": 0.36,
            "orientation": "h",
            "name": name,
            "marker": {"color": color},
            "text": texts,
            "textposition": "outside",
            "constraintext": "none",
            "textfont": {"size": 13, "color": INK},
            "customdata": [seen.told(i, step) for i in range(rows)],
            "hovertemplate": "%{customdata}<extra></extra>",
            "cliponaxis": False,
        }
        for name, values, color, texts, shift in both
    ]
    layout = settled(title, 70 + BOTTOM + ROW * rows, top=70, bottom=BOTTOM) | {
        "xaxis": plain_axis("probability", [0, 1.4], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".0%"),
        "yaxis": _layer_axis(seen),
    }
    layout["legend"] |= {"x": 0, "xanchor": "left", "y": 1.02}
    return Figure(data, layout)


def lens_table(seen: Seen, step: int | None = None) -> Table:
    """All cells, or those of one step, as columns of a table, step by step from the input upwards."""
    steps = range(seen.ranks.shape[1]) if step is None else [step]
    cells = [(i, t) for t in steps for i in range(len(seen.ranks))]
    return {
        "step": [t + 1 for _, t in cells],
        "predicts": [seen.steps.predicts[t] for _, t in cells],
        "after": [seen.layers[i] for i, _ in cells],
        "rank": [int(seen.ranks[cell]) for cell in cells],
        "probability": [float(seen.probabilities[cell]) for cell in cells],
        "most probable": [seen.tops[i][t] for i, t in cells],
        "its probability": [float(seen.top_probabilities[cell]) for cell in cells],
    }


def lens_alt(seen: Seen, title: str) -> str:
    """For each step, from which layer on the predicted token is the most probable."""
    said = []
    for t, name in enumerate(seen.steps.names[:40]):
        behind = np.nonzero(seen.ranks[:, t] != 1)[0]
        first = int(behind[-1]) + 1 if len(behind) else 0
        where = "is not the most probable" if first == len(seen.ranks) else f"leads from {seen.layers[first]} on"
        said.append(f"{name}: {where}")
    return f"{title}. " + "; ".join(said) + "."

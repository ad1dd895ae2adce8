"""Compares a row of the decoder in the pass over the whole translation, with the causal mask, and in the decoding step
that computes only this row (sections 3.1 and 3.2.3).

Keys after the row are masked in the pass and have a weight of 0. The step does not have these keys: their cells are
empty.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from app.figures.attention_stages import plain, short
from app.figures.axes import TokenAxis, ticks
from app.figures.charts import Figure, chart_layout
from app.figures.mask_matrix import EDIT_LETTER, LETTERS
from app.figures.panels import BARE, frame, heat, tick_height, words
from app.figures.tensor import label_width
from app.figures.theme import INK, MASKED, mask_color, role_color, text_on_weight, weight_scale
from app.languages import _

NUMBERS_UP_TO = 26  # columns
ROW = 40  # px


def lines(query: int) -> tuple[str, ...]:
    """The labels of the four lines; `query` from 0."""
    return (
        _("whole pass, row {row}: mask", row=query + 1),
        _("step {step} with the cache: mask", step=query + 1),
        _("whole pass, row {row}: weights", row=query + 1),
        _("step {step} with the cache: weights", step=query + 1),
    )


@dataclass(frozen=True)
class Row:
    """One row of one head: which keys it may attend to (True), and its weights."""

    mask: np.ndarray
    weights: np.ndarray


def steps_figure(whole: Row, step: Row, keys: TokenAxis, query: int, *, window: int | None, title: str) -> Figure:
    """Mask and weights of row `query`, from 0: of the whole pass (K,) and of the step (query + 1,).

    Args:
        window: r of the attention window, if there is one.
    """
    count = len(keys)
    masks = np.full((4, count), np.nan, dtype=np.float32)
    distance = query - np.arange(count)
    # 0 = may attend, 1 = forbidden by the causal mask, 2 = by the attention window, 3 = by an edit
    forbidden = np.where(distance < 0, 1, np.where(distance > (count if window is None else window), 2, 3))
    masks[0] = np.where(whole.mask, 0, forbidden)
    masks[1, : len(step.mask)] = np.where(step.mask, 0, forbidden[: len(step.mask)])
    cells = np.full((4, count), np.nan, dtype=np.float32)
    cells[2], cells[3] = np.where(whole.mask, whole.weights, np.nan), np.nan
    cells[3, : len(step.mask)] = np.where(step.mask, step.weights, np.nan)
    colors = [mask_color("allowed"), mask_color("causal"), mask_color("window"), mask_color("edit")]
    data = [
        heat(masks, [(edge / 4, color) for i, color in enumerate(colors) for edge in (i, i + 1)], -0.5, 3.5),
        heat(cells, weight_scale(), 0, 1),
        heat(_hidden(whole.mask, step.mask), [(0, MASKED), (1, MASKED)], 0, 1),
    ]
    if count <= NUMBERS_UP_TO:
        pairs = [(k, y) for y in range(4) for k in range(count)]
        texts, small, inks = [], [], []
        for k, y in pairs:
            value = (None, None, whole.weights, step.weights)[y]
            number = None if value is None or k >= len(value) else float(value[k])
            letter = {1: LETTERS["causal"], 2: LETTERS["window"], 3: EDIT_LETTER}.get(masks[y, k], "")
            texts.append(letter if number is None else plain(number))
            small.append(letter if number is None else short(number))
            inks.append(INK if np.isnan(cells[y, k]) else text_on_weight(float(cells[y, k])))
        room = {"columns": count, "beside": label_width(lines(query), 13) + 20, "short": small}  # see chart.js
        at = np.array(pairs, dtype=np.int16)
        data.append(words(at[:, 0], at[:, 1], texts, inks, 15, meta=room))
    size = 13 if count <= 40 else 9
    top = 66 + tick_height(keys, size)
    layout = chart_layout(title, top + 10 + 4 * ROW, top=top, bottom=10) | {
        "xaxis": BARE
        | {
            "side": "top",
            "tickangle": -45,
            "tickvals": list(range(count)),
            "ticktext": ticks(keys.tokens),
            "tickfont": {"size": size, "color": role_color(keys.role)},
            "range": [-0.5, count - 0.5],
        },
        "yaxis": BARE
        | {
            "tickvals": [0, 1, 2, 3],
            "ticktext": list(lines(query)),
            "tickfont": {"size": 13, "color": INK},
            "range": [3.5, -0.5],
            "automargin": True,
        },
        "shapes": [frame(-0.5, query + 0.5, at - 0.5, at + 0.5, 2) for at in (1, 3)],
    }
    return Figure(data, layout)


def _hidden(mask: np.ndarray, step_mask: np.ndarray) -> np.ndarray:
    """(4, K), in the two lines of weights: 1 where the mask makes the weight 0; else NaN."""
    found = np.full((4, len(mask)), np.nan, dtype=np.float32)
    found[2, ~mask] = 1
    found[3, : len(step_mask)] = np.where(step_mask, np.nan, 1)
    return found


def steps_table(whole: Row, step: Row, keys: TokenAxis) -> Mapping[str, list[str] | np.ndarray]:
    """The same numbers, one line per key; what the cache does not have is empty."""
    missing = [""] * (len(keys) - len(step.mask))
    return {
        _("key"): list(keys.names),
        _("whole pass, may attend"): whole.mask,
        _("step, may attend"): [*map(str, step.mask), *missing],
        _("whole pass, weight"): whole.weights,
        _("step, weight"): [*map(str, step.weights), *missing],
    }


def largest_difference(whole: Row, step: Row) -> float:
    """The largest difference between the weights of both. Keys that the step does not have count as a weight of 0."""
    padded = np.zeros(len(whole.weights))
    padded[: len(step.weights)] = step.weights
    return float(np.abs(whole.weights - padded).max())

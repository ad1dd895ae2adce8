"""One row of the decoder twice: in the pass over the whole translation, with the causal mask, and as one decoding step,
with a cache that ends where the row does (sections 3.1 and 3.2.3).

What the mask hides in the one has a weight of 0 there, and is not there at all in the other: those cells are empty.
"""

from collections.abc import Mapping

import numpy as np

from app.figures.attention_stages import plain, short
from app.figures.axes import TokenAxis, ticks
from app.figures.charts import Figure, settled
from app.figures.mask_matrix import LETTERS
from app.figures.panels import BARE, frame, heat, tick_height, words
from app.figures.tensor import label_width
from app.figures.theme import INK, MASKED, mask_color, role_color, text_on_weight, weight_scale

NUMBERS_UP_TO = 26  # columns
ROW = 40  # px


def lines(query: int) -> tuple[str, ...]:
    """What stands before the four lines; `query` from 0."""
    return (
        f"whole pass, row {query + 1}: mask",
        f"step {query + 1} with the cache: mask",
        f"whole pass, row {query + 1}: weights",
        f"step {query + 1} with the cache: weights",
    )


def steps_figure(
    mask: np.ndarray,
    weights: np.ndarray,
    step_mask: np.ndarray,
    step_weights: np.ndarray,
    keys: TokenAxis,
    query: int,
    *,
    title: str,
) -> Figure:
    """Mask and weights of one row, of the whole pass (K,) and of the step (t + 1,).

    Args:
        mask, step_mask: True = may attend.
        query: the row, from 0.
    """
    count = len(keys)
    masks = np.full((4, count), np.nan, dtype=np.float32)
    future = np.arange(count) > query
    masks[0] = np.where(mask, 0, np.where(future, 1, 2))  # may attend, hidden by the causal mask, or by the window
    masks[1, : len(step_mask)] = np.where(step_mask, 0, 2)
    cells = np.full((4, count), np.nan, dtype=np.float32)
    cells[2], cells[3] = np.where(mask, weights, np.nan), np.nan
    cells[3, : len(step_mask)] = np.where(step_mask, step_weights, np.nan)
    colors = [mask_color("allowed"), mask_color("causal"), mask_color("window")]
    data = [
        heat(masks, [(edge / 3, color) for i, color in enumerate(colors) for edge in (i, i + 1)], -0.5, 2.5),
        heat(cells, weight_scale(), 0, 1),
        heat(_hidden(mask, step_mask), [(0, MASKED), (1, MASKED)], 0, 1),
    ]
    if count <= NUMBERS_UP_TO:
        pairs = [(k, y) for y in range(4) for k in range(count)]
        texts, small, inks = [], [], []
        for k, y in pairs:
            value = (None, None, weights, step_weights)[y]
            number = None if value is None or k >= len(value) else float(value[k])
            letter = {1: LETTERS["causal"], 2: LETTERS["window"]}.get(masks[y, k], "")
            texts.append(letter if number is None else plain(number))
            small.append(letter if number is None else short(number))
            inks.append(INK if np.isnan(cells[y, k]) else text_on_weight(float(cells[y, k])))
        room = {"columns": count, "beside": label_width(lines(query), 13) + 20, "short": small}  # see chart.js
        at = np.array(pairs, dtype=np.int16)
        data.append(words(at[:, 0], at[:, 1], texts, inks, 15, meta=room))
    size = 13 if count <= 40 else 9
    top = 66 + tick_height(keys, size)
    layout = settled(title, top + 10 + 4 * ROW, top=top, bottom=10) | {
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
    """(4, K): 1 where there is a weight that the mask has made 0, else NaN."""
    found = np.full((4, len(mask)), np.nan, dtype=np.float32)
    found[2, ~mask] = 1
    found[3, : len(step_mask)] = np.where(step_mask, np.nan, 1)
    return found


def steps_table(
    mask: np.ndarray, weights: np.ndarray, step_mask: np.ndarray, step_weights: np.ndarray, keys: TokenAxis
) -> Mapping[str, list[str] | np.ndarray]:
    """The same numbers, a line a key; what the cache does not have is empty."""
    missing = [""] * (len(keys) - len(step_mask))
    return {
        "key": list(keys.names),
        "whole pass, may attend": mask,
        "step, may attend": [*map(str, step_mask), *missing],
        "whole pass, weight": weights,
        "step, weight": [*map(str, step_weights), *missing],
    }


def apart(weights: np.ndarray, step_weights: np.ndarray) -> float:
    """The largest difference between the row (K,) and the step (t + 1,), whose missing keys count as a weight of 0."""
    there = np.zeros(len(weights))
    there[: len(step_weights)] = step_weights
    return float(np.abs(weights - there).max())

"""The tokens that the decoder could have written instead, for the canvas."""

from collections.abc import Callable, Sequence

import numpy as np

from app.figures.canvas_message import RunnerUp
from app.figures.distribution import offers
from transformer.config import EOS

RUNNERS_UP = 5  # of each step


def runners_up(logits: np.ndarray, ids: Sequence[int], token_of: Callable[[int], str]) -> list[list[RunnerUp]]:
    """For each step the most probable tokens besides the written one, best first. </s> is not one of the first step,
    because the translation would be empty.

    Args:
        logits: (T, V). ids: (T) of the written tokens. token_of: the text of an id.
    """
    found = []
    for step, (row, id) in enumerate(zip(logits, ids, strict=True)):
        least = EOS if step else EOS + 1
        others = [
            each for each in offers(row, id, token_of, count=RUNNERS_UP + 4) if each.id >= least and not each.chosen
        ]
        found.append([RunnerUp(each.id, each.token, each.probability) for each in others[:RUNNERS_UP]])
    return found

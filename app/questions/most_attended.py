"""Which token gets the most attention in this row of this head?

Margin: the largest weight of the row minus the second largest, at least 0.15. The right answer is the largest.
"""

from random import Random

import numpy as np

from app.figures.shares import Share
from app.languages import _
from app.questions.question import MOST_ANSWERS, Place, Question, token_name
from app.questions.weight_rows import WeightRow, is_word, weight_rows
from app.stage.scene import Scene

LEAST_MARGIN = 0.15
LEAST_ANSWERS = 3  # in a row with two keys there is little to predict


def most_attended(scene: Scene, place: Place, draw: Random) -> Question | None:
    """A row whose strongest key is a word is preferred to one whose strongest key is a sign such as `</s>`."""
    other = None
    for found in weight_rows(scene, place, draw):
        if len(found.allowed_keys) < LEAST_ANSWERS or margin(found) < LEAST_MARGIN:
            continue
        if is_word(found.keys.tokens[int(found.weights.argmax())]):
            return _question(found, draw)
        other = other or found
    return _question(other, draw) if other else None


def margin(found: WeightRow) -> float:
    """The largest weight minus the second largest."""
    second, first = np.sort(found.weights)[-2:]
    return float(first - second)


def _question(found: WeightRow, draw: Random) -> Question:
    first, second = map(int, np.argsort(-found.weights, kind="stable")[:2])
    others = [key for key in found.allowed_keys if key not in (first, second)]
    drawn = draw.sample(others, min(len(others), MOST_ANSWERS - 2))
    asked = sorted({first, second, *drawn} & {first, *found.allowed_keys})
    keys = found.keys
    asked_for = (
        _("{who} gives weights to the tokens. Which token of the source gets the largest?", who=found.row_name)
        if found.kind == "cross"
        else _("{who} gives weights to the tokens. Which token gets the largest?", who=found.row_name)
    )
    return Question(
        "most-attended",
        f"{found.head_name}. {asked_for}",
        tuple(token_name(keys, key) for key in asked),
        asked.index(first),
        _(
            "{first} gets a weight of {weight:.2f}; the next is {second} with {smaller:.2f}. The row sums to 1.",
            first=token_name(keys, first),
            weight=Share(found.weights[first]),
            second=token_name(keys, second),
            smaller=Share(found.weights[second]),
        ),
        margin(found),
        found.place,
    )

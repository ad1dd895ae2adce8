"""Is this weight, or on the page Decoding this probability, larger or smaller than 0.5?

Margin: the distance of the number from 0.5, at least 0.1.
"""

from dataclasses import replace
from random import Random

import numpy as np

from app.figures.axes import in_words
from app.figures.shares import Share
from app.figures.softmax import softmax
from app.languages import _, gettext_noop, ngettext
from app.questions.question import Place, Question, candidates, token_name
from app.questions.weight_rows import WeightRow, weight_rows
from app.stage.scene import Scene
from app.stage.search_method import temperature_of

LEAST_MARGIN = 0.1
HALF = 0.5
ANSWERS = (gettext_noop("larger than 0.5"), gettext_noop("smaller than 0.5"))
DECODING = "decoding"  # the page that shows probabilities, not weights


def above_half(scene: Scene, place: Place, draw: Random) -> Question | None:
    """A question about the largest weight of a row; if the place has a key, about the weight of that key. Either answer
    is equally likely to be right if there are cases of both."""
    larger = draw.random() < HALF
    if place.page == DECODING:
        return _of_probability(scene, place, draw, larger)
    other = None
    for found in weight_rows(scene, place, draw):
        key = int(found.weights.argmax()) if place.key is None else place.key
        if (
            key not in found.allowed_keys
            or len(found.allowed_keys) < 2
            or abs(found.weights[key] - HALF) < LEAST_MARGIN
        ):
            continue
        if (found.weights[key] > HALF) == larger:
            return _of_weight(found, key)
        other = other or (found, key)
    return _of_weight(*other) if other else None


def _of_weight(found: WeightRow, key: int) -> Question:
    weight, name = float(found.weights[key]), token_name(found.keys, key)
    asked = _("{who} gives a weight to {token}. Is it larger or smaller than 0.5?", who=found.row_name, token=name)
    return Question(
        "above-half",
        f"{found.head_name}. {asked}",
        tuple(map(_, ANSWERS)),
        int(weight < HALF),
        ngettext(
            "The weight is {weight:.2f}. The row sums to 1, so the other {count:,} token gets {rest:.2f}.",
            "The weight is {weight:.2f}. The row sums to 1, so the other {count:,} tokens together get {rest:.2f}.",
            len(found.allowed_keys) - 1,
            weight=Share(weight),
            rest=Share(max(1 - weight, 0.0)),
        ),
        abs(weight - HALF),
        replace(found.place, page="hand", key=key),
    )


def _of_probability(scene: Scene, place: Place, draw: Random, larger: bool) -> Question | None:
    """A question about the probability of a token of the translation, in the step that predicts it. As in the pictures
    of the page, it is the probability at the temperature of the search."""
    logits, ids, predicts = scene.step_logits, scene.hypothesis.ids, scene.target.predicts
    temperature = temperature_of(scene)
    steps = candidates(len(ids), place.row)
    probabilities = [float(softmax(np.asarray(logits[step]), temperature=temperature)[ids[step]]) for step in steps]
    found = [(step, p) for step, p in zip(steps, probabilities, strict=True) if abs(p - HALF) >= LEAST_MARGIN]
    if not found:
        return None
    step, probability = draw.choice([case for case in found if (case[1] > HALF) == larger] or found)
    token = in_words(predicts[step])
    return Question(
        "above-half",
        _(
            "Step {step} of the decoder predicts “{token}”. Is its probability larger or smaller than 0.5?",
            step=step + 1,
            token=token,
        ),
        tuple(map(_, ANSWERS)),
        int(probability < HALF),
        _(
            "The probability of “{token}” is {probability:.2f}. All other tokens of the vocabulary together get "
            "{rest:.2f}.",
            token=token,
            probability=Share(probability),
            rest=Share(1 - probability),
        ),
        abs(probability - HALF),
        Place(DECODING, row=step),
    )

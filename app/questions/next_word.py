"""Which token comes next at this step of the decoder? The five that the model finds most probable are given.

Margin: the probability of the token that comes next minus the largest of any other, at least 0.2. So no question is
about a step in which the search has not taken the most probable token.
"""

from random import Random

import numpy as np

from app.figures.axes import in_words
from app.figures.shares import probability_text
from app.figures.softmax import softmax
from app.languages import _
from app.questions.question import MOST_ANSWERS, Place, Question, candidates
from app.questions.weight_rows import is_word
from app.stage.scene import Scene
from app.stage.search_method import temperature_of
from transformer.config import EOS

LEAST_MARGIN = 0.2
MOST_WORDS = 12  # of what is written so far
DECODING = "decoding"  # the page whose probabilities are those at the temperature of the search


def next_word(scene: Scene, place: Place, draw: Random) -> Question | None:
    """A step that writes a word is preferred to one that writes a sign such as `</s>`. The answers are in alphabetical
    order."""
    logits, ids = scene.step_logits, scene.hypothesis.ids  # (T, V)
    temperature = temperature_of(scene) if place.page == DECODING else 1.0
    cases = []
    for step in candidates(len(ids), place.row):
        probabilities = softmax(np.asarray(logits[step]), temperature=temperature)  # (V)
        margin = float(probabilities[ids[step]] - np.delete(probabilities[EOS:], ids[step] - EOS).max())
        if margin >= LEAST_MARGIN:
            cases.append((step, probabilities, margin))
    words = [case for case in cases if is_word(scene.hypothesis.tokens[case[0]])]
    for step, probabilities, margin in (*draw.sample(words, len(words)), *draw.sample(cases, len(cases))):
        if len(given := _given(scene, probabilities)) > 2:
            return _question(scene, step, probabilities, given, margin)
    return None


def _given(scene: Scene, probabilities: np.ndarray) -> dict[str, int]:
    """The most probable tokens by their texts; of tokens with the same text, the most probable one."""
    token_of, found = scene.subject.translator.tokenizer.token, dict[str, int]()
    for place in np.argsort(-probabilities[EOS:], kind="stable"):
        found.setdefault(in_words(token_of(int(place) + EOS)), int(place) + EOS)
        if len(found) == MOST_ANSWERS:
            break
    return found


def _question(scene: Scene, step: int, probabilities: np.ndarray, given: dict[str, int], margin: float) -> Question:
    texts = sorted(given, key=lambda text: (text.casefold(), text))
    right = next(text for text, id in given.items() if id == scene.hypothesis.ids[step])
    second = next(text for text in given if text != right)
    first_p, second_p = (float(probabilities[given[text]]) for text in (right, second))
    why = _(
        "The model gives “{token}” a probability of {probability}. Of the other answers “{other}” is the most "
        "probable, with {smaller}.",
        token=right,
        probability=probability_text(first_p),
        other=second,
        smaller=probability_text(second_p),
    )
    if scene.hypothesis.ids[step] == EOS:
        why += " " + _("</s> ends the translation.")
    return Question(
        "next-word",
        " ".join((_written(scene, step), _("Which token comes next?"))),
        tuple(_("“{token}”", token=text) for text in texts),
        texts.index(right),
        why,
        margin,
        Place(DECODING, row=step),
    )


def _written(scene: Scene, step: int) -> str:
    if not step:
        return _("The decoder has read only <s>.") if scene.is_given else _("The decoder has written nothing yet.")
    words = scene.subject.translator.tokenizer.decode(list(scene.hypothesis.ids[:step])).split(" ")
    shown = ("… " if len(words) > MOST_WORDS else "") + " ".join(words[-MOST_WORDS:])
    if scene.is_given:
        return _("The decoder has read “{words}”.", words=shown)
    return _("The decoder has written “{words}”.", words=shown)

"""Questions about the pictures, whose answers are computed from the tensors of the sentence that is shown.

Each kind has a file with a function that makes a question from the scene, or returns None if there is no clear case. A
case is clear if its margin is large enough; each file says what the margin is.
"""

from random import Random

from app.questions.above_half import above_half
from app.questions.head_off import head_off
from app.questions.masked_cells import masked_cells
from app.questions.most_attended import most_attended
from app.questions.next_word import next_word
from app.questions.question import ANYWHERE, Ask, Place, Question, QuestionKind
from app.questions.tensor_shape import tensor_shape
from app.stage.scene import Scene

KINDS_OF_QUESTIONS: dict[QuestionKind, Ask] = {
    "most-attended": most_attended,
    "shape": tensor_shape,
    "masked-cells": masked_cells,
    "next-word": next_word,
    "above-half": above_half,
    "head-off": head_off,
}


def ask(kind: QuestionKind, scene: Scene, selection: Place = ANYWHERE, seed: int = 0) -> Question | None:
    """A question of this kind about what the scene shows; None if nothing there has a clear answer.

    Args:
        selection: what the question is about; whatever it leaves open is chosen among the clear cases.
        seed: the same seed gives the same question.
    """
    return KINDS_OF_QUESTIONS[kind](scene, selection, Random(f"{kind} {seed}"))

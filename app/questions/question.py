"""A question about a picture: what is asked, the answers, which of them is right and why.

Tokens in its texts may be a visitor's: they are text, never markup.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Literal

from app.figures.axes import TokenAxis, in_words
from app.languages import _
from app.stage.scene import Scene
from transformer.model.attention_kinds import Kind

QuestionKind = Literal["most-attended", "shape", "masked-cells", "next-word", "above-half", "head-off"]

MOST_ANSWERS = 5


@dataclass(frozen=True)
class Place:
    """What a picture shows or a question is about. Numbers count from 0. None or "" means any.

    Attributes:
        page: the page that shows it.
        row, key: of the attention weights; `row` is also the step of the decoder.
        site: the name of a tensor.
    """

    page: str = ""
    kind: Kind | None = None
    layer: int | None = None
    head: int | None = None
    row: int | None = None
    key: int | None = None
    site: str = ""


ANYWHERE = Place()


@dataclass(frozen=True)
class Question:
    """A question with one right answer.

    Attributes:
        answers: 2 to 5 different texts.
        right: which of them is right, from 0.
        why: one or two sentences with the numbers.
        margin: how clear the right answer is. Each kind of question has its own unit, and its own smallest margin.
        place: where the answer can be seen.
    """

    kind: QuestionKind
    prompt: str
    answers: tuple[str, ...]
    right: int
    why: str
    margin: float
    place: Place

    def __post_init__(self) -> None:
        if not 2 <= len(set(self.answers)) == len(self.answers) <= MOST_ANSWERS:
            raise ValueError(f"A question has 2 to {MOST_ANSWERS} different answers, not {self.answers}.")
        if not 0 <= self.right < len(self.answers):
            raise ValueError(f"There is no answer {self.right} among {len(self.answers)}.")


Ask = Callable[[Scene, Place, Random], Question | None]


def token_name(axis: TokenAxis, index: int) -> str:
    """A token in quotation marks, with its position if the axis has its text several times."""
    names = [in_words(token) for token in axis.tokens]
    repeated = names.count(names[index]) > 1
    if repeated:
        return _("“{token}” (token {number})", token=names[index], number=index + 1)
    return _("“{token}”", token=names[index])


def candidates(among: int, chosen: int | None) -> range:
    """The layers, heads or rows that a question may be about: the chosen one, or none if it does not exist; all if
    `chosen` is None."""
    if chosen is None:
        return range(among)
    return range(chosen, chosen + 1) if 0 <= chosen < among else range(0)

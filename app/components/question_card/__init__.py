"""A question with its answers as buttons. Which answer is right is sent to the browser only once it is revealed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from app.components.registration import component, sent

Act = Literal["next", "show", "close"]
ACTS: tuple[Act, ...] = ("next", "show", "close")

_component = component("question_card")


@dataclass(frozen=True)
class Card:
    """What the card has on it; texts may have a visitor's words in them.

    Attributes:
        question_id: identifies the question; an answer to another question is ignored.
        sentence: the sentence that the question is about; the card covers the sentence of the page.
        chosen: which answer was given, from 0; -1: none.
        right: which answer is right, and why; None until it is revealed.
        acts: the buttons below: "show" the answer in the picture (once it is revealed), "next" for another question,
            "close" the card.
        by_keys: whether Enter and the down arrow reveal the answer.
    """

    question_id: str
    sentence: str
    prompt: str
    answers: tuple[str, ...]
    chosen: int
    right: tuple[int, str] | None
    acts: tuple[Act, ...]
    by_keys: bool


def question_card(
    card: Card,
    *,
    key: str,
    on_answer: Callable[[int], None],
    on_reveal: Callable[[], None],
    on_act: Callable[[Act], None],
) -> None:
    """Draws the card. Answering and revealing are two events: a class answers first, and then the lecturer reveals."""

    def event(name: str) -> dict[str, Any]:
        found = sent(key, name)
        return found if isinstance(found, dict) and found.get("question") == card.question_id else {}

    def answered() -> None:
        index = event("answered").get("index")
        if isinstance(index, int) and 0 <= index < len(card.answers):
            on_answer(index)

    def revealed() -> None:
        if event("revealed"):
            on_reveal()

    def acted() -> None:
        if (act := event("acted").get("act")) in ACTS:
            on_act(act)

    right, why = card.right or (-1, "")
    data = {
        "questionId": card.question_id,
        "sentence": card.sentence,
        "prompt": card.prompt,
        "answers": list(card.answers),
        "chosen": card.chosen,
        "right": right,
        "why": why,
        "acts": list(card.acts),
        "byKeys": card.by_keys,
    }
    _component(
        data=data,
        key=key,
        on_answered_change=answered,
        on_revealed_change=revealed,
        on_acted_change=acted,
    )

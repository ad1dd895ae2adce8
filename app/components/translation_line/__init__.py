"""The translation as one line of tokens."""

from collections.abc import Callable
from typing import Any, NamedTuple

from app.components.registration import component, sent

_component = component("translation_line")


class Sentences(NamedTuple):
    """The sentences of a text of which one is shown: their texts, its number from 0, and what a click calls."""

    texts: tuple[str, ...]
    shown: int
    on_choose: Callable[[int], None]


class Mark(NamedTuple):
    """A few words in front of the translation, the sentence that explains them, and the function that a click on them
    calls to take them away; None: they cannot be taken away."""

    words: str = ""
    help: str = ""
    on_leave: Callable[[], None] | None = None


class Line(NamedTuple):
    """A translation: {"text", "probability"} of each token, the whole text, which is what a screen reader says, the
    code of its language or "", and whether the canvas of the page writes it, token by token, when it is new."""

    tokens: list[dict[str, Any]]
    text: str
    language: str
    written: bool


def translation_line(line: Line, sentences: Sentences, *, mark: Mark, color: str, key: str) -> None:
    """Draws the tokens of a translation in one line, with a bar for the probability of each.

    Args:
        line: one without tokens draws what is in front of it only.
        sentences: if there are several, each has a button in front of the line.
        mark: a text in front of the tokens; without words, there is none.
    """

    def chosen() -> None:
        index = sent(key, "chosen")
        if isinstance(index, int) and 0 <= index < len(sentences.texts):
            sentences.on_choose(index)

    def left() -> None:
        if mark.on_leave:
            mark.on_leave()

    data: dict[str, Any] = {"tokens": line.tokens, "text": line.text, "lang": line.language, "written": line.written}
    data |= {"mark": {"words": mark.words, "help": mark.help, "leaves": mark.on_leave is not None}, "color": color}
    data |= {"sentences": list(sentences.texts), "shown": sentences.shown}
    _component(data=data, key=key, on_chosen_change=chosen, on_left_change=left)

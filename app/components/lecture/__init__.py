"""The keys of a lecture, and the line at the bottom with the sentences and the place in the lesson."""

from collections.abc import Callable
from dataclasses import asdict, dataclass

from app.components.numbered import listening, received
from app.components.registration import component, sent

_component = component("lecture")


@dataclass(frozen=True)
class LectureState:
    """What the browser has to know.

    Attributes:
        is_on: whether the page is shown to a class; if not, only the key P is listened to.
        lesson: the name of the lesson. If it is "", the keys walk through the pages.
        place: the place of the scene in the lesson, or of the page among all pages, from 0.
        count: the number of scenes or pages.
        text: what the class reads.
        question: whether the scene has a question, which is shown after the text.
        is_asked: whether the question is shown.
        own: the sentence that the lecturer has typed in place of the scene's sentence; the tab stores it.
    """

    is_on: bool
    lesson: str
    place: int
    count: int
    text: str
    question: bool
    is_asked: bool
    own: str


def lecture(
    state: LectureState, *, key: str, on_choose: Callable[[str, int], None], on_kept: Callable[[str], None]
) -> None:
    """Listens to the keys.

    Args:
        on_choose: called with "scene" or "page" and a place, from 0; with "question" and 1 to ask it or 0 to take it
            away; with "lecture" and 1 to begin or 0 to leave; with "take_home" to open what the class takes home; or
            with "class" to show its code.
        on_kept: called with the sentence that the lecturer had typed before the page was loaded again.
    """
    counts = {"scene" if state.lesson else "page": state.count, "question": 2, "lecture": 2, "take_home": 2, "class": 2}

    def kept() -> None:
        text = sent(key, "kept")
        if isinstance(text, str):
            on_kept(text)

    _component(
        data=asdict(state) | {"received": received(key)},
        key=key,
        on_chosen_change=listening(key, counts, on_choose),
        on_kept_change=kept,
    )

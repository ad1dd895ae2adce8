"""The choices of a lecture: whether the page is shown to a class, the lesson, its scene, and whether this window is the
presenter's."""

from app.state.address_texts import from_one, plus_one, text
from app.state.choice import Choice

_NUMBERS = {"0": False, "1": True}

LECTURE = Choice("lecture", False, _NUMBERS.__getitem__, lambda value: str(int(value)))
LESSON = Choice("lesson", "", text(200))
LESSON_SCENE = Choice("scene", 0, from_one, plus_one)
PRESENTER = Choice("presenter", False, _NUMBERS.__getitem__, lambda value: str(int(value)))

OF_A_LECTURE: tuple[Choice, ...] = (LECTURE, LESSON, LESSON_SCENE, PRESENTER)

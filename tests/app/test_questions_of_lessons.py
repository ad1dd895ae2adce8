"""Questions in the text of a lesson: their kind, their place, and the advice on a wrong link."""

from app.lessons.link_check import QUESTIONS, check_link
from app.questions import KINDS_OF_QUESTIONS
from app.questions.asked import kind_and_place
from app.questions.question import Place


def test_the_text_of_a_lesson_names_kind_and_place() -> None:
    assert kind_and_place("most-attended?kind=encoder&layer=4&head=2&row=3", "attention") == (
        "most-attended",
        Place("attention", "encoder", 3, 1, 2),
    )
    assert kind_and_place("above-half?column=5") == ("above-half", Place(key=4))
    assert kind_and_place("next-word") == ("next-word", None)
    assert kind_and_place("nonsense?layer=0")[0] is None
    assert kind_and_place("shape?layer=x") == ("shape", Place())


def test_a_lesson_may_name_each_kind_of_question() -> None:
    """The list in link_check.py is written again, because a lesson is checked without torch."""
    assert tuple(KINDS_OF_QUESTIONS) == tuple(QUESTIONS)


def test_the_advice_on_a_whole_address_can_be_followed() -> None:
    for link, advice in (
        ("http://localhost:8501/?kind=cross", "translate?kind=cross"),
        ("http://localhost:8501/masks?layer=2", "masks?layer=2"),
    ):
        assert advice in check_link(link)[2][0][1]
        assert check_link(advice)[2] == []

"""The words of a question: in the language of its visitor, and all of them marked for translation."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from app.languages import Language, speaking
from app.questions import KINDS_OF_QUESTIONS
from app.questions.question import Question
from tests.support.small_questions import asked
from tests.support.unmarked_texts import INSIDE, bracketed


def words_of(question: Question) -> tuple[str, ...]:
    return (question.prompt, *question.answers, question.why)


def test_a_question_is_in_the_language_of_its_visitor_and_two_languages_do_not_mix(
    question_checkpoints: list[Path],
) -> None:
    def asked_in(spoken: Language) -> list[Question]:
        with speaking(spoken):
            return [
                question
                for path in question_checkpoints
                for kind in KINDS_OF_QUESTIONS
                for question in asked(path, kind)
            ]

    with ThreadPoolExecutor(2) as pool:
        english, german, again = pool.map(asked_in, ("en", "de", "en"))
    assert english == again
    assert {question.kind for question in german} >= {"most-attended", "shape", "masked-cells", "above-half"}
    for one, other in zip(english, german, strict=True):
        assert (one.kind, one.right, one.place, one.margin) == (other.kind, other.right, other.place, other.margin)
        assert one.prompt != other.prompt
        assert one.why != other.why
        assert not re.search(r"\b(the|row|layer|which|is|are|weight|gets)\b", quoted_removed(" ".join(words_of(other))))
    shape = next(question for question in german if question.kind == "shape")
    assert shape.prompt.startswith("Welche Form hat dieser Tensor")


def quoted_removed(text: str) -> str:
    """Without the tokens, which are the visitor's."""
    return re.sub("„[^“]*“", "", text).lower()


def test_all_words_of_a_question_are_marked_for_translation(question_checkpoints: list[Path]) -> None:
    with bracketed():
        found = [
            question for path in question_checkpoints for kind in KINDS_OF_QUESTIONS for question in asked(path, kind)
        ]
    assert len({question.kind for question in found}) >= 4
    for question in found:
        for text in words_of(question):
            while INSIDE.search(text):
                text = INSIDE.sub("", text)
            assert not re.search("[a-z]{2}", text), question

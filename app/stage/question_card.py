"""Predict, then reveal: a question about the picture, whose answer is computed from what the scene shows.

On a page, `predict` draws a button that opens the card over the picture. In a lesson, `question_card` draws the card of
a scene. Answering and revealing are two events: for a single visitor both happen at once; in a class the lecturer
reveals the answer.
"""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from app.components.question_card import Act, Card
from app.components.question_card import question_card as draw_card
from app.languages import _, gettext_noop
from app.questions import ask
from app.questions.asked import kind_and_place
from app.questions.question import Place, Question, QuestionKind
from app.stage.question_place import can_show, open_page, show, shown, wider
from app.stage.scene import Scene, scene_key
from app.state.choices import ANOTHER, ANSWERED, ASKED, NOBODY_ANSWERED, QUESTION_NUMBER

NO_CASE = gettext_noop(
    "There is no question with a clear answer here. Choose another head or step, or type another sentence."
)
_ABOUT = "question is about"  # in the session: what the picture showed when the card was opened over it


def question_card(
    scene: Scene,
    asked: str,
    *,
    key: str = "question_card",
    alone: bool = True,
    by_keys: bool = False,
    on_show: Callable[[], None] | None = None,
) -> None:
    """Draws the card of a question of a lesson, such as "most-attended?layer=4&head=4&row=3", or a text that says that
    the question has no clear case.

    Args:
        alone: an answer reveals which one is right. In a class, `reveal` or the button does that.
        by_keys: Enter and the down arrow reveal.
        on_show: removes the card when its button to show the answer in the picture is clicked; None: it has no such
            button.
    """
    question = question_of(scene, asked)
    if question is None:
        with st.container(key="text_no_question"):
            st.text(_(NO_CASE))
    else:
        _draw(scene, question, key, alone, by_keys, on_show, closes=False)


def question_of(scene: Scene, asked: str, about: Place | None = None) -> Question | None:
    """The question that the card of this scene has now; None if nothing has a clear answer.

    Args:
        about: what the question is about if `asked` does not say it; None: what the page shows.
    """
    kind, place = kind_and_place(asked, open_page())
    if kind is None:
        return None
    places = wider(place or about or shown(open_page()), another=ANOTHER.value == _scene_and_kind(scene, kind))
    found = (ask(kind, scene, each, QUESTION_NUMBER.value) for each in places)
    return next((question for question in found if question), None)


def reveal(scene: Scene, asked: str) -> None:
    """Reveals the answer of the question that the card of this scene has."""
    if question := question_of(scene, asked):
        _reveal(_question_id(scene, question))


def is_revealed(scene: Scene, asked: str) -> bool:
    """Whether the answer of the question that the card of this scene has is revealed."""
    question = question_of(scene, asked)
    return bool(question and _chosen_and_revealed(_question_id(scene, question))[1])


def predict(scene: Scene, kind: QuestionKind) -> None:
    """Below the sentences of a page: a button that opens a question about its picture, over the picture."""
    page = open_page()
    with st.container(key="predict_line"):
        st.button(
            _("Predict: a question about this picture"),
            key="predict",
            type="tertiary",
            icon=":material/quiz:",
            on_click=_open,
            args=(page,),
        )
    if ASKED.value != page:
        return
    question = question_of(scene, kind, st.session_state.get(_ABOUT))
    with st.container(key="question_over_picture"):
        if question:
            _draw(scene, question, "question_card", True, False, ASKED.forget, closes=True)
        else:
            st.text(_(NO_CASE))
            st.button(_("Close"), key="close_question", on_click=ASKED.forget)


def _open(page: str) -> None:
    """Opens the card, with another question each time, about what the picture shows now."""
    QUESTION_NUMBER.choose(QUESTION_NUMBER.value + 1)
    ANOTHER.forget()
    st.session_state[_ABOUT] = shown(page)
    ASKED.choose(page)


def _draw(
    scene: Scene,
    question: Question,
    key: str,
    alone: bool,
    by_keys: bool,
    on_show: Callable[[], None] | None,
    *,
    closes: bool,
) -> None:
    question_id, page = _question_id(scene, question), open_page()
    chosen, revealed = _chosen_and_revealed(question_id)

    def answered(index: int) -> None:
        ANSWERED.choose((question_id, index, alone or _chosen_and_revealed(question_id)[1]))

    def acted(act: Act) -> None:
        if act == "next":
            QUESTION_NUMBER.choose(QUESTION_NUMBER.value + 1)
            ANOTHER.choose(_scene_and_kind(scene, question.kind))
        elif act == "close":
            ASKED.forget()
        elif _chosen_and_revealed(question_id)[1] and on_show:  # not before it is revealed
            on_show()
            show(question, page)

    acts: list[Act] = ["show"] if on_show and can_show(question, page) else []
    acts += ["next", "close"] if closes else ["next"]
    right = (question.right, question.why) if revealed else None
    card = Card(
        question_id,
        _sentence(scene, question.kind),
        question.prompt,
        question.answers,
        chosen,
        right,
        tuple(acts),
        by_keys,
    )
    draw_card(card, key=key, on_answer=answered, on_reveal=lambda: _reveal(question_id), on_act=acted)


def _sentence(scene: Scene, kind: QuestionKind) -> str:
    """The source and its translation; only the source if the question asks for a token of the translation."""
    source = scene.translation.source
    return source if kind == "next-word" else f"{source} → {scene.hypothesis.text}"


def _chosen_and_revealed(question_id: str) -> tuple[int, bool]:
    """The answer to a question that was chosen, from 0 (-1: none), and whether the right one is revealed."""
    return (ANSWERED.value if ANSWERED.value[0] == question_id else NOBODY_ANSWERED)[1:]


def _reveal(question_id: str) -> None:
    ANSWERED.choose((question_id, _chosen_and_revealed(question_id)[0], True))


def _scene_and_kind(scene: Scene, kind: QuestionKind) -> str:
    return f"{scene_key(scene)} {kind}"


def _question_id(scene: Scene, question: Question) -> str:
    """Identifies a question by its scene, its number in this session, its prompt, its answers and its place."""
    digest = hash((question.prompt, question.answers, replace(question.place, page="")))
    return f"{scene_key(scene)} {QUESTION_NUMBER.value} {digest}"

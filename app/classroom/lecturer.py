"""What a lecturer's session does with a class: opens it, publishes what it shows, reveals answers, closes it.

Code and secret are in the session. After a reload they are found again by the cookie of the lecturer's browser, like
everything that belongs to a visitor (app/server/visitor.py). The browser never gets the secret.

The class follows the tab in which it was opened. Another tab of the same browser publishes nothing, unless the lecturer
asks for that there, or the first tab was closed.

Lecture mode calls `publish_scene` when it opens a scene, and `reveal` when it reveals the answer to the scene's
question. Whatever else changes on the page (a head, another sentence) is published at the end of each run of the script
by `publish_page`.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlencode, urlsplit

import streamlit as st

from app.classroom.class_limits import NoClass
from app.classroom.class_scene import Asked, ClassScene, ShownHead
from app.classroom.class_state import CLASSES
from app.classroom.own_sentence import packed
from app.languages import _, language
from app.lessons.lesson_file import LessonScene
from app.pages import PageInfo
from app.server.app_path import app_path
from app.server.visitor import LOOPBACK, address_for_others, identity, is_open_tab, tab
from app.stage.canvas_of_scene import message_of
from app.stage.heads import chosen_head
from app.stage.scene import Scene, scene_key
from app.state.address import link_texts
from app.state.choices import ATTENTION_FORM, FRAMED, KIND, SENTENCE, TRANSLATE_FORM
from app.state.lecture_choices import LESSON, OF_A_LECTURE
from app.state.pinned_words import pinned

CANVAS = {"translate": TRANSLATE_FORM, "attention": ATTENTION_FORM}  # pages whose picture is a canvas
_CLASS = "class"  # in the session: (code, secret)
_LESSON = "class lesson"  # in the session: what was published of a lesson's scene (_Published)
_PICTURE = "class picture"  # in the session: ((scene key, language), its packed message)


class Question(Protocol):
    """What is needed of a question of `app.questions`."""

    @property
    def prompt(self) -> str: ...
    @property
    def answers(self) -> tuple[str, ...]: ...
    @property
    def right(self) -> int: ...
    @property
    def why(self) -> str: ...


@dataclass(frozen=True)
class _Published:
    """What the class is told about a page. `key`: the key of the scene that the question is about."""

    page: str
    title: str
    text: str
    question: Asked | None
    key: str


def open_class() -> None:
    """Opens a class, if this lecturer has none. Raises TooMany."""
    if not own_class():
        st.session_state[_CLASS] = CLASSES.open(identity(), is_open_tab)
        lead_from_here()


def own_class() -> tuple[str, str] | None:
    """(code, secret) of the class of this lecturer, while it is open."""
    found: tuple[str, str] | None = st.session_state.get(_CLASS)
    if not found or not CLASSES.is_open(*found):
        st.session_state[_CLASS] = found = CLASSES.owned(identity())
    return found


def leads_from_here() -> bool:
    """Whether the class follows this tab, or one that was closed. A page in a frame of Side by side is not what the
    lecturer shows."""
    found = None if FRAMED.value else own_class()
    if found:
        with suppress(NoClass):
            return CLASSES.follows(*found, tab(), is_open_tab)
    return False


def lead_from_here() -> None:
    """Makes the class follow this tab."""
    found = own_class()
    if found:
        with suppress(NoClass):
            CLASSES.follow(*found, tab())


def close_class() -> None:
    """Ends the class; the phones say so."""
    found = own_class()
    st.session_state.pop(_CLASS, None)
    if found:
        with suppress(NoClass):
            CLASSES.close(*found)


def followers() -> int:
    """How many phones follow now."""
    found = own_class()
    if found:
        with suppress(NoClass):  # the class may end at any time, also in the functions below
            return CLASSES.followers(*found)
    return 0


def class_address(code: str) -> str:
    """The link for phones; "" if other machines cannot reach the app, or its address was not found."""
    host = urlsplit(st.context.url or "").hostname or ""
    if host in LOOPBACK:
        host = address_for_others()
    return class_link(host, code) if host else ""


def class_link(host: str, code: str) -> str:
    """The link of a class on a machine with this name or address."""
    here = urlsplit(st.context.url or "")
    place = f"[{host}]" if ":" in host else host
    return f"{here.scheme}://{place}{f':{here.port}' if here.port else ''}/class/{code}"


def publish_scene(of_lesson: LessonScene, scene: Scene | None, question: Question | None = None) -> None:
    """Shows this scene of a lesson to the class, if one is open. It may be called in each run: if nothing has changed,
    nothing is sent.

    Args:
        scene: what the page shows; None for a page without a translation.
        question: the question that the class is asked; the picture is sent when its answer is revealed.
    """
    found = own_class()
    if found and leads_from_here():
        lead_from_here()
        asked = Asked(question.prompt, tuple(question.answers)) if question else None
        key = scene_key(scene) if scene else ""
        seen = _Published(of_lesson.page, of_lesson.title, of_lesson.text, asked, key)
        st.session_state[_LESSON] = seen
        with suppress(NoClass):
            CLASSES.publish(*found, _class_scene(seen, scene), asks=question is not None)


def publish_page(page: PageInfo, scene: Scene | None) -> None:
    """Shows this page to the class, if one is open. If a lesson's scene has opened it, it is shown with the title and
    text of that scene."""
    found = own_class()
    if not found or not leads_from_here():
        return
    lead_from_here()
    key = scene_key(scene) if scene else ""
    seen: _Published | None = st.session_state.get(_LESSON)
    if seen is None or seen.page != page.name or not LESSON.value:
        st.session_state.pop(_LESSON, None)
        seen = _Published(page.name, _(page.question), "", None, key)
    elif seen.key != key and seen.question:  # of the sentence before; `publish_scene` sends the new one
        return
    elif seen.key != key:
        seen = _Published(page.name, seen.title, seen.text, None, key)
    with suppress(NoClass):
        CLASSES.publish(*found, _class_scene(seen, scene))


def totals(question: Question) -> tuple[int, ...]:
    """How many phones have given each answer so far; () without a class, or if the class was not asked this."""
    found = own_class()
    if found:
        with suppress(NoClass):
            return CLASSES.totals(*found, Asked(question.prompt, tuple(question.answers)).id)
    return ()


def reveal(question: Question) -> tuple[int, ...]:
    """The totals. The phones see them from now on, with the right answer and its reason, and cannot answer any more."""
    found, asked = own_class(), Asked(question.prompt, tuple(question.answers))
    if found and leads_from_here():
        with suppress(NoClass):
            return CLASSES.reveal(*found, asked.id, question.right, question.why)
    return ()


def _class_scene(seen: _Published, scene: Scene | None) -> ClassScene:
    if scene is None or seen.page not in CANVAS:
        texts = link_texts(seen.page) | {SENTENCE.key: SENTENCE.value or ""}
        for choice in OF_A_LECTURE:  # a phone has no keys to walk or leave a lecture, which hides the sentence box
            texts.pop(choice.key, None)
        link = f"{app_path()}/{seen.page}?{urlencode({name: text for name, text in texts.items() if text})}"
        return ClassScene(seen.title, seen.text, link, question=seen.question)
    key, kind = scene_key(scene), KIND.value
    shown = ShownHead(kind, *chosen_head(scene, kind), CANVAS[seen.page].value, pinned(kind, key)[:2])
    before = st.session_state.get(_PICTURE)
    if not before or before[0] != (key, language()):
        st.session_state[_PICTURE] = before = ((key, language()), packed(message_of(scene)))
    model = (scene.subject, scene.translation.settings)
    return ClassScene(seen.title, seen.text, "", before[1], shown, seen.question, model)

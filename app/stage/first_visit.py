"""The first visit of a fresh server: torch is imported while the visitor already sees the first picture.

    first run of the script    draws the stored picture of the default sentence, imports torch, loads the checkpoint
    second run                 draws the page itself, in the same places and with the same widgets

A sentence that is typed meanwhile is translated in the second run. Nothing that is imported here imports torch
(test_what_draws_the_first_picture_does_not_import_torch). Until the second run, a link to anything but the default
sentence shows only the name of the app and the heading of the page.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from threading import Event

import streamlit as st

from app import components
from app.figures.canvas_message import header_of
from app.figures.theme import role_color
from app.languages import _, language
from app.languages.catalogues import ENGLISH
from app.library import checkpoints
from app.library.checkpoints import CheckpointFile
from app.library.first_picture_file import FirstPicture, read_picture
from app.pages import FIRST, PageInfo
from app.stage import sentence
from app.stage.frame import TopLine, page_body, top_line
from app.state.choices import CHECKPOINT, CHOICES, PINNED, PLACE
from app.state.events import show_sentence
from app.state.language_choice import LANGUAGE
from transformer.errors import HeadlightError

_SHOWN = "first_picture_shown"
_over = Event()  # set once torch is imported: the first visit is over, for all visitors
if "torch" in sys.modules:  # it is already imported, for example by a test
    _over.set()


def is_over() -> bool:
    """Whether the pages can be drawn without waiting for torch."""
    return _over.is_set()


def draw(page: PageInfo, draw_picture: Callable[[FirstPicture], None]) -> None:
    """Draws what is known, imports torch, and runs the script again.

    Args:
        draw_picture: draws the picture of the first page.
    """
    line = top_line(page)
    file = next(iter(checkpoints.checkpoints().values()), None)
    picture = read_picture(file) if file and (_SHOWN in st.session_state or _is_default()) else None
    if file and picture:
        st.session_state[_SHOWN] = True  # keeps the picture while a sentence that is typed now waits for the model
        _fill(line, file.name, picture)
    page_body(
        page,
        (lambda: _headline(picture, page)) if picture and page.needs_scene and page.has_headline else None,
        (lambda: draw_picture(picture)) if picture and page.name == FIRST else None,
    )
    # Streamlit writes the unit of the time in English
    with line.progress, st.spinner(_("Loading the model …"), show_time=language() == ENGLISH):
        _load(page, file)
    st.rerun()


def _is_default() -> bool:
    """Whether all choices have their defaults. Choices of a head or a token do not count, because the stored picture
    has all heads; nor does the language, because each language has its own stored picture."""
    return not any(choice.is_chosen for choice in CHOICES if choice not in (*PLACE, PINNED, LANGUAGE))


def _fill(line: TopLine, name: str, picture: FirstPicture) -> None:
    """Fills the line at the top in the same way as top.py."""
    with line.checkpoints:
        CHECKPOINT.open(name, [name])
        st.selectbox(
            _("Checkpoint"), [name], key=CHECKPOINT.key, persist_state="session",
            format_func=lambda name: picture.label, label_visibility="collapsed",
        )  # fmt: skip
    with line.box:
        sentence.sentence_box(picture.task)
        sentence.meter(lambda text: (picture.used, 1, picture.most))
    with line.examples:
        sentence.examples(picture.task)


def _headline(picture: FirstPicture, page: PageInfo) -> None:
    target = header_of(picture.message)["target"]
    components.translation_line(
        components.Line(
            [
                {"text": token, "probability": probability}
                for token, probability in zip(target["tokens"], target["probabilities"], strict=True)
            ],
            picture.text,
            picture.task.target_code,
            written=page.name == FIRST,
        ),
        components.Sentences((picture.task.examples[0],), 0, show_sentence),
        mark=components.Mark(),
        color=role_color("decoder"),
        key="translation_line",
    )


def _load(page: PageInfo, file: CheckpointFile | None) -> None:
    """Imports what draws the page, and with it torch; loads the checkpoint."""
    import_module("app.stage.top")
    import_module(f"app.views.{page.name}.page")
    if file:
        with suppress(HeadlightError, OSError):  # the page will say what is wrong with it
            checkpoints.load(file)
    _over.set()

"""The stored first picture of this page; see app/stage/first_visit.py."""

from functools import partial

import streamlit as st

from app.components.canvas import Head, Setting, canvas
from app.figures.canvas_message import header_of
from app.library.first_picture_file import FirstPicture
from app.stage.template import details
from app.state.choices import HEAD, KIND, LAYER, TRANSLATE_FORM
from app.state.events import choose_head
from app.state.pinned_words import keep, pinned
from app.views.shared.show_figure import download_and_table
from app.views.translate.page_links import PAGE_LINKS, page_links
from transformer.model.attention_kinds import KINDS


def draw(picture: FirstPicture) -> None:
    """Draws the canvas as page.py does. Requests to the model wait in the browser until page.py has drawn the page."""
    with st.container(key="picture_canvas"):
        chosen = _chosen(picture.message)
        canvas(
            picture.message,
            chosen,
            Setting(
                picture.alternatives,
                writes=True,
                below=PAGE_LINKS,
                form=TRANSLATE_FORM.value,
                form_name=TRANSLATE_FORM.key,
                pinned=pinned(chosen.kind),
            ),
            key="canvas",
            on_choose=_choose,
            on_ask=lambda question: None,
            on_keep=partial(keep, TRANSLATE_FORM),
        )
    page_links(lambda: download_and_table(key="canvas", name="", table=dict))
    details(lambda: None)


def _chosen(message: bytes) -> Head:
    """The head in the address; if there is none, the one that the message says to show first."""
    kind = KIND.value if KIND.value in KINDS else "cross"
    found = next(each for each in header_of(message)["kinds"] if each["name"] == kind)
    (layers, heads, *_), (layer, head) = found["shape"], found["opening"]
    if LAYER.is_chosen and HEAD.is_chosen and 1 <= LAYER.value <= layers and 1 <= HEAD.value <= heads:
        layer, head = LAYER.value - 1, HEAD.value - 1
    return Head(kind, layer, head)


def _choose(head: Head) -> None:
    KIND.choose(head.kind)
    choose_head(head.layer, head.head)

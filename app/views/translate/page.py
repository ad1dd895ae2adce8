"""The first page: a sentence, its translation, and what the model attended to while it wrote the translation."""

import math

import streamlit as st

from app import components
from app.components.canvas import Setting
from app.figures.token_strip import source_strip, source_table, target_strip, target_table
from app.languages import _, gettext_noop, ngettext
from app.library import checkpoints
from app.library.catalogue import reverse_model
from app.library.checkpoints import MOST_CHARACTERS
from app.stage.checkpoint_choice import uploads
from app.stage.scene import Scene
from app.stage.template import details
from app.state.choices import GIVEN, TRANSLATE_FORM
from app.state.events import open_checkpoint, take_sentence
from app.state.given_translation import type_translation
from app.views.shared.canvas_picture import alternatives, canvas_download, draw_canvas
from app.views.shared.number_tables import readable
from app.views.shared.search_code import about_probabilities
from app.views.translate.page_links import PAGE_LINKS, page_links
from transformer.decoding.translation import Hypothesis, Translation

ABOUT_SOURCE = gettext_noop(
    "The sentence as tokens: words, or parts of rare words. ▁ marks the start of a word. Below each token: its id in "
    "the vocabulary, and the positions of its characters in the sentence."
)
ABOUT_TARGET = gettext_noop("Below each token: the probability that the model gave it, and its id in the vocabulary.")


def draw(scene: Scene) -> None:
    """Draws the page from top to bottom."""
    head = draw_canvas(
        scene, key="canvas", opening="cross", form=TRANSLATE_FORM, setting=Setting(writes=True, below=PAGE_LINKS)
    )
    page_links(lambda: canvas_download(scene, head, key="canvas"))

    def more() -> None:
        _results(scene)
        _force(scene)
        _tables(scene.translation, scene.hypothesis)

    details(more)


def _results(scene: Scene) -> None:
    """Draws the tokens of the source, the translation, its tokens and its alternatives."""
    translation, hypothesis = scene.translation, scene.hypothesis
    probabilities = [math.exp(value) for value in hypothesis.log_probabilities]
    st.subheader(_("The encoder reads"), anchor=False, help=_(ABOUT_SOURCE))
    components.token_strip(source_strip(translation.source_tokens), key="source_tokens")
    with st.container(key="results"):
        several = len(scene.listed) > 1
        left, right = st.columns([5, 2], gap="large") if several else (st.container(), None)
        with left:
            writes = _("The decoder is given") if scene.is_given else _("The decoder writes")
            st.subheader(writes, anchor=False, help=_(ABOUT_TARGET))
            strip = target_strip(hypothesis.tokens, hypothesis.ids, probabilities)
            strip |= {"headline": hypothesis.text or _("(nothing)"), "lang": scene.task.target_code}
            components.token_strip(strip, key="translation")
            if caption := about_probabilities(translation.settings, scene.is_given):
                st.caption(caption)
            if hypothesis.is_loop:
                st.caption(_("Stopped: the decoder repeated one token again and again."))
            elif hypothesis.at_limit:
                st.caption(_("Stopped at the length limit, before the decoder wrote the end token."))
            elif not hypothesis.finished:
                st.caption(_("Cut off: the search ended, because its best hypothesis repeats one token."))
            _translate_back(scene)
        if right:
            with right:
                _alternatives(scene)
    unknown = sum(token.kind == "unknown" for token in translation.source_tokens)
    if unknown:
        st.caption(
            ngettext(
                "{count} token is unknown to this vocabulary: the model reads `<unk>` instead.",
                "{count} tokens are unknown to this vocabulary: the model reads the same `<unk>` for each instead.",
                unknown,
            )
        )


def _alternatives(scene: Scene) -> None:
    st.subheader(
        _("Alternatives"),
        anchor=False,
        help=_("A score is the sum of the log-probabilities, divided by the length penalty."),
    )
    components.choice_list(
        alternatives(scene),
        scene.shown_in_list,
        _("Alternative translations"),
        key="alternatives_list",
        on_choose=lambda place: scene.show(scene.listed[place]),
    )


def _translate_back(scene: Scene) -> None:
    """A button that translates back with a checkpoint of the other direction, if there is one."""
    found = reverse_model(scene.subject.file, (checkpoints.checkpoints() | uploads()).values())
    text = scene.hypothesis.text
    if found and text.strip():
        st.button(
            _("Translate it back into {language}", language=scene.task.source),
            key="translate_back",
            on_click=_open_reverse_model,
            args=(found.name, text),
            help=_("Opens the checkpoint of the opposite direction on this translation."),
        )


def _open_reverse_model(checkpoint: str, text: str) -> None:
    open_checkpoint(checkpoint)
    take_sentence(text)


def _tables(translation: Translation, hypothesis: Hypothesis) -> None:
    table = st.expander(_("Tokens as tables"), on_change="rerun")
    if table.open:
        probabilities = [math.exp(value) for value in hypothesis.log_probabilities]
        with table:
            st.dataframe(
                **readable(source_table(translation.source_tokens, translation.source)),
                alt=_("Tokens of the source"),
                hide_index=True,
            )
            st.dataframe(
                **readable(target_table(hypothesis.tokens, hypothesis.ids, probabilities)),
                alt=_("Tokens of the translation with their probabilities"),
                hide_index=True,
            )


def _force(scene: Scene) -> None:
    """Draws the box for teacher forcing: the decoder reads the visitor's translation, and all pages show the result."""
    with st.expander(_("Give a translation of your own"), expanded=bool(scene.problem)):
        GIVEN.open()
        st.text_input(
            _("Your translation"),
            key=GIVEN.key,
            persist_state="session",
            max_chars=MOST_CHARACTERS,
            on_change=_give,
            placeholder=_("Type it and press Enter"),
            autocomplete="off",
        )
        if scene.problem:
            st.text(scene.problem)
        st.caption(
            _(
                "Teacher forcing, as in training: the decoder reads your words instead of its own, and says how "
                "probable each of them would have been. Every page shows its attention on them."
            )
        )


def _give() -> None:
    type_translation(GIVEN.value)

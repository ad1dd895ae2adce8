"""The first page: a sentence, its translation, and where the model looked while it wrote it."""

import math

import streamlit as st

from app import components
from app.figures.theme import score_text
from app.figures.token_strip import source_strip, source_table, target_strip, target_table
from app.library import checkpoints
from app.library.catalogue import way_back
from app.library.checkpoints import MOST_CHARACTERS
from app.stage.controls import bar
from app.stage.doctor_line import doctor
from app.stage.sentence import Scene, choose_sentence, given_hypothesis
from app.stage.sidebar import uploads
from app.state.session import GIVEN, Opened, is_dark, open_checkpoint, show_given, show_hypothesis, take_sentence
from app.state.url import shown_hypothesis
from app.views.shared.search_code import about_probabilities
from app.views.translate.attention_pictures import attention_pictures
from transformer.decoding.translation import Hypothesis, Translation

ABOUT_SOURCE = (
    "The sentence in pieces: words, or parts of rare ones; ▁ begins a word. Below each: its id in the vocabulary, and "
    "the places of its characters in the sentence, from 0."
)
ABOUT_TARGET = "Below each piece: how probable the model found it there, and its id in the vocabulary."


def page() -> None:
    """Draws the page from top to bottom."""
    found = choose_sentence()
    if found is None:
        return
    opened, translation = found
    chosen = shown_hypothesis(translation)
    _pictures(opened, translation, chosen)
    _force(opened, translation)
    _tables(translation, translation.hypotheses[chosen])


@st.fragment
def _pictures(opened: Opened, translation: Translation, chosen: int) -> None:
    """Drawn again by itself when a head is chosen."""
    if shown_hypothesis(translation) != chosen:  # another was chosen in here: what is below changes too
        st.rerun()
    hypothesis = translation.hypotheses[chosen]
    scene = Scene(opened, translation, hypothesis)
    kind, layer, head = bar(scene, translation=False).kind_layer_head()
    _results(opened, translation, hypothesis)
    if not scene.is_given:
        doctor(opened.file, translation, hypothesis)
    attention_pictures(scene, kind, layer, head)


def _results(opened: Opened, translation: Translation, hypothesis: Hypothesis) -> None:
    """Source pieces, translation, its pieces and its alternatives."""
    probabilities = [math.exp(value) for value in hypothesis.log_probabilities]
    given, _ = given_hypothesis(opened, translation)
    dark = is_dark()
    st.subheader("The encoder reads", anchor=False, help=ABOUT_SOURCE)
    components.pieces(source_strip(translation.source_pieces, dark=dark), key="source_pieces")
    with st.container(key="results"):
        several = len(translation.hypotheses) > 1
        left, *right = st.columns([5, 2], gap="large") if several else [st.container()]
        with left:
            writes = "The decoder is made to write" if hypothesis == given else "The decoder writes"
            st.subheader(writes, anchor=False, help=ABOUT_TARGET)
            strip = target_strip(hypothesis.pieces, hypothesis.ids, probabilities, dark=dark)
            strip |= {"headline": hypothesis.text or "(nothing)", "lang": opened.task.target_code}
            components.pieces(strip, key="translation")
            if said := about_probabilities(translation.settings, hypothesis == given):
                st.caption(said)
            if hypothesis.is_loop:
                st.caption("Stopped: the decoder repeated one token again and again.")
            elif not hypothesis.finished:
                st.caption("Cut off at the length limit: the decoder had not yet written its end sign.")
            _way_back(opened, hypothesis)
        for column in right:
            with column:
                st.subheader(
                    "Alternatives",
                    anchor=False,
                    help="The number is a score: the sum of the log-probabilities, divided by the length penalty.",
                )
                components.choices(
                    [
                        {
                            "text": other.text or "(nothing)",
                            "detail": ("yours  " if other == given else "") + score_text(other.normalised_score),
                        }
                        for other in translation.hypotheses
                    ],
                    shown_hypothesis(translation),
                    "Alternative translations",
                    key="alternatives_list",
                    on_choose=show_hypothesis,
                )
    unknown = sum(piece.kind == "unknown" for piece in translation.source_pieces)
    if unknown:
        known, sees = (
            ("1 piece is", "`<unk>`") if unknown == 1 else (f"{unknown} pieces are", "the same `<unk>` for each")
        )
        st.caption(f"{known} unknown to this vocabulary: the model sees {sees} instead.")


def _way_back(opened: Opened, hypothesis: Hypothesis) -> None:
    """A button that hands the translation to a checkpoint that translates the other way round, if there is one."""
    found = way_back(opened.file, (checkpoints.checkpoints() | uploads()).values())
    if found and hypothesis.text.strip():
        pressed = st.button(
            f"Translate it back into {opened.task.source}", key="way_back", on_click=_turn_round,
            args=(found.name, hypothesis.text), help="Opens the checkpoint for the way back on this translation.",
        )  # fmt: skip
        if pressed:
            st.rerun()  # all of the page, not this fragment alone


def _turn_round(checkpoint: str, text: str) -> None:
    take_sentence(text)
    open_checkpoint(checkpoint)


def _tables(translation: Translation, hypothesis: Hypothesis) -> None:
    table = st.expander("Pieces as tables", on_change="rerun")
    if table.open:
        probabilities = [math.exp(value) for value in hypothesis.log_probabilities]
        with table:
            st.dataframe(
                source_table(translation.source_pieces, translation.source), alt="Pieces of the source", hide_index=True
            )
            st.dataframe(
                target_table(hypothesis.pieces, hypothesis.ids, probabilities),
                alt="Pieces of the translation with their probabilities",
                hide_index=True,
            )


def _force(opened: Opened, translation: Translation) -> None:
    """Teacher forcing: the decoder reads a translation of the visitor's, and all pages show what it makes of it."""
    given, problem = given_hypothesis(opened, translation)
    with st.expander("Force a translation of your own", expanded=bool(problem)):
        st.text_input(
            "Your translation",
            key=GIVEN,
            persist_state="session",
            max_chars=MOST_CHARACTERS,
            on_change=show_given,
            args=(len(translation.hypotheses) - (given is not None), opened.file, translation.source),
            placeholder="Type it and press Enter",
            autocomplete="off",
        )
        if problem:
            st.text(problem)
        st.caption(
            "Teacher forcing, as in training: the decoder reads your words instead of its own, and says how probable "
            "each of them would have been. Every page shows its attention on them."
        )


page()

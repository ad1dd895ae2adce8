"""The first page: a sentence, its translation, and where the model looked while it wrote it."""

import math

import streamlit as st

from app import components, models
from app.figures.pieces import source_strip, source_table, target_strip, target_table
from app.models import MOST_CHARACTERS, MOST_SENTENCES
from app.session import (
    SENTENCE,
    SHOWN_HYPOTHESIS,
    SHOWN_SENTENCE,
    Opened,
    forget_choice,
    is_dark,
    open_with_example,
    sentence_from_link,
)
from app.views import controls
from app.views.attention import attention_pictures
from transformer.config import DecodingConfig
from transformer.decoding.translation import TranslatedText, Translation
from transformer.errors import HeadlightError


def page() -> None:
    """Draws the page from top to bottom."""
    sentence_from_link()
    controls.take_upload()
    opened = controls.sidebar()
    controls.upload_problem()
    if opened is None:
        return
    settings = controls.decoding_settings(opened.translator.settings)
    open_with_example(opened.task)
    text = _sentence_box(opened)
    translated = _translated(opened, text, settings)
    if translated is None:
        return
    translation = _one_sentence(translated)
    if translation is None:
        return
    chosen = _results(opened, translation)
    attention_pictures(opened, translation, translation.hypotheses[chosen])


def _sentence_box(opened: Opened) -> str:
    text = st.text_input(
        "Sentence",
        key=SENTENCE,
        persist_state="session",
        on_change=forget_choice,
        placeholder="Type a sentence and press Enter",
        autocomplete="off",
    )
    with st.container(key="bar", horizontal=True, vertical_alignment="center", gap="medium"):
        _meter(opened)
        if opened.task.examples:
            with st.popover("Examples", type="tertiary"):
                for number, example in enumerate(opened.task.examples):
                    st.button(example, key=f"example_{number}", on_click=_take, args=(example,), width="stretch")
        components.link(text or "", key="copy_link")
    return text or ""


def _take(example: str) -> None:
    st.session_state[SENTENCE] = example
    forget_choice()


@st.fragment
def _meter(opened: Opened) -> None:
    """How much of the limit is used, while typing: only this line is drawn again."""
    state = st.session_state.get("meter")
    draft = getattr(state, "draft", None)
    text = draft if isinstance(draft, str) else st.session_state.get(SENTENCE, "")
    used, sentences = models.pieces_needed(opened.file, text)
    unit = "pieces" if sentences < 2 else f"pieces in the longest of {sentences} sentences"
    components.meter(used, models.most_pieces(opened.translator), unit, watches="Sentence", key="meter")


def _translated(opened: Opened, text: str, settings: DecodingConfig) -> TranslatedText | None:
    """The translation, or None after a sentence that says why there is none."""
    if not text.strip():
        st.info("Type a sentence above and press Enter, or take one of the examples.")
        return None
    if len(text) > MOST_CHARACTERS:
        st.warning(
            f"This text has {len(text):,} characters; the page translates up to {MOST_CHARACTERS:,} at once. "
            "Please shorten it. Whole documents are a job for `python -m transformer translate`."
        )
        return None
    longest, sentences = models.pieces_needed(opened.file, text)
    limit = models.most_pieces(opened.translator)
    if longest > limit:
        st.warning(
            f"{'This sentence' if sentences == 1 else 'The longest sentence'} has {longest:,} pieces; the page shows "
            f"up to {limit:,} with this checkpoint. Please shorten it, or end a sentence earlier with a full stop."
        )
        return None
    if sentences > MOST_SENTENCES:
        st.warning(f"These are {sentences:,} sentences; the page translates up to {MOST_SENTENCES} at once.")
        return None
    try:
        with st.spinner("Translating …", show_time=True):
            translated = models.translate(opened.file, text, settings)
    except HeadlightError as error:
        with st.container(border=True):
            st.text(str(error))
        return None
    if not any(translation.hypotheses for translation in translated.sentences):
        st.info("Nothing is left to translate: the text has only white space or invisible characters.")
        return None
    return translated


def _one_sentence(translated: TranslatedText) -> Translation | None:
    """The sentence whose pictures are shown. Where there are several, all are listed and one is chosen."""
    sentences = [translation for translation in translated.sentences if translation.hypotheses]
    if len(sentences) == 1:
        return sentences[0]
    chosen = min(st.session_state.get(SHOWN_SENTENCE, 0), len(sentences) - 1)
    st.header(f"{len(sentences)} sentences", anchor=False)
    st.caption("All are translated. The pictures below belong to the one that is marked; choose another by a click.")
    components.choices(
        [{"text": translation.text or "(nothing)", "second": translation.source} for translation in sentences],
        chosen,
        "Sentence to look into",
        key="sentences",
        on_choose=_show_sentence,
    )
    return sentences[chosen]


def _show_sentence(index: int) -> None:
    st.session_state[SHOWN_SENTENCE] = index
    st.session_state[SHOWN_HYPOTHESIS] = 0


def _show_hypothesis(index: int) -> None:
    st.session_state[SHOWN_HYPOTHESIS] = index


def _results(opened: Opened, translation: Translation) -> int:
    """Source pieces, translation, its pieces and its alternatives. Returns which hypothesis is shown."""
    chosen = min(st.session_state.get(SHOWN_HYPOTHESIS, 0), len(translation.hypotheses) - 1)
    hypothesis = translation.hypotheses[chosen]
    probabilities = [math.exp(value) for value in hypothesis.log_probabilities]
    dark = is_dark()
    st.subheader("The encoder reads", anchor=False)
    components.pieces(source_strip(translation.source_pieces, dark=dark), key="source_pieces")
    with st.container(key="results"):
        several = len(translation.hypotheses) > 1
        left, *right = st.columns([5, 2], gap="large") if several else [st.container()]
        with left:
            st.subheader("The decoder writes", anchor=False)
            strip = target_strip(hypothesis.pieces, hypothesis.ids, probabilities, dark=dark)
            strip |= {"headline": hypothesis.text or "(nothing)", "lang": opened.task.target_code}
            components.pieces(strip, key="translation")
            if not hypothesis.finished:
                st.caption("Cut off at the length limit: the decoder had not yet written its end sign.")
        for column in right:
            with column:
                st.subheader("Alternatives", anchor=False)
                components.choices(
                    [
                        {"text": other.text or "(nothing)", "detail": f"{other.normalised_score:.2f}"}
                        for other in translation.hypotheses
                    ],
                    chosen,
                    "Alternative translations, best first",
                    key="alternatives_list",
                    on_choose=_show_hypothesis,
                )
                st.caption("The score is the sum of the log-probabilities, divided by the length penalty.")
    unknown = sum(piece.kind == "unknown" for piece in translation.source_pieces)
    if unknown:
        st.caption(f"{unknown} pieces are unknown to this vocabulary: the model sees the same <unk> for each.")
    table = st.expander("Pieces as tables", on_change="rerun")
    if table.open:
        with table:
            st.dataframe(
                source_table(translation.source_pieces, translation.source), alt="Pieces of the source", hide_index=True
            )
            st.dataframe(
                target_table(hypothesis.pieces, hypothesis.ids, probabilities),
                alt="Pieces of the translation with their probabilities",
                hide_index=True,
            )
    return chosen


page()

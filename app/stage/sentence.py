"""What stands at the top of every page: checkpoint and sentence box. Below it come the bar of what is chosen (see
`app.stage.controls`), the translation, and a page's own pictures.

A page begins with `scene = stage()`. The sentence, its translation and the chosen alternative are the same on
all pages and survive a change of page.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from app import components
from app.compute import cached_results
from app.figures.axes import TokenAxis
from app.library import checkpoints
from app.library.checkpoints import MOST_CHARACTERS, MOST_SENTENCES
from app.stage import sidebar
from app.stage.doctor_line import doctor
from app.state.session import (
    FRESH,
    GIVEN,
    GIVEN_FOR,
    GIVEN_PIECES,
    LINKED,
    SECOND,
    SENTENCE,
    SHOWN_SENTENCE,
    TEXT,
    Opened,
    fill_sentence_box,
    forget_choice,
    given_in_link,
    open_with_example,
    sentence_from_link,
    show_sentence,
    take_sentence,
    typed,
)
from app.state.url import shown, shown_hypothesis
from transformer.config import BOS, DecodingConfig, ModelConfig
from transformer.decoding.translation import Hypothesis, TranslatedText, Translation
from transformer.errors import HeadlightError
from transformer.text.normalisation import clean

LONGEST_HEADLINE = 140  # characters; a longer translation is folded


@dataclass(frozen=True)
class Scene:
    """What a page shows pictures of: one sentence and one translation of it by one checkpoint."""

    opened: Opened
    translation: Translation
    hypothesis: Hypothesis

    @property
    def is_given(self) -> bool:
        """Whether the hypothesis is the visitor's own, which the model only reads (teacher forcing)."""
        return self.hypothesis == given_hypothesis(self.opened, self.translation)[0]

    @property
    def config(self) -> ModelConfig:
        return self.opened.translator.model.config

    @property
    def sizes(self) -> dict[str, int]:
        """The alphabet of shapes in numbers, for this sentence and this checkpoint."""
        config = self.config
        return {
            "S": len(self.source), "T": len(self.target), "H": config.heads, "E": config.d_k, "D": config.d_model,
            "F": config.d_ff, "V": config.vocab_size,
        }  # fmt: skip

    @property
    def source(self) -> TokenAxis:
        """The S pieces that the encoder reads."""
        pieces = tuple(piece.text for piece in self.translation.source_pieces)
        return TokenAxis(f"{self.opened.task.source} (source)", "encoder", pieces)

    @property
    def target(self) -> TokenAxis:
        """The T rows of the decoder: what each reads, and what it predicts."""
        read = (self.opened.translator.tokenizer.piece(BOS), *self.hypothesis.pieces[:-1])
        return TokenAxis(f"{self.opened.task.target} (translation)", "decoder", read, self.hypothesis.pieces)

    def record(self, *sites: str) -> Mapping[str, np.ndarray]:
        """What the model computed at these sites (names or patterns), without the batch axis; computed once and kept.

        For example `record("decoder.layers.0.cross_attention.weights")` has one array (H, T, S).
        """
        return cached_results.record(self.opened.file, self.translation.source_ids, self.hypothesis.ids, sites)


def stage() -> Scene | None:
    """Draws the top of a page. None: there is nothing to show yet, and the page has said why."""
    found = choose_sentence()
    if found is None:
        return None
    opened, translation = found
    hypothesis = translation.hypotheses[shown_hypothesis(translation)]
    return Scene(opened, translation, hypothesis)


def headline(scene: Scene) -> None:
    """Says the translation, which is what the pictures below are about."""
    text = scene.hypothesis.text
    with st.container(key="headline"):
        if len(text) > LONGEST_HEADLINE:
            components.headline(text, scene.opened.task.target_code, key="long_headline")
        else:
            st.text(text or "(nothing)")
    if scene.is_given:
        st.caption("A translation of yours, which the decoder is made to read (teacher forcing).")
    else:
        doctor(scene.opened.file, scene.translation, scene.hypothesis)


def choose_sentence() -> tuple[Opened, Translation] | None:
    """Draws checkpoint, settings and sentence box, and translates; gives the sentence whose pictures are shown."""
    sentence_from_link()
    sidebar.take_upload()
    opened = sidebar.sidebar()
    sidebar.upload_problem()
    if opened is None:
        return None
    settings = sidebar.decoding_settings(opened.translator.settings)
    open_with_example(opened.task)
    text = _sentence_box(opened)
    translated = _translated(opened, text, settings)
    translation = _one_sentence(translated) if translated else None
    if translation is None:
        return None
    if st.session_state.get(GIVEN_FOR) == LINKED:
        st.session_state[GIVEN_FOR] = (opened.file, translation.source)
    given, _ = given_hypothesis(opened, translation)
    if given:
        translation = replace(translation, hypotheses=(*translation.hypotheses, given))
    return opened, translation


def given_hypothesis(opened: Opened, translation: Translation) -> tuple[Hypothesis | None, str]:
    """The visitor's own translation of the sentence, if there is one; or a sentence that says why it cannot be one."""
    text = str(st.session_state.get(GIVEN) or "")
    if not text.strip() or st.session_state.get(GIVEN_FOR) != (opened.file, translation.source):
        return None, ""
    pieces = tuple(st.session_state.get(GIVEN_PIECES) or opened.translator.tokenizer.encode(clean(text)))
    limit = checkpoints.most_pieces(opened.translator)
    if len(pieces) > limit:
        return None, f"Your translation has {len(pieces):,} pieces; the page shows up to {limit:,}. Please shorten it."
    try:
        target = pieces if st.session_state.get(GIVEN_PIECES) else text
        return cached_results.given(opened.file, translation.source, target, translation.settings), ""
    except HeadlightError as error:
        return None, str(error)


def _sentence_box(opened: Opened) -> str:
    fill_sentence_box()
    text = st.text_input(
        "Sentence",
        key=SENTENCE,
        on_change=typed,
        placeholder="Type a sentence and press Enter",
        autocomplete="off",
    )
    with st.container(key="bar", horizontal=True, vertical_alignment="center", gap="medium"):
        _meter(opened)
        if opened.task.examples:
            with st.popover("Examples", type="tertiary"):
                for number, example in enumerate(opened.task.examples):
                    st.button(example, key=f"example_{number}", on_click=_take, args=(example,), width="stretch")
                if opened.task.note:
                    st.caption(opened.task.note)
        fresh = bool(st.session_state.get(FRESH))
        texts = {SENTENCE: text or ""} | ({GIVEN: given} if (given := given_in_link(opened.file)) else {})
        components.link(texts, SENTENCE, boxes=(SECOND,), fresh=fresh, key="copy_link", on_kept=take_sentence)
    return text or ""


def _take(example: str) -> None:
    take_sentence(example)
    forget_choice()


@st.fragment
def _meter(opened: Opened) -> None:
    """How much of the limit is used, while typing: only this line is drawn again."""
    state = st.session_state.get("meter")
    draft = getattr(state, "draft", None)
    text = draft if isinstance(draft, str) else st.session_state[TEXT]
    used, sentences = checkpoints.pieces_needed(opened.file, text)
    unit = "pieces" if sentences < 2 else f"pieces in the longest of {sentences} sentences"
    components.meter(used, checkpoints.most_pieces(opened.translator), unit, watches="Sentence", key="meter")


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
    longest, sentences = checkpoints.pieces_needed(opened.file, text)
    limit = checkpoints.most_pieces(opened.translator)
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
            translated = cached_results.translate(opened.file, text, settings)
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
    chosen = shown(SHOWN_SENTENCE, len(sentences))
    if len(sentences) == 1:
        return sentences[0]
    st.header(f"{len(sentences)} sentences", anchor=False)
    st.caption("All are translated. The pictures below belong to the one that is marked; choose another by a click.")
    components.choices(
        [{"text": translation.text or "(nothing)", "second": translation.source} for translation in sentences],
        chosen,
        "Sentence to look into",
        key="sentences",
        on_choose=show_sentence,
    )
    return sentences[chosen]

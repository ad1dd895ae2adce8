"""The second sentence, whose encoder vectors replace those of the page's sentence. By default the two differ in one
word."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial

import streamlit as st

from app.figures.axes import in_words, visible
from app.languages import _, ngettext
from app.stage.scene import Scene, Selection, scene_of
from app.stage.text_check import NoScene
from app.state.choices import LONGEST_SECOND, PATCHED_SENTENCE
from app.views.shared.another_word import most_striking
from transformer.analysis.patching import Pair
from transformer.decoding.translation import Translation
from transformer.errors import HeadlightError


@dataclass(frozen=True)
class Sentences:
    """Both sentences, translated by the original model; `pair` is the input of the patching."""

    own: Translation
    other: Translation
    pair: Pair

    @property
    def tokens(self) -> tuple[str, ...]:
        """For each position: the token, or `own→other` where the sentences differ."""
        tokens = zip(self.own.source_tokens, self.other.source_tokens, strict=True)
        return tuple(
            visible(one.text if one.text == two.text else f"{one.text}→{two.text.removeprefix('▁')}")
            for one, two in tokens
        )

    @property
    def changed(self) -> tuple[int, ...]:
        """The positions with different tokens."""
        ids = zip(self.own.source_ids, self.other.source_ids, strict=True)
        return tuple(position for position, (one, other) in enumerate(ids) if one != other)


def other_sentence(scene: Scene) -> Sentences:
    """Draws the box for the other sentence, and its translation.

    Raises:
        NoScene: the sentence cannot be translated, or its vectors cannot be used; the message says why. A button that
            takes a suitable sentence is drawn, if there is one.
    """
    subject, settings = scene.subject.original, replace(scene.translation.settings, n_best=1)
    opening = most_striking(scene)
    if len(opening) > LONGEST_SECOND:
        opening = ""
    with st.container(key="patch_sentence", horizontal=True, vertical_alignment="center", gap="small"):
        text = _typed(opening)
        try:
            own, other = (
                scene_of(subject, each, settings, Selection()).translation for each in (scene.translation.source, text)
            )
            with st.container(key="text_patch_translation"):
                st.text(f"→ {other.hypotheses[0].text}")
            return _paired(own, other)
        except NoScene:
            if opening and opening != text:
                choose = partial(PATCHED_SENTENCE.choose, opening)
                st.button(_("Take one that fits"), key="patch_opening", on_click=choose)
            raise


def _typed(opening: str) -> str:
    """Draws the box and returns its text. Raises NoScene if there is none."""
    PATCHED_SENTENCE.open(opening)
    st.text(_("Vectors from"), width="content")
    st.text_input(_("The other sentence"), key=PATCHED_SENTENCE.key, persist_state="session",
                  max_chars=LONGEST_SECOND, label_visibility="collapsed", autocomplete="off",
                  placeholder=_("Type a sentence that differs in one word"))  # fmt: skip
    text = PATCHED_SENTENCE.value.strip() or opening
    if not text:
        raise NoScene(_("Type a second sentence that differs from yours in one word and has as many tokens."))
    return text


def _paired(own: Translation, other: Translation) -> Sentences:
    """Raises NoScene: the vectors of one cannot replace those of the other."""
    try:
        if len(own.source_ids) != len(other.source_ids):
            raise HeadlightError(_length_mismatch(own, other))
        targets = own.hypotheses[0].ids, other.hypotheses[0].ids
        return Sentences(own, other, Pair((own.source_ids, other.source_ids), targets))
    except HeadlightError as error:
        do = _("Replace one word by another with as many tokens and another translation.")
        raise NoScene(f"{error} {do}") from None


def _length_mismatch(own: Translation, other: Translation) -> str:
    """A sentence about the first place where the two have different numbers of tokens."""
    one, theirs = ([token.text for token in each.source_tokens] for each in (own, other))
    changes = SequenceMatcher(None, one, theirs, autojunk=False).get_opcodes()
    change = next(each for each in changes if each[2] - each[1] != each[4] - each[3])
    return _(
        "A vector can be replaced only by that of the same position, so both sentences need as many tokens. Yours has "
        "{own} where the other one has {other}.",
        own=_counted(one[change[1] : change[2]]),
        other=_counted(theirs[change[3] : change[4]]),
    )


def _counted(tokens: Sequence[str]) -> str:
    """Tokens as text, and how many they are."""
    if not tokens:
        return _("nothing (0 tokens)")
    text = visible(" ".join(map(in_words, tokens)))
    return ngettext("“{text}” ({count} token)", "“{text}” ({count} tokens)", len(tokens), text=text)

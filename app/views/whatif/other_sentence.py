"""The sentence whose vectors are patched into that of the page: by default one that differs in a word."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial

import streamlit as st

from app.figures.axes import in_words, visible
from app.languages import _, ngettext
from app.stage.scene import NoScene, Scene, Selection, scene_of
from app.state.choices import LONGEST_SECOND, PATCHED_SENTENCE
from app.views.shared.another_word import most_striking
from transformer.analysis.patching import Pair
from transformer.decoding.translation import Translation
from transformer.errors import HeadlightError


@dataclass(frozen=True)
class Sentences:
    """Both sentences, translated by the original model; `pair` is what can be patched."""

    own: Translation
    other: Translation
    pair: Pair

    @property
    def tokens(self) -> tuple[str, ...]:
        """What is at each position: one token, or that of the page's sentence, an arrow, and that of the other."""
        pieces = zip(self.own.source_pieces, self.other.source_pieces, strict=True)
        return tuple(
            visible(one.text if one.text == two.text else f"{one.text}→{two.text.removeprefix('▁')}")
            for one, two in pieces
        )

    @property
    def changed(self) -> tuple[int, ...]:
        """The positions with different tokens."""
        ids = zip(self.own.source_ids, self.other.source_ids, strict=True)
        return tuple(position for position, (one, other) in enumerate(ids) if one != other)


def other_sentence(scene: Scene) -> Sentences:
    """Draws the box and what the other sentence is translated to.

    Raises:
        NoScene: the two cannot be patched; the message says why. A button for what to do is drawn.
    """
    subject, settings = scene.subject.original, replace(scene.translation.settings, n_best=1)
    source, opening = scene.translation.source, most_striking(scene)
    with st.container(key="patch_sentence", horizontal=True, vertical_alignment="center", gap="small"):
        PATCHED_SENTENCE.open(opening[:LONGEST_SECOND])
        st.text(_("Vectors from"), width="content")
        st.text_input(_("The other sentence"), key=PATCHED_SENTENCE.key, persist_state="session",
                      max_chars=LONGEST_SECOND, label_visibility="collapsed", autocomplete="off",
                      placeholder=_("Type a sentence that differs in one word"))  # fmt: skip
        text = PATCHED_SENTENCE.value.strip() or opening
        if not text:
            raise NoScene(_("Type a second sentence that differs from yours in one word and has as many tokens."))
        try:
            own, other = (scene_of(subject, each, settings, Selection()).translation for each in (source, text))
            with st.container(key="text_patch_translation"):
                st.text(f"→ {other.hypotheses[0].text}")
            if len(own.source_ids) != len(other.source_ids):
                raise NoScene(_lengths(own, other))
            targets = own.hypotheses[0].ids, other.hypotheses[0].ids
            return Sentences(own, other, Pair((own.source_ids, other.source_ids), targets))
        except (HeadlightError, NoScene) as error:
            if opening and opening != text:
                choose = partial(PATCHED_SENTENCE.choose, opening)
                st.button(_("Take one that fits"), key="patch_opening", on_click=choose)
            do = _("Replace one word by another with as many tokens and another translation.")
            raise NoScene(f"{error} {do}") from None


def _lengths(own: Translation, other: Translation) -> str:
    """Where a word has another number of tokens."""
    one, its = ([piece.text for piece in each.source_pieces] for each in (own, other))
    changes = SequenceMatcher(None, one, its, autojunk=False).get_opcodes()
    change = next(each for each in changes if each[2] - each[1] != each[4] - each[3])
    return _(
        "A vector can be replaced only by that of the same position, so both sentences need as many tokens. Yours has "
        "{own} where the other one has {other}.",
        own=_counted(one[change[1] : change[2]]),
        other=_counted(its[change[3] : change[4]]),
    )


def _counted(pieces: Sequence[str]) -> str:
    """Tokens as text, and how many they are."""
    if not pieces:
        return _("nothing (0 tokens)")
    text = visible(" ".join(map(in_words, pieces)))
    return ngettext("“{text}” ({count} token)", "“{text}” ({count} tokens)", len(pieces), text=text)

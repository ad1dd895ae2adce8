"""The sentence whose vectors are patched into that of the page: by default one that differs in a word."""

from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial

import streamlit as st

from app.compute import patch_results
from app.figures.axes import in_words, visible
from app.figures.theme import counted
from app.library.word_pairs import with_a_word_twice, with_another_word
from app.stage.scene import NoScene, Scene, Selection, scene_of
from app.state.choices import LONGEST_SECOND, PATCHED_SENTENCE
from transformer.analysis.patching import Pair
from transformer.decoding.translation import Translation
from transformer.errors import HeadlightError

MOST = 8  # sentences of which one is chosen
MOST_TOKENS = 150  # of all of them


@dataclass(frozen=True)
class Sentences:
    """Both sentences, translated by the original model."""

    own: Translation
    other: Translation

    @property
    def pair(self) -> Pair:
        """Raises HeadlightError: nothing can be patched."""
        targets = self.own.hypotheses[0].ids, self.other.hypotheses[0].ids
        return Pair((self.own.source_ids, self.other.source_ids), targets)

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
    source = scene.translation.source
    found = _candidates(scene)
    opening = patch_results.most_spread(subject, source, found, settings) if found else ""
    with st.container(key="patch_sentence", horizontal=True, vertical_alignment="center", gap="small"):
        PATCHED_SENTENCE.open(opening[:LONGEST_SECOND])
        st.text("Vectors from", width="content")
        st.text_input("The other sentence", key=PATCHED_SENTENCE.key, persist_state="session",
                      max_chars=LONGEST_SECOND, label_visibility="collapsed", autocomplete="off",
                      placeholder="Type a sentence that differs in one word")  # fmt: skip
        text = PATCHED_SENTENCE.value.strip() or opening
        if not text:
            raise NoScene("Type a second sentence that differs from yours in one word and has as many tokens.")
        try:
            own, other = (scene_of(subject, each, settings, Selection()).translation for each in (source, text))
            with st.container(key="said_patch_translation"):
                st.text(f"→ {other.hypotheses[0].text}")
            both = Sentences(own, other)
            if len(own.source_ids) != len(other.source_ids):
                raise NoScene(_lengths(both))
            _ = both.pair
            return both
        except (HeadlightError, NoScene) as error:
            if opening and opening != text:
                st.button("Take one that fits", key="patch_opening", on_click=partial(PATCHED_SENTENCE.choose, opening))
            raise NoScene(f"{error} Replace one word by another with as many tokens and another translation.") from None


def _candidates(scene: Scene) -> tuple[str, ...]:
    """Sentences that differ in one word and have as many tokens."""
    source, tokens = scene.translation.source, scene.subject.translator.tokenizer.encode
    size, most = len(tokens(source)), max(min(MOST, MOST_TOKENS // len(scene.translation.source_ids)), 1)

    def fitting(sentences: list[str]) -> list[str]:
        return [each for each in sentences if len(tokens(each)) == size]

    found = fitting(with_another_word(source, scene.task.source)) or fitting(with_a_word_twice(source))
    return tuple(found[:most])


def _lengths(both: Sentences) -> str:
    """Where a word has another number of tokens."""
    one, other = ([piece.text for piece in each.source_pieces] for each in (both.own, both.other))
    changes = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    _, start, end, place, until = next(each for each in changes if each[2] - each[1] != each[4] - each[3])
    counts, words = [], []
    for pieces in (one[start:end], other[place:until]):
        words.append(f"“{visible(' '.join(map(in_words, pieces)))}”" if pieces else "nothing")
        counts.append(counted(len(pieces), "token"))
    return (
        f"A vector can be replaced only by that of the same position, so both sentences need as many tokens. Yours has "
        f"{words[0]} ({counts[0]}) where the other one has {words[1]} ({counts[1]})."
    )

"""The scene: the sentence and the translation of which the pages show pictures."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from app.compute import cached_results
from app.compute.cached_results import Attention
from app.compute.subject import Subject
from app.figures.axes import TokenAxis
from app.figures.mask_reasons import Parts
from app.languages import _
from app.library.checkpoints import MOST_TOKENS
from app.library.limits import MOST_EXTRA_LENGTH
from app.library.tasks import Task
from app.stage.text_check import NoScene, check_text
from app.state.choices import ALTERNATIVE, GIVEN_SHOWN
from app.state.given_translation import is_visitors
from transformer.analysis.batch_masks import mask_parts
from transformer.config import BOS, DecodingConfig, ModelConfig
from transformer.decoding.translation import Hypothesis, Translation
from transformer.errors import HeadlightError
from transformer.model.attention_kinds import Kind
from transformer.model.forced_target import shifted_right
from transformer.text.normalisation import clean


@dataclass(frozen=True)
class Selection:
    """Which translation of a text is shown.

    Attributes:
        sentence: the number of the sentence, from 0.
        alternative: the number of the hypothesis, from 0; GIVEN_SHOWN: the visitor's own translation.
        given: the visitor's own translation as text; "": there is none.
        given_ids: its tokens, if they are known: the visitor chose a token, or took a translation of the search.
        correct_spelling: whether the spelling of the text is corrected before it is translated.
    """

    sentence: int = 0
    alternative: int = 0
    given: str = ""
    given_ids: tuple[int, ...] = ()
    correct_spelling: bool = False


@dataclass(frozen=True)
class Scene:
    """One sentence and one translation of it by one model.

    Attributes:
        sentences: all sentences of the text, translated.
        translation: of the sentence that is shown. Its last hypothesis is the visitor's own, if there is one.
        shown: which of its hypotheses is shown, from 0.
        given: the visitor's own translation, which the decoder only reads (teacher forcing).
        problem: why the visitor's own translation cannot be shown.
    """

    subject: Subject
    sentences: tuple[Translation, ...]
    translation: Translation
    shown: int
    given: Hypothesis | None = None
    problem: str = ""

    @property
    def hypothesis(self) -> Hypothesis:
        """The hypothesis that is shown."""
        return self.translation.hypotheses[self.shown]

    def translated_by(self, subject: Subject) -> Translation:
        """This sentence, translated by a model; what the scene's own model wrote is not computed again."""
        found = self.translation
        return found if subject == self.subject else cached_results.translate_one(subject, found.source, found.settings)

    def best(self, subject: Subject) -> Hypothesis:
        """The best translation of this sentence by a model."""
        return self.translated_by(subject).hypotheses[0]

    @property
    def is_given(self) -> bool:
        """Whether the shown hypothesis is the visitor's own."""
        return self.given is not None and self.shown == len(self.translation.hypotheses) - 1

    @property
    def given_steps(self) -> tuple[int, ...]:
        """The steps, from 0, of the shown hypothesis whose token the visitor gave."""
        return tuple(filter(is_visitors, range(len(self.hypothesis.ids)))) if self.is_given else ()

    @property
    def listed(self) -> tuple[int, ...]:
        """The numbers, from 0, of the hypotheses in a list of translations. If the search also found the visitor's own
        translation, it is in the list once, as the visitor's."""
        found = enumerate(self.translation.hypotheses)
        return tuple(i for i, one in found if not self.given or one is self.given or one.ids != self.given.ids)

    @property
    def shown_in_list(self) -> int:
        """The place of the shown hypothesis among the listed ones."""
        return self.listed.index(self.shown) if self.shown in self.listed else len(self.listed) - 1

    def show(self, index: int) -> None:
        """Chooses another hypothesis, from 0."""
        is_given = self.given is not None and index == len(self.translation.hypotheses) - 1
        ALTERNATIVE.choose(GIVEN_SHOWN if is_given else index)

    @property
    def config(self) -> ModelConfig:
        return self.subject.config

    @property
    def task(self) -> Task:
        return self.subject.task

    @property
    def sizes(self) -> dict[str, int]:
        """The number that each letter of a shape, such as (H, T, S), stands for in this scene."""
        config = self.config
        return {
            "S": len(self.source), "T": len(self.target), "H": config.heads, "E": config.d_k, "D": config.d_model,
            "F": config.d_ff, "V": config.vocab_size,
        }  # fmt: skip

    @property
    def source(self) -> TokenAxis:
        """The S tokens that the encoder reads."""
        tokens = tuple(token.text for token in self.translation.source_tokens)
        return TokenAxis(_("{language} (source)", language=self.task.source), "encoder", tokens)

    @property
    def target(self) -> TokenAxis:
        """The T rows of the decoder: what each reads, and what it predicts."""
        read = (self.subject.translator.tokenizer.token(BOS), *self.hypothesis.tokens[:-1])
        return TokenAxis(
            _("{language} (translation)", language=self.task.target), "decoder", read, self.hypothesis.tokens
        )

    def mask_parts(self, kind: Kind) -> Parts:
        """The padding mask, the causal mask and the window of this kind of attention, each (Q, K)."""
        return mask_parts(self.config, self.translation.source_ids, shifted_right(self.hypothesis.ids), kind)

    def axes(self, kind: Kind) -> tuple[TokenAxis, TokenAxis]:
        """(queries, keys) of this kind of attention."""
        if kind == "encoder":
            return self.source, self.source
        if kind == "cross":
            return self.target, self.source
        return self.target, TokenAxis(
            _("{language} (translation), as read", language=self.task.target), "decoder", self.target.tokens
        )

    def attention(self, kind: Kind) -> Attention:
        """All heads of this kind of attention."""
        return cached_results.attention(self.subject, self.translation.source_ids, self.hypothesis.ids, kind)

    def record(self, *sites: str) -> Mapping[str, np.ndarray]:
        """What the model computed at these sites (names or patterns), without the batch axis; computed once and kept.

        For example `record("decoder.layers.0.cross_attention.weights")` has one array (H, T, S).
        """
        return cached_results.record(self.subject, self.translation.source_ids, self.hypothesis.ids, sites)

    @property
    def as_in_steps(self) -> "Scene":
        """The same translation, of which one pass computes what the steps of decoding compute: a step has no later
        tokens yet, also if an edit allows them."""
        return replace(self, subject=self.subject.as_in_steps)

    @property
    def step_logits(self) -> np.ndarray:
        """(T, V): the logits of each step of decoding."""
        return self.as_in_steps.record("logits")["logits"]


def scene_key(scene: Scene) -> str:
    """A text that identifies the model, what it reads and what it writes. The browser compares it to find out which
    messages are about the same scene."""
    parts = (scene.subject, scene.translation.source_ids, scene.hypothesis.ids)
    return hashlib.blake2s(repr(parts).encode(), digest_size=8).hexdigest()


def scene_of(subject: Subject, text: str, settings: DecodingConfig, selection: Selection) -> Scene:
    """Translates the text and selects what is shown. Draws nothing.

    Raises:
        NoScene: the text is empty, too long, or cannot be translated.
    """
    check_text(subject, text)
    try:
        translated = cached_results.translate(subject, text, settings, correct_spelling=selection.correct_spelling)
    except HeadlightError as error:
        raise NoScene(str(error)) from None
    sentences = [each for each in translated.sentences if each.hypotheses]
    if not sentences:
        raise NoScene(_("Nothing is left to translate: the text has only white space or invisible characters."))
    translation = sentences[selection.sentence if selection.sentence < len(sentences) else 0]
    given, problem = _given(subject, translation, selection)
    if given:
        translation = replace(translation, hypotheses=(*translation.hypotheses, given))
    last = len(translation.hypotheses) - 1
    shown = last if selection.alternative == GIVEN_SHOWN and given else selection.alternative
    return Scene(subject, tuple(sentences), translation, shown if 0 <= shown <= last else 0, given, problem)


def _given(subject: Subject, translation: Translation, selection: Selection) -> tuple[Hypothesis | None, str]:
    """The visitor's own translation, if there is one; or why it cannot be shown."""
    if not selection.given.strip():
        return None, ""
    ids = selection.given_ids or tuple(subject.translator.tokenizer.target.encode(clean(selection.given)))
    limit = min(subject.translator.max_length, MOST_TOKENS + MOST_EXTRA_LENGTH)  # as many as the search may write
    if len(ids) > limit:
        return None, _(
            "Your translation has {length:,} tokens; the page shows up to {limit:,}. Please shorten it.",
            length=len(ids),
            limit=limit,
        )
    try:
        target = selection.given_ids or selection.given
        return cached_results.given(subject.as_in_steps, translation.source, target, translation.settings), ""
    except HeadlightError as error:
        return None, str(error)

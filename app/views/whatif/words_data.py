"""How much each word of the source counts for each token of the translation, by several methods; and the translation
with another word in the sentence."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.compute import cached_results, word_results
from app.compute.outcomes import Outcome
from app.compute.subject import Subject
from app.figures.head_sharpness import is_control
from app.figures.tokens_to_words import spelled, words_of
from app.languages import _, gettext_noop
from app.library import checkpoints
from app.stage.scene import Scene
from transformer.analysis import rollout
from transformer.analysis.attribution import Integrated
from transformer.config import EOS
from transformer.decoding.translation import Hypothesis, Translation
from transformer.errors import TranslationError
from transformer.text.normalisation import normalise

Method = Literal["occlusion", "gradient", "integrated", "attention", "rollout"]
NAMES: dict[Method, str] = {
    "occlusion": gettext_noop("Occlusion"),
    "gradient": gettext_noop("Gradient × input"),
    "integrated": gettext_noop("Integrated gradients"),
    "attention": gettext_noop("Attention"),
    "rollout": gettext_noop("Rollout"),
}


@dataclass(frozen=True)
class Words:
    """A sentence that the original model translates.

    Attributes:
        positions: the tokens of each word, </s> left out.
        values: by method, (T, W).
        integrated: the integrated gradients; None if they were not asked for.
        work: see `work_of`.
    """

    subject: Subject
    translation: Translation
    positions: tuple[tuple[int, ...], ...]
    values: dict[Method, np.ndarray]
    integrated: Integrated | None
    work: float

    @property
    def own(self) -> Hypothesis:
        """The translation of the sentence as it is."""
        return self.translation.hypotheses[0]

    @property
    def names(self) -> list[str]:
        """The words."""
        tokens = [token.text for token in self.translation.source_tokens]
        return [spelled([tokens[at] for at in word]) for word in self.positions]

    @property
    def most_needed(self) -> int:
        """The number of the word without which the translation loses most."""
        return int(self.values["occlusion"].sum(axis=0).argmax())

    @property
    def agreed(self) -> int:
        """For how many tokens all methods have the same most important word."""
        first = np.stack([values.argmax(axis=1) for values in self.values.values()])  # (methods, T)
        return int((first == first[0]).all(axis=0).sum())

    def agreeing_with_occlusion(self, method: Method) -> int:
        """For how many tokens a method has the same most important word as occlusion."""
        return int((self.values[method].argmax(axis=1) == self.values["occlusion"].argmax(axis=1)).sum())

    def changed(self, word: int, new: str) -> Outcome:
        """The translation with `new` in place of the word, or without the word if `new` is empty.

        Raises TranslationError.
        """
        ids, at = self.translation.source_ids, self.positions[word]
        source = self._with(word, new) if new else (*ids[: at[0]], *ids[at[-1] + 1 :])
        after = cached_results.translate_ids(self.subject, source, self.translation.settings)
        before, now = (word_results.log_probabilities(self.subject, each, self.own.ids) for each in (ids, source))
        return Outcome(self.own, after, tuple((before - now).tolist()))

    def _with(self, word: int, new: str) -> tuple[int, ...]:
        """The ids of the sentence with `new` in place of the word. Raises TranslationError if it is too long."""
        translator, text, at = self.subject.translator, self.translation.source, self.positions[word]
        begin, end = self.translation.source_tokens[at[0]].begin, self.translation.source_tokens[at[-1]].end
        space = " " if text[begin:end].startswith(" ") else ""
        ids = translator.tokenizer.encode(normalise(text[:begin] + space + new + text[end:]))
        most = checkpoints.most_tokens(translator)
        if len(ids) > most:
            raise TranslationError(
                _(
                    "The changed sentence has {tokens:,} tokens; the page shows up to {limit:,} with this checkpoint. "
                    "Type a shorter word.",
                    tokens=len(ids),
                    limit=most,
                )
            )
        return (*ids, EOS)


def translated(scene: Scene) -> Translation:
    """The sentence of the page, by the original model."""
    return scene.translated_by(scene.subject.original)


def work_of(scene: Scene, found: Translation) -> float:
    """A measure of how long it takes: rows of the grid x tokens x parameters."""
    rows = len(found.hypotheses[0].ids)
    return float(rows * (rows + len(found.source_ids)) * scene.subject.original.translator.model.parameter_count)


def words_of_sentence(scene: Scene, integrate: bool) -> Words:
    """Computes all methods; integrated gradients, which take seconds, only with `integrate`."""
    subject, found = scene.subject.original, translated(scene)
    tokens = [token.text for token in found.source_tokens]
    positions = tuple(word for word in words_of(tokens) if not is_control(tokens[word[0]]))
    asked = subject, found.source_ids, found.hypotheses[0].ids

    def by_word(values: np.ndarray) -> np.ndarray:
        return np.stack([values[:, list(word)].sum(axis=1) for word in positions], axis=1)  # (T, S) -> (T, W)

    weights = cached_results.observed(*asked).attention
    own, cross = weights["decoder"].weights, weights["cross"].weights
    from_source = rollout.decoder_rollout(own, cross, rollout.rollout(weights["encoder"].weights)[-1])[1]
    values: dict[Method, np.ndarray] = {
        "occlusion": word_results.occlusion(*asked, positions).T,
        "gradient": by_word(word_results.gradient_times_input(*asked).T),
        "attention": by_word(cross.mean(axis=(0, 1))),
        "rollout": by_word(from_source[-1]),
    }
    integrated = word_results.integrated_gradients(*asked) if integrate else None
    if integrated:
        values["integrated"] = by_word(integrated.values.T)
    return Words(subject, found, positions, values, integrated, work_of(scene, found))

"""The Translator: text in, text out. transformer/README.md shows what else it can do.

    translator = Translator.load("pretrained/en-de.safetensors")
    print(translator.translate("Where is the nearest train station?").text)

The text is normalised and split into sentences and tokens; sentences of similar length are searched together.
"""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, overload

import torch

from transformer.analysis.trace import EVERYTHING, Trace, trace
from transformer.checkpoint.checkpoint_file import Checkpoint, load_checkpoint
from transformer.config import DecodingConfig
from transformer.decoding.changed_settings import changed_settings
from transformer.decoding.fast.search_model import SearchModel, refreshed, search_model
from transformer.decoding.hypotheses import hypotheses
from transformer.decoding.request import NOTHING, Request, SourceReader, reads_first_words
from transformer.decoding.search import search, similar_lengths
from transformer.decoding.teacher_forcing import given
from transformer.decoding.translation import Hypothesis, TranslatedText, Translation
from transformer.errors import TranslationError
from transformer.files.checksum import sha256_of
from transformer.files.untrusted_values import validate
from transformer.model import EditedTransformer, Transformer
from transformer.model.probe import SiteEdit
from transformer.text.normalisation import normalise
from transformer.text.sentence_splitting import split_text
from transformer.text.tokenizer import Tokenizer

Precision = Literal["float32", "bfloat16"]


class Translator:
    """A model with its tokenizer. It stores nothing of what it translates, so threads may share it.

    Args:
        model: in eval mode, on the device to be used.
        tokenizer: the one it was trained with.
        settings: the default settings of a search.
        checkpoint: the checkpoint of the model, if it was loaded from one.
        first_words: whether the model has learnt to read first words in lower case (`transformer/text/recasing.py`).
    """

    def __init__(
        self,
        model: Transformer,
        tokenizer: Tokenizer,
        settings: DecodingConfig | None = None,
        checkpoint: Checkpoint | None = None,
        first_words: bool = False,
    ):
        self.model = model
        self._search_model = search_model(model)
        self.tokenizer = tokenizer
        self.settings = settings or DecodingConfig()
        self.checkpoint = checkpoint
        self.sources = SourceReader(tokenizer, model.config.max_positions, first_words)

    @property
    def max_length(self) -> int:
        """The most tokens that a sentence may have."""
        return self.sources.max_length

    @classmethod
    def load(
        cls, path: str | Path, device: str | torch.device = "cpu", precision: Precision = "float32"
    ) -> "Translator":
        """Loads a checkpoint; the settings of its recipe become the default.

        Args:
            precision: of the weights and of all computations except scores, which are float32. bfloat16 is faster on
                hardware that supports it, and rounds to two or three digits. Traces need float32.

        Raises:
            CheckpointError: the file cannot be used; the message lists everything that is wrong with it.
        """
        checkpoint = load_checkpoint(path, device)
        checkpoint.model.to(getattr(torch, precision))
        settings, _ = validate(DecodingConfig, (checkpoint.recipe or {}).get("decoding", {}))
        # `settings` is None if they are invalid, or of another version; the checkpoint can still be used.
        return cls(checkpoint.model, checkpoint.tokenizer, settings, checkpoint, reads_first_words(checkpoint.recipe))

    @overload
    def translate(self, text: str, settings: DecodingConfig | None = None, **changes: Any) -> TranslatedText: ...

    @overload
    def translate(
        self, text: Iterable[str], settings: DecodingConfig | None = None, **changes: Any
    ) -> list[TranslatedText]: ...

    def translate(
        self, text: str | Iterable[str], settings: DecodingConfig | None = None, **changes: Any
    ) -> TranslatedText | list[TranslatedText]:
        """Translates a text of any number of sentences and lines, or many texts together, which is faster.

        Args:
            text: one text, or several. The translations of several are a list in the same order, in which an empty text
                has an empty translation.
            settings: how to search; without it, the default of this translator.
            changes: single settings to change, by the names in `DecodingConfig`: `translate(text, beam=8)`.

        Raises:
            TranslationError: there is nothing to translate, a sentence is too long, or the scores are NaN.
            ConfigError: `changes` are not settings, or contradict each other.
        """
        settings = changed_settings(settings or self.settings, changes)
        texts = [split_text(one) for one in ([text] if isinstance(text, str) else text)]
        if isinstance(text, str) and not any(normalise(sentence) for sentence in texts[0][0]):
            raise TranslationError(NOTHING)
        translated = iter(self.translate_sentences([each for sentences, _ in texts for each in sentences], settings))
        found = [TranslatedText(tuple(islice(translated, len(sentences))), between) for sentences, between in texts]
        return found[0] if isinstance(text, str) else found

    def translate_sentences(
        self,
        sentences: Sequence[str],
        settings: DecodingConfig | None = None,
        *,
        keep_tree: bool = False,
        prefix: str | Sequence[int] = (),
        batch_tokens: int = 4096,
        padded: bool = False,
    ) -> list[Translation]:
        """Translates sentences separately, in order. An empty one has an empty translation.

        Args:
            keep_tree: also return every candidate of the search.
            prefix: the beginning of each translation: text, `clean`ed as targets in training, or ids without <s>.
            batch_tokens: size of a batch: sentences x hypotheses of each x length of the longest source.
            padded: whether sentences of different length share a batch also if an edit makes padding change the result.

        Raises:
            TranslationError: a sentence is too long, the prefix is not possible, or the scores are NaN. All sentences
                and the prefix are checked before anything is computed.
        """
        settings = settings or self.settings
        forced = self.sources.prefix_ids(prefix)
        requests = [self.sources.read(sentence, settings, forced) for sentence in sentences]
        for number, request in enumerate(requests, start=1):
            if request.problem:
                where = f"Sentence {number} of {len(requests)}: " if len(requests) > 1 else ""
                raise TranslationError(f"{where}{request.problem}")
        found = self._search(requests, settings, forced, keep_tree, batch_tokens, padded)
        if problem := next((result for result in found if isinstance(result, TranslationError)), None):
            raise problem
        return [result for result in found if isinstance(result, Translation)]

    def translate_each(
        self, sentences: Sequence[str], settings: DecodingConfig | None = None, *, batch_tokens: int = 4096
    ) -> list[Translation | TranslationError]:
        """As `translate_sentences`, but the result of a sentence that cannot be translated is its error."""
        settings = settings or self.settings
        requests = [self.sources.read(sentence, settings) for sentence in sentences]
        return self._search(requests, settings, [], False, batch_tokens)

    def _search(
        self,
        requests: list[Request],
        settings: DecodingConfig,
        prefix: list[int],
        keep_tree: bool,
        batch_tokens: int,
        padded: bool = False,
    ) -> list[Translation | TranslationError]:
        done: list[Translation | TranslationError] = [one.problem or one.translated(settings) for one in requests]
        lengths = [0 if request.problem else len(request.ids) for request in requests]
        equal = self.model.depends_on_padding and not padded
        for batch in similar_lengths(lengths, settings, batch_tokens, equal=equal):
            found = search(self._current_search_model(), [requests[i].ids for i in batch], settings, prefix, keep_tree)
            for i, result in zip(batch, found, strict=True):
                try:
                    ranked, tree = hypotheses(result, settings, self.tokenizer, len(prefix) if keep_tree else None)
                    done[i] = requests[i].translated(settings, ranked, tree)
                except TranslationError as error:
                    done[i] = error
        return done

    def _current_search_model(self) -> SearchModel:
        self._search_model = refreshed(self._search_model, self.model)
        return self._search_model

    def translate_ids(self, source_ids: Sequence[int], settings: DecodingConfig | None = None) -> Hypothesis:
        """The best translation of a source given as ids. No text needs to have these ids: they may be shuffled.

        Args:
            source_ids: as the encoder reads them, </s> included; at most as many as the model has positions.

        Raises:
            TranslationError: the scores are NaN.
        """
        settings = settings or self.settings
        (found,) = search(self._current_search_model(), [list(source_ids)], settings)
        return hypotheses(found, settings, self.tokenizer, None)[0][0]

    def edited(self, edits: Mapping[str, SiteEdit]) -> "Translator":
        """A translator whose model shares these weights and applies these edits in every pass, searches included."""
        found = copy.copy(self)
        found.model = EditedTransformer(self.model, edits)
        found._search_model = search_model(found.model, self._current_search_model())
        return found

    def correcting_spelling(self, is_foreign: Callable[[str], bool] | None = None) -> "Translator":
        """The same, but it corrects the spelling of what it reads, if its checkpoint has words (text/spelling.py).

        Args:
            is_foreign: whether a sentence is of another language and stays as it is; None: all are corrected.
        """
        found = copy.copy(self)
        words = self.checkpoint.words if self.checkpoint else None
        found.sources = replace(self.sources, words=words, is_foreign=is_foreign)
        return found

    def score(self, source: str, target: str | Sequence[int], settings: DecodingConfig | None = None) -> Hypothesis:
        """Teacher forcing: the probability of each token of a given translation.

        Args:
            source: one sentence.
            target: text, or ids without <s> and </s>: a text has several segmentations, ids are one of them.
            settings: of the length penalty in the normalised score.

        Raises:
            TranslationError: a sentence is empty or too long, or the target has characters that the vocabulary lacks.
        """
        settings = settings or self.settings
        request = self.sources.read(source, settings)
        if request.problem or not request.ids:
            raise request.problem or TranslationError(NOTHING)
        return given(self.model, self.tokenizer, request.ids, target, settings)

    def trace(
        self, sentence: str, sites: str | Iterable[str] = EVERYTHING, settings: DecodingConfig | None = None
    ) -> Trace:
        """Translates one sentence and records what the model computed for the best translation.

        Args:
            sites: what to record: names, or patterns such as `"*.cross_attention.weights"`; without it, everything.

        Raises:
            HeadlightError: the sentence cannot be translated, or no site has such a name.
        """
        (found,) = self.translate_sentences([sentence], settings)
        if not found.hypotheses:
            raise TranslationError(NOTHING)
        traced = trace(self.model, found.source_ids, found.hypotheses[0].ids, sites, self.tokenizer.token)
        if self.checkpoint is None:
            return traced.named(found.source)
        path, edited = self.checkpoint.path, ", edited" if isinstance(self.model, EditedTransformer) else ""
        return traced.named(found.source, f"{path.stem}{edited}", sha256_of(path))

"""The Translator: text in, text out.

    translator = Translator.load("pretrained/en-de.safetensors")
    print(translator.translate("Where is the nearest train station?").text)

It makes text plain (`normalise`), cuts it into sentences and those into pieces, gathers sentences of like length into
batches, searches, and puts everything back in order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import torch

from transformer.checkpoint.checkpoint_file import Checkpoint, load_checkpoint
from transformer.checkpoint.untrusted_config import validate
from transformer.config import EOS, DecodingConfig
from transformer.decoding.fast.fast_transformer import FastTransformer
from transformer.decoding.hypotheses import hypotheses
from transformer.decoding.length_penalty import length_limit
from transformer.decoding.search import search
from transformer.decoding.teacher_forcing import given
from transformer.decoding.translation import Hypothesis, TranslatedText, Translation
from transformer.errors import ConfigError, TranslationError
from transformer.model import Transformer
from transformer.text.normalisation import clean, normalise
from transformer.text.sentence_splitting import split_sentences
from transformer.text.tokenizer import Piece, Tokenizer

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class Translator:
    """A model with its tokenizer. It keeps nothing of what it translates: threads may share one.

    Args:
        model: in eval mode, on the device where it shall run.
        tokenizer: the one it was trained with.
        settings: how to search, unless a call says otherwise.
        checkpoint: where it all came from, if it came from a file.
    """

    def __init__(
        self,
        model: Transformer,
        tokenizer: Tokenizer,
        settings: DecodingConfig | None = None,
        checkpoint: Checkpoint | None = None,
    ):
        self.model = model
        self._search_model = search_model(model)
        self.tokenizer = tokenizer
        self.settings = settings or DecodingConfig()
        self.checkpoint = checkpoint
        self.max_length = model.config.max_positions - 1  # pieces in a sentence; </s> needs one position, too

    @classmethod
    def load(
        cls,
        path: str | Path,
        device: str | torch.device = "cpu",
        precision: Literal["float32", "bfloat16"] = "float32",
    ) -> "Translator":
        """Loads a checkpoint; the settings of its recipe become the default.

        Args:
            precision: of the weights and all that is computed but scores, which are float32. bfloat16 is faster where
                the hardware multiplies it, and rounds to two or three digits. Traces need float32.

        Raises:
            CheckpointError: the file cannot be used; the message lists everything that is wrong with it.
        """
        checkpoint = load_checkpoint(path, device)
        checkpoint.model.to(PRECISIONS[precision])
        recipe = checkpoint.recipe or {}
        settings, _ = validate(DecodingConfig, recipe.get("decoding", {}))
        # None: settings that are none, or of another version; the checkpoint is good all the same.
        return cls(checkpoint.model, checkpoint.tokenizer, settings or DecodingConfig(), checkpoint)

    def translate(self, text: str, settings: DecodingConfig | None = None, **changes: Any) -> TranslatedText:
        """Translates a text of any number of sentences and lines.

        Args:
            settings: how to search; without it, the default of this translator.
            changes: single settings to change, by the names in `DecodingConfig`: `translate(text, beam=8)`.

        Raises:
            TranslationError: there is nothing to translate, a sentence is too long, or the scores are NaN.
            ConfigError: `changes` are no settings, or do not go together.
        """
        settings = _changed(settings or self.settings, changes)
        sentences: list[str] = []
        separators: list[str] = []
        for line in text.splitlines() or [""]:
            found = split_sentences(line)
            sentences += found or [""]
            separators += [" "] * (len(found) - 1) + ["\n"]
        if not any(normalise(sentence) for sentence in sentences):
            raise TranslationError("There is nothing to translate: the text is empty. Type a sentence.")
        separators[-1] = ""
        return TranslatedText(tuple(self.translate_sentences(sentences, settings)), tuple(separators))

    def translate_sentences(
        self,
        sentences: Sequence[str],
        settings: DecodingConfig | None = None,
        *,
        keep_tree: bool = False,
        prefix: str | Sequence[int] = (),
        batch_tokens: int = 4096,
    ) -> list[Translation]:
        """Translates sentences, each by itself, and keeps their order. An empty one has an empty translation.

        Args:
            keep_tree: also return every candidate of the search.
            prefix: how each translation has to begin: text, or ids without <s>. Text is `clean`ed as targets are in
                training: a typographic quote stays one.
            batch_tokens: size of a batch: sentences x hypotheses of each x length of the longest source.

        Raises:
            TranslationError: a sentence is too long, the prefix is not possible, or the scores are NaN. All sentences
                and the prefix are checked before anything is computed.
        """
        found = self._translate(sentences, settings or self.settings, keep_tree, prefix, batch_tokens, check_first=True)
        for result in found:
            if isinstance(result, TranslationError):
                raise result
        return [result for result in found if isinstance(result, Translation)]

    def translate_each(
        self, sentences: Sequence[str], settings: DecodingConfig | None = None, *, batch_tokens: int = 4096
    ) -> list[Translation | TranslationError]:
        """As `translate_sentences`, but a sentence that cannot be translated gives its error, not one for all."""
        return self._translate(sentences, settings or self.settings, False, (), batch_tokens, check_first=False)

    def _translate(
        self,
        sentences: Sequence[str],
        settings: DecodingConfig,
        keep_tree: bool,
        prefix: str | Sequence[int],
        batch_tokens: int,
        *,
        check_first: bool,
    ) -> list[Translation | TranslationError]:
        sources = [normalise(sentence) for sentence in sentences]
        pieces = [self._read(source) for source in sources]
        ids = [[piece.id for piece in sentence] for sentence in pieces]  # of an empty sentence: none
        forced = self.tokenizer.encode(clean(prefix)) if isinstance(prefix, str) else list(prefix)
        self._check_prefix(forced)
        done: dict[int, Translation | TranslationError] = {}
        for i, source in enumerate(sources):
            where = f"Sentence {i + 1} of {len(sources)}" if check_first and len(sources) > 1 else "The sentence"
            problem = self._problem(where, source, ids[i], forced, settings)
            if problem and check_first:
                raise problem
            if problem or not ids[i]:
                done[i] = problem or Translation(source, (), (), (), (), settings)
        if isinstance(self._search_model, FastTransformer) and not self._search_model.is_current():
            self._search_model = search_model(self.model)
        for batch in batches([0 if i in done else len(ids[i]) for i in range(len(ids))], settings, batch_tokens):
            found = search(self._search_model, [ids[i] for i in batch], settings, forced, keep_tree)
            for i, result in zip(batch, found, strict=True):
                try:
                    ranked, tree = hypotheses(result, settings, self.tokenizer, len(forced) if keep_tree else None)
                    done[i] = Translation(sources[i], tuple(pieces[i]), tuple(ids[i]), ranked, tree, settings)
                except TranslationError as error:
                    done[i] = error
        return [done[i] for i in range(len(sources))]

    def score(self, source: str, target: str | Sequence[int], settings: DecodingConfig | None = None) -> Hypothesis:
        """Teacher forcing: how probable the model finds a translation that is given, piece by piece.

        Args:
            source: one sentence.
            target: text, or ids without <s> and </s>: the same text can be cut into pieces in several ways.
            settings: says how the normalised score is made.

        Raises:
            TranslationError: a sentence is empty or too long, or the vocabulary cannot write the target.
        """
        source = normalise(source)
        ids = [piece.id for piece in self._read(source)]
        if not ids:
            raise TranslationError("There is nothing to translate: the text is empty. Type a sentence.")
        settings = settings or self.settings
        if problem := self._problem("The sentence", source, ids, [], settings):
            raise problem
        return given(self.model, self.tokenizer, ids, target, settings)

    def _read(self, source: str) -> list[Piece]:
        """The pieces as the encoder reads them, </s> included; none if there is nothing to read."""
        pieces = self.tokenizer.analyse(source)
        end = Piece(EOS, self.tokenizer.piece(EOS), len(source), len(source), "control")
        return [*pieces, end] if pieces else []

    def _problem(
        self, where: str, source: str, ids: list[int], prefix: list[int], settings: DecodingConfig
    ) -> TranslationError | None:
        """Why this sentence cannot be translated, if it cannot."""
        beginning = source if len(source) <= 40 else source[:40] + "…"
        if len(ids) - 1 > self.max_length:
            return TranslationError(
                f"{where} ({beginning!r}) has {len(ids) - 1:,} pieces, and this model reads at most "
                f"{self.max_length:,}. Split it into shorter sentences."
            )
        limit = length_limit(len(ids), settings, self.model.config.max_positions)
        if ids and len(prefix) >= limit:
            return TranslationError(
                f"The prefix has {len(prefix):,} pieces, and the translation of {beginning!r} may have at most "
                f"{limit - 1:,}. Shorten the prefix, or raise max_extra_length."
            )
        return None

    def _check_prefix(self, prefix: list[int]) -> None:
        """Raises TranslationError if no translation can begin so."""
        wrong = [id for id in prefix if not EOS < id < self.tokenizer.vocab_size]
        if wrong:
            raise TranslationError(
                f"A translation cannot begin with {self.tokenizer.piece(wrong[0])} (id {wrong[0]}). "
                "The prefix may contain ordinary pieces only."
            )


def search_model(model: Transformer) -> Transformer | FastTransformer:
    """The model as a search uses it: on a CPU its inference copy, which is measured to be faster there."""
    return FastTransformer(model) if model.output.weight.is_cpu else model


def batches(lengths: list[int], settings: DecodingConfig, batch_tokens: int) -> list[list[int]]:
    """Sentences of like length together, so that little is padded: lists of their numbers. Length 0 is left out."""
    rows = settings.beam if settings.method == "beam" else settings.n_best  # decoded side by side for a sentence
    found: list[list[int]] = []
    longest = 0
    for i in sorted((i for i, length in enumerate(lengths) if length), key=lambda i: -lengths[i]):
        if not found or (len(found[-1]) + 1) * rows * longest > batch_tokens:
            found.append([])
            longest = lengths[i]
        found[-1].append(i)
    return found


def _changed(settings: DecodingConfig, changes: Mapping[str, Any]) -> DecodingConfig:
    """Raises ConfigError, with a sentence for each value that cannot be."""
    found, problems = validate(DecodingConfig, {**asdict(settings), **changes})
    if found is None:
        raise ConfigError(" ".join(problems))
    return found

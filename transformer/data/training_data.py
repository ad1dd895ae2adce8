"""From a recipe's [data] to an endless stream of batches, and to the text that the run is validated on.

    pairs of sentences -> tokenizer (trained here if none is given) -> ids -> batches of about equally many tokens

The batches of an epoch depend only on (seed, epoch), so a position in the stream is two integers (`Position`). The
pairs and their ids come from pair_sources.py.
"""

import logging
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from transformer.checkpoint.checkpoint_file import load_tokenizer
from transformer.checkpoint.length_statistics import lengths_of
from transformer.config import OF_TRANSLATIONS, Recipe
from transformer.data.batch_parts import Share
from transformer.data.batches import Batch, Batches, batch_indices, collate
from transformer.data.corpus import Pair
from transformer.data.encoded_pairs import EncodedPairs
from transformer.data.encoding import encode_pairs
from transformer.data.epochs import Epochs
from transformer.data.pair_sources import Corpus, Source, Toy
from transformer.data.source_words import source_words
from transformer.data.text_warnings import text_warnings
from transformer.errors import CorpusError, TrainingError
from transformer.files.atomic_write import replacing
from transformer.text.pair_tokenizer import read_tokenizer_file
from transformer.text.recasing import with_known_first_word
from transformer.text.spelling import WordList
from transformer.text.tokenizer import Tokenizer

MUCH = 0.05  # of the pairs: so many that are too long are probably a mistake
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Position:
    """The next batch is number `batch` of epoch `epoch`, both counted from 0."""

    epoch: int = 0
    batch: int = 0


class TrainingData:
    """The training and validation data of a run.

    Attributes:
        tokenizer: given, or trained on the training pairs; stored in `run_dir/tokenizer.model`.
        valid_pairs, valid_batches: text and ids of the validation set.
        fingerprint: changes when the training text does.
        files: the parts of the corpus, with SHA-256 sums and counts, for the metrics of a checkpoint; [] for a toy.
        lengths: statistics of the lengths of training sentences, see `transformer.checkpoint.length_statistics`.
        judged_by: how and on which text validations are scored, to notice when scores cannot be compared.

    Raises:
        CorpusError: no usable pair, or a file that cannot be read, with its name and line.
    """

    def __init__(self, recipe: Recipe, run_dir: Path, tokenizer: Tokenizer | None = None):
        self._config = recipe.data
        self._seed = recipe.training.seed
        self._source: Source = Corpus(recipe, run_dir) if recipe.data.toy is None else Toy(recipe)
        self.tokenizer = find_tokenizer(recipe, run_dir, self._source, tokenizer)
        self._given = self.tokenizer if tokenizer or recipe.tokenizer.model else None
        self._first = self._source.epoch(0, self.tokenizer)
        self.size = len(self._first)
        if not self.size:
            raise CorpusError(
                f"None of the {self._first.too_long} training pairs is at most data.max_length = "
                f"{recipe.data.max_length} tokens long. Raise data.max_length."
            )
        self._source.report(self._first, run_dir)
        self.valid_pairs, self.valid_batches = self._validation(self._source.valid)
        self.fingerprint = self._first.fingerprint
        self.files = [part.described() for part in self._source.parts]
        self.lengths = lengths_of(*self._first.lengths)
        self.judged_by = f"{recipe.training.best_by}, {zlib.crc32(repr(self.valid_pairs).encode()):08x}"
        if recipe.training.best_by in OF_TRANSLATIONS:
            translated, extra = recipe.training.validation_sentences, recipe.decoding.max_extra_length
            # Resuming compares this text with the stored one, so it stays as it is, also its word for tokens
            self.judged_by += f", {translated} sentences translated, at most {extra} pieces longer"

    def warnings(self) -> list[str]:
        """What is probably wrong with the text or its vocabulary (text_warnings.py)."""
        if self._source.text is None:
            return []
        found = text_warnings(self._source.text, self._config, self._given)
        too_long, pairs = self._first.too_long, self._first.too_long + self.size
        if too_long / pairs > MUCH:
            found.append(
                f"{too_long} of {pairs} pairs ({too_long / pairs:.0%}) are left out, because they have more than "
                f"data.max_length = {self._config.max_length} tokens. Raise data.max_length, and with it "
                "model.max_positions, or split the text into sentences."
            )
        return found

    def warn(self) -> None:
        """Logs the warnings."""
        for warning in self.warnings():
            log.warning("Warning: %s", warning)

    def words(self) -> WordList | None:
        """The words of the source text (source_words.py). None for a toy task."""
        return source_words(self._source.text, self.valid_pairs) if self._source.text else None

    def stream(self, at: Position, share: Share = Share(), total: int = 0) -> Iterator[tuple[Batch, Position]]:  # noqa: B008 (it is frozen)
        """Batches without end, from a position on; each with the position after it.

        Args:
            share: the share of this rank in each batch.
            total: how many batches will be drawn in all. If they are more than the rest of the current epoch, a thread
                prepares the next epoch meanwhile. 0: each epoch is prepared when it begins.
        """
        epoch, first, drawn = at.epoch, at.batch, 0
        epochs = Epochs(self._in_batches)
        while True:
            pairs, order = epochs.take(epoch)
            if drawn + len(order) - first < total:
                epochs.prepare(epoch + 1)
            if first > len(order):
                raise TrainingError(
                    f"The state of this run is at batch {first} of epoch {epoch + 1}, which has {len(order)}. "
                    "It is damaged: start again in another --run-dir."
                )
            for number in range(first, len(order)):
                yield share.batch(pairs, order[number], drawn % share.accumulate), Position(epoch, number + 1)
                drawn += 1
            epoch, first = epoch + 1, 0

    @property
    def batches_per_epoch(self) -> int:
        """The number of batches in the first epoch. Others may have a few more or less, because their first batch has
        a random size."""
        return len(batch_indices(*self._first.lengths, self._config.tokens_per_batch, self._seed, 0))

    def _epoch(self, epoch: int) -> EncodedPairs:
        """The pairs of one epoch as ids."""
        return self._source.epoch(epoch, self.tokenizer) if epoch and self._source.changes else self._first

    def _in_batches(self, epoch: int) -> tuple[EncodedPairs, Batches]:
        """The pairs of one epoch as ids, and its batches."""
        pairs = self._epoch(epoch)
        return pairs, batch_indices(*pairs.lengths, self._config.tokens_per_batch, self._seed, epoch)

    def _validation(self, pairs: list[Pair]) -> tuple[list[Pair], list[Batch]]:
        """Text and batches, without pairs that are longer than data.max_length; sources as a translator reads them."""
        if self._config.augment.first_word:
            pairs = [(with_known_first_word(source, self.tokenizer), target) for source, target in pairs]
        encoded = encode_pairs(self.tokenizer, pairs, self._config.max_length)
        if not len(encoded):
            own = "Give other validation text." if self._config.valid else "Raise data.max_length or data.valid_size."
            raise CorpusError(f"No validation pair is at most data.max_length tokens long. {own}")
        if encoded.too_long:
            sides = (self.tokenizer, self.tokenizer.target)
            longest = [max(len(side.encode(text)) for side, text in zip(sides, pair, strict=True)) for pair in pairs]
            pairs = [pair for pair, length in zip(pairs, longest, strict=True) if length <= self._config.max_length]
            log.warning("%d validation pairs left out: they are longer than data.max_length.", encoded.too_long)
        tokens = min(self._config.tokens_per_batch, max(4000, self._config.max_length + 1))
        return pairs, [collate(*encoded.select(indices)) for indices in batch_indices(*encoded.lengths, tokens, 0, 0)]


def find_tokenizer(recipe: Recipe, run_dir: Path, source: Source, given: Tokenizer | None = None) -> Tokenizer:
    """The tokenizer of this run, stored in its folder: the given one, otherwise the one that the recipe names,
    otherwise one trained on the text."""
    kept = run_dir / "tokenizer.model"
    if given is not None:
        tokenizer = given
    elif recipe.tokenizer.model is not None:
        tokenizer = _read_tokenizer(Path(recipe.tokenizer.model))
    else:
        tokenizer = source.learn_tokenizer()
    try:
        with replacing(kept) as temporary:
            temporary.write_bytes(tokenizer.to_bytes())
    except OSError as error:
        raise TrainingError(f"The tokenizer cannot be written to {kept}: {error.strerror or error}.") from error
    return tokenizer


def _read_tokenizer(path: Path) -> Tokenizer:
    if path.suffix == ".safetensors":
        return load_tokenizer(path)
    try:
        return read_tokenizer_file(path)
    except OSError as error:
        raise CorpusError(f"tokenizer.model = {path} cannot be read: {error.strerror or error}.") from None

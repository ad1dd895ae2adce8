"""From a recipe's [data] to an endless stream of batches, and to the text that the run is validated on.

    pairs of sentences -> vocabulary (trained here if none is given) -> ids -> batches of about equally many tokens

The stream is a function of (seed, epoch) alone, so a position in it is two integers.
"""

import logging
import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from transformer.checkpoint import load_checkpoint
from transformer.config import DataConfig, Recipe, TokenizerConfig
from transformer.errors import CorpusError, TrainingError
from transformer.files import replacing
from transformer.text.batches import Batch, EncodedPairs, encode_pairs
from transformer.text.corpus import Pair, read_aligned, read_pairs
from transformer.text.splits import set_aside, shared_pairs
from transformer.text.tokenizer import Tokenizer
from transformer.text.toy import toy_lines, toy_pairs

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Position:
    """The next batch is number `batch` of epoch `epoch`, both counted from 0."""

    epoch: int = 0
    batch: int = 0


class TrainingData:
    """What a run learns from and is validated on.

    Attributes:
        tokenizer: given, or trained on the training pairs and kept in `run_dir/tokenizer.model`.
        valid_pairs, valid_batches: text and ids of the validation set.
        fingerprint: changes when the training text does.
        judged_by: changes when validations are scored otherwise, or on other text.

    Raises:
        CorpusError: no usable pair, or a file that cannot be read, with its name and line.
    """

    def __init__(self, recipe: Recipe, run_dir: Path, tokenizer: Tokenizer | None = None):
        self._config = recipe.data
        self._seed = recipe.training.seed
        self._sampling = recipe.tokenizer.sampling
        self._pairs, valid = read_text(recipe.data, self._seed)
        self.tokenizer = find_tokenizer(recipe, run_dir, self._pairs, tokenizer)
        self._first = self._encode(self._pairs, epoch=0)
        self.size = len(self._first)
        if not self.size:
            raise CorpusError(
                f"None of the {len(self._pairs)} training pairs is at most data.max_length = {recipe.data.max_length} "
                "pieces long. Raise data.max_length."
            )
        if self._first.too_long:
            log.warning(
                "%d training pairs with more than %d pieces left out.", self._first.too_long, recipe.data.max_length
            )
        if not self._sampling:
            self._pairs = []  # not needed again, and large
        self.valid_pairs, self.valid_batches = self._validation(valid)
        checksum = zlib.crc32(self._first.sources.ids.tobytes() + self._first.targets.ids.tobytes())
        self.fingerprint = f"{self.size} pairs, {checksum:08x}"
        self.judged_by = f"{recipe.training.best_by}, {zlib.crc32(repr(self.valid_pairs).encode()):08x}"
        if recipe.training.best_by != "loss":  # which needs no translations
            translated, extra = recipe.training.validation_sentences, recipe.decoding.max_extra_length
            self.judged_by += f", {translated} sentences translated, at most {extra} pieces longer"

    def stream(self, at: Position) -> Iterator[tuple[Batch, Position]]:
        """Batches without end, from a position on; each with the position after it."""
        epoch, first = at.epoch, at.batch
        while True:
            pairs = self._epoch(epoch)
            order = pairs.batches(self._config.tokens_per_batch, self._seed, epoch)
            if first > len(order):
                raise TrainingError(
                    f"The state of this run stands at batch {first} of epoch {epoch + 1}, which has {len(order)}. "
                    "It is damaged: start again in another --run-dir."
                )
            for number in range(first, len(order)):
                yield pairs.collate(order[number]), Position(epoch, number + 1)
            epoch, first = epoch + 1, 0

    def _epoch(self, epoch: int) -> EncodedPairs:
        """The pairs of one epoch as ids: the same ones each time, unless they are made or cut anew for it."""
        if epoch and self._config.toy is not None:
            return self._encode(toy(self._config, self._seed, epoch), epoch)
        if epoch and self._sampling:
            return self._encode(self._pairs, epoch)
        return self._first

    def _encode(self, pairs: list[Pair], epoch: int) -> EncodedPairs:
        rng = random.Random(f"subwords {self._seed} {epoch}")
        return encode_pairs(self.tokenizer, pairs, self._config.max_length, alpha=self._sampling, rng=rng)

    def _validation(self, pairs: list[Pair]) -> tuple[list[Pair], list[Batch]]:
        """Text and ids. Sentences that the model could not read, or was never taught to, are left out of both."""
        encoded = encode_pairs(self.tokenizer, pairs, self._config.max_length)
        if not len(encoded):
            raise CorpusError("No validation pair is at most data.max_length pieces long. Give other validation text.")
        if encoded.too_long:
            longest = [max(len(ids) for ids in self.tokenizer.encode_batch(pair)) for pair in pairs]
            pairs = [pair for pair, length in zip(pairs, longest, strict=True) if length <= self._config.max_length]
            log.warning("%d validation pairs left out: they are longer than data.max_length.", encoded.too_long)
        tokens = min(self._config.tokens_per_batch, max(4000, self._config.max_length + 1))
        return pairs, [encoded.collate(indices) for indices in encoded.batches(tokens, 0, 0)]


def read_text(config: DataConfig, seed: int) -> tuple[list[Pair], list[Pair]]:
    """(training pairs, validation pairs) as text. For a toy task: those of epoch 0, and held-out ones."""
    if config.toy is not None:
        return toy(config, seed, 0), toy(config, seed, 0, held_out=True)
    pairs = _read(config, config.train, config.train_target)
    if config.valid is not None:
        valid = _read(config, (config.valid,), (config.valid_target,) if config.valid_target else ())
        if shared := shared_pairs(pairs, valid):
            log.warning(
                "%d of %d validation pairs stand in the training text too: scores will flatter.", shared, len(valid)
            )
        return pairs, valid
    train, valid, dropped = set_aside(pairs, config.valid_size, seed)
    if not train:
        raise CorpusError(
            f"Of {len(pairs)} pairs, data.valid_size = {config.valid_size} are to be set aside for validation, which "
            "leaves none to learn from. Lower data.valid_size, or give data.valid."
        )
    log.info("%d pairs set aside for validation, %d that resemble them dropped.", len(valid), dropped)
    return train, valid


def _read(config: DataConfig, sources: tuple[str, ...], targets: tuple[str, ...]) -> list[Pair]:
    if targets:
        return [pair for files in zip(sources, targets, strict=True) for pair in read_aligned(*files)]
    return [pair for file in sources for pair in read_pairs(file, config.source_column, config.target_column)]


def toy(config: DataConfig, seed: int, epoch: int, held_out: bool = False) -> list[Pair]:
    """The pairs of one epoch of a toy task."""
    assert config.toy is not None
    return toy_pairs(
        config.toy,
        seed,
        config.valid_size if held_out else config.toy_epoch,
        epoch=epoch,
        held_out=held_out,
        symbols=config.toy_symbols,
        min_length=config.toy_min_length,
        max_length=config.toy_max_length,
        max_number=config.toy_max_number,
    )


def find_tokenizer(recipe: Recipe, run_dir: Path, pairs: list[Pair], given: Tokenizer | None = None) -> Tokenizer:
    """The vocabulary of this run, kept in its folder: if it is resumed, that one; else the given one, the one that the
    recipe names, or one trained on the pairs."""
    kept = run_dir / "tokenizer.model"
    if kept.exists():
        return Tokenizer.from_bytes(kept.read_bytes())
    if given is not None:
        tokenizer = given
    elif recipe.tokenizer.model is not None:
        tokenizer = _read_tokenizer(Path(recipe.tokenizer.model))
    else:
        tokenizer = _train_tokenizer(recipe.data, recipe.tokenizer, pairs)
    try:
        with replacing(kept) as temporary:
            temporary.write_bytes(tokenizer.to_bytes())
    except OSError as error:
        raise TrainingError(f"The vocabulary cannot be written to {kept}: {error.strerror or error}.") from error
    return tokenizer


def _train_tokenizer(data: DataConfig, config: TokenizerConfig, pairs: list[Pair]) -> Tokenizer:
    log.info("Learning a vocabulary of up to %d pieces; Ctrl-C is heard once it is done.", config.vocab_size)
    lines = toy_lines(data.toy) if data.toy is not None else (side for pair in pairs for side in pair)
    return Tokenizer.train(lines, config)


def _read_tokenizer(path: Path) -> Tokenizer:
    if path.suffix == ".safetensors":
        return load_checkpoint(path).tokenizer
    try:
        return Tokenizer.from_bytes(path.read_bytes())
    except OSError as error:
        raise CorpusError(f"tokenizer.model = {path} cannot be read: {error.strerror or error}.") from None

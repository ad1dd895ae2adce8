"""The source of the pairs of an epoch: a toy task, generated in memory, or a corpus, prepared on disk.

Folders prepared from a corpus are named by a hash of what they were made from, so other runs on this text find them:

    text-...         the cleaned pairs           <- the files (in any folder), options for cleaning, validation text
    tokenizer-...    the vocabulary              <- that text, the options of [tokenizer]
    ids-...          the pairs as ids            <- that text, the vocabulary, max_length
    epoch-...        the ids of a later epoch, if each epoch has different ids
    sources-...      back-translated sources     <- a monolingual file, the model that wrote them (monolingual.py)

They are stored in the run's folder `prepared`, or in the folder of data.prepared; epoch-... always in the former.
"""

import json
import logging
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

import sentencepiece

from transformer.config import Recipe
from transformer.data.corpus import Pair, read_all, stamp
from transformer.data.data_options import DataConfig
from transformer.data.encoded_pairs import EncodedPairs, read_encoded_pairs
from transformer.data.encoding import Segmentation, encode_pairs, encode_text
from transformer.data.parts import Part, parts_of, texts_of
from transformer.data.prepared_store import Store, reading, store_of
from transformer.data.prepared_text import TrainingText, UsedPart
from transformer.data.skipped_lines import SkippedLines
from transformer.data.text_preparation import write_text
from transformer.data.toy_tasks import TOY_TASKS, Bounds, held_out_pairs, toy_pairs
from transformer.errors import BadLine, CorpusError
from transformer.files.atomic_write import replacing
from transformer.text.pair_tokenizer import read_tokenizer
from transformer.text.tokenizer import Tokenizer

log = logging.getLogger(__name__)

TEST_SEED = 0  # of the pairs of a toy task on which finished models are scored
FORMAT = 3  # increased when a new version writes other files for the same text, so that old files are not found


class Source(Protocol):
    """Pairs for training, in epochs, and pairs for validation.

    Attributes:
        valid: the pairs for validation.
        parts: the parts of the corpus, with their files and numbers of pairs.
        changes: whether epochs have different pairs or ids.
    """

    valid: list[Pair]
    parts: list[UsedPart]
    changes: bool

    @property
    def text(self) -> TrainingText | None:
        """The prepared corpus; None: a toy task."""

    def learn_tokenizer(self) -> Tokenizer:
        """A tokenizer trained on this text."""

    def epoch(self, number: int, tokenizer: Tokenizer) -> EncodedPairs:
        """The pairs of one epoch, counted from 0."""

    def report(self, pairs: EncodedPairs, run_dir: Path) -> None:
        """Logs, and stores in the run's folder, how many pairs were used; `pairs` are those of epoch 0."""


class Toy:
    """A `Source` of new pairs in each epoch."""

    changes = True

    def __init__(self, recipe: Recipe):
        self._recipe, self.text, self.parts = recipe, None, list[UsedPart]()
        self.valid = toy(recipe.data, recipe.training.seed, 0, held_out=True)

    def learn_tokenizer(self) -> Tokenizer:
        assert self._recipe.data.toy is not None
        return _learn(TOY_TASKS[self._recipe.data.toy].tokenizer_lines(), self._recipe)

    def epoch(self, number: int, tokenizer: Tokenizer) -> EncodedPairs:
        pairs = toy(self._recipe.data, self._recipe.training.seed, number)
        how = segmentation_for(self._recipe, tokenizer, number)
        return encode_pairs(tokenizer, pairs, how.max_length, how.alpha, how.rng())

    def report(self, pairs: EncodedPairs, run_dir: Path) -> None:
        if pairs.too_long:
            log.warning("%d training pairs with more than data.max_length tokens left out.", pairs.too_long)


class Corpus:
    """A `Source` of the same pairs in each epoch, perhaps with different ids."""

    def __init__(self, recipe: Recipe, run_dir: Path):
        data, seed = recipe.data, recipe.training.seed
        self._recipe = recipe
        self._own, self._store = Store(run_dir / "prepared"), store_of(data, run_dir)
        self._epochs: list[Path] = []
        self.changes = recipe.tokenizer.sampling > 0 or data.swap_names > 0 or data.augment.is_on
        given = texts_of(data, (data.valid,), (data.valid_target,) if data.valid_target else ()) if data.valid else None
        skip_limit = data.skip_limit if data.on_error == "skip" else None
        with _option_to_skip():
            valid = None if given is None else read_all(given, skip_limit)
        parts = parts_of(data, run_dir)
        made_from = {
            "format": [FORMAT, unicodedata.unidata_version],
            "texts": [stamp(part.text) for part in parts],
            "use": [_use(part) for part in parts],
            "valid": [data.valid_size, seed] if given is None else [stamp(text) for text in given],
            "cleaning": [data.max_ratio, data.drop_copies, data.drop_duplicates],
        } | ({"skip_limit": skip_limit} if data.on_error == "skip" else {})
        with _option_to_skip():
            self._folder = self._store.find_or_make("text", made_from, partial(write_text, parts, valid, data, seed))
        self.text = TrainingText(self._folder, parts)
        self.parts = self.text.parts
        self.valid = self.text.validation_pairs() if valid is None else valid

    def learn_tokenizer(self) -> Tokenizer:
        options = asdict(self._recipe.tokenizer) | {"model": None, "sampling": None}
        made_from = {"text": self._folder.name, "options": options, "sentencepiece": sentencepiece.__version__}

        def learn(folder: Path) -> None:
            learnt = _learn(self.text.sentences(), self._recipe)
            (folder / "tokenizer.model").write_bytes(learnt.to_bytes())

        folder = self._store.find_or_make("tokenizer", made_from, learn)
        with reading(folder):
            return read_tokenizer((folder / "tokenizer.model").read_bytes())

    def epoch(self, number: int, tokenizer: Tokenizer) -> EncodedPairs:
        how = segmentation_for(self._recipe, tokenizer, number)
        made_from = {
            "text": self._folder.name,
            "tokenizer": blake2b(how.model).hexdigest(),
            "max_length": how.max_length,
            "alpha": how.alpha,
            "swap_names": how.swap_names,
            "augment": asdict(how.augment),
            "chance": how.seed,
        }
        # Later epochs are encoded while the run shows its own progress bar.
        make = partial(encode_text, self.text, how, self._recipe.data.workers, show=not number)
        store, kind = (self._own, "epoch") if number else (self._store, "ids")
        folder = store.find_or_make(kind, made_from, make)
        with reading(folder):
            pairs = read_encoded_pairs(folder)
        if number:
            # The two previous epochs are kept, because this epoch may be prepared while the previous one is still in
            # use, and ranks on other machines may be some batches behind.
            self._epochs = [*self._epochs[-2:], folder]
            self._own.drop("epoch", but=self._epochs)
        return pairs

    def report(self, pairs: EncodedPairs, run_dir: Path) -> None:
        counts = replace(self.text.counts, too_long=pairs.too_long, learnt=len(pairs))
        log.info("%s", counts)
        for part in self.parts:
            if part.skipped:
                log.warning("%s", SkippedLines(part.skipped, part.first_skipped).described(part.name, part.read))
        if counts.shared:
            log.warning(
                "%d of %d validation pairs are also in the training text: scores will be too high.",
                counts.shared,
                len(self.valid),
            )
        with _writing(run_dir / "corpus.json") as path:
            counts.write(path)
        with _writing(run_dir / "corpus-files.json") as path:
            described = [asdict(part) for part in self.parts]
            path.write_text(json.dumps(described, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        for name, aside in self.text.kept_aside().items():  # for `evaluate`
            with _writing(run_dir / "aside" / f"{name}.tsv") as path:
                path.write_text("".join(f"{source}\t{target}\n" for source, target in aside), encoding="utf-8")


def _use(part: Part) -> list[object]:
    """How a part is used. Without newer options it is as older versions have written it, so their runs can be resumed
    with the text that they prepared. (There, pairs with a tag may be for validation.)"""
    newer = [] if part.only is None and (part.is_real or part.tag) else [part.only, part.is_real]
    return [part.weight, part.tag, part.aside, part.in_file_order, *newer]


@contextmanager
def _option_to_skip() -> Iterator[None]:
    """A context in which the error of a line that cannot be read names the option of a recipe that skips
    such lines."""
    try:
        yield
    except BadLine as error:
        raise CorpusError(f'{error}\nTo skip such lines and count them, set data.on_error = "skip".') from None


@contextmanager
def _writing(path: Path) -> Iterator[Path]:
    """A temporary path; what is written to it replaces `path` at the end of the context. Raises CorpusError."""
    try:
        path.parent.mkdir(exist_ok=True)
        with replacing(path) as temporary:
            yield temporary
    except OSError as error:
        raise CorpusError(
            f"{path} cannot be written: {error.strerror or error}. Free some space and run the same command again."
        ) from error


def segmentation_for(recipe: Recipe, tokenizer: Tokenizer, epoch: int) -> Segmentation:
    """How the text of one epoch becomes tokens."""
    alpha, data = recipe.tokenizer.sampling, recipe.data
    seed = f"subwords {recipe.training.seed} {epoch}" if alpha or data.swap_names or data.augment.is_on else ""
    return Segmentation(tokenizer.to_bytes(), data.max_length, alpha, data.swap_names, data.augment, seed)


def toy(config: DataConfig, seed: int, epoch: int, held_out: bool = False) -> list[Pair]:
    """The pairs of one epoch of a toy task, or (`held_out`) those for validation."""
    assert config.toy is not None
    if held_out:
        return held_out_pairs(config.toy, seed, config.valid_size, _bounds(config))
    return toy_pairs(config.toy, seed, config.toy_epoch, _bounds(config), epoch=epoch)


def toy_test_pairs(config: DataConfig) -> list[Pair]:
    """1,000 pairs of a toy task, in which sources may repeat, on which finished models are scored: the same for every
    seed of a run, and never among its pairs for training."""
    assert config.toy is not None
    return held_out_pairs(config.toy, TEST_SEED, 1000, _bounds(config))


def _bounds(config: DataConfig) -> Bounds:
    return Bounds(config.toy_symbols, config.toy_min_length, config.toy_max_length, config.toy_max_number)


def _learn(lines: Iterable[str], recipe: Recipe) -> Tokenizer:
    log.info(
        "Training a tokenizer of up to %d tokens; Ctrl-C takes effect when it is done.", recipe.tokenizer.vocab_size
    )
    return Tokenizer.train(lines, recipe.tokenizer)

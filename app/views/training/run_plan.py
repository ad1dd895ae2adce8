"""What a visitor may train: a toy task, or text of their own, within what a browser may ask for."""

from bisect import bisect_left
from collections import Counter
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Literal, Protocol

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from transformer.config import Recipe
from transformer.errors import HeadlightError
from transformer.recipe import load_recipe

CORPUS = "corpus.tsv"
MOST_MEGABYTES = 20  # of an uploaded corpus
SNAPSHOTS = 14
BYTES = 256 + 4  # tokens that every vocabulary has, beside those of characters and of what they make up
LEAST_COVERAGE = 0.98  # sentencepiece takes no less
MOST_CHARACTERS = 12_000

Layers = Annotated[int, Field(ge=1, le=4)]
Heads = Literal[1, 2, 4, 8]
Width = Literal[32, 64, 128, 256]
Updates = Annotated[int, Field(ge=10, le=20_000)]


class LaunchError(HeadlightError):
    """A run cannot be started, stopped or resumed; the message says why."""


@dataclass(frozen=True, config=ConfigDict(extra="forbid", strict=True))
class Size:
    """How large a model and how long, within what a browser may ask for."""

    updates: Updates
    encoder_layers: Layers
    decoder_layers: Layers
    heads: Heads
    width: Width

    def options(self) -> list[str]:
        """The same as changes of a recipe, with snapshots that are dense where most is learnt."""
        warmup = max(1, min(150, self.updates // 8))
        kept_after = sorted({round(self.updates * (i / (SNAPSHOTS - 1)) ** 1.6) for i in range(SNAPSHOTS)})
        often = max(1, self.updates // 60)
        return [
            *(f"model.{name}={getattr(self, name)}" for name in ("encoder_layers", "decoder_layers", "heads")),
            f"model.d_model={self.width}",
            f"model.d_ff={self.width}",
            f"training.updates={self.updates}",
            f"training.warmup={warmup}",
            f"training.log_every={often}",
            f"training.validate_every={max(1, self.updates // 6)}",
            f"training.save_every={max(1, self.updates // 6)}",
            "training.validation_sentences=100",
            f"training.snapshots={kept_after}",
        ]


class Plan(Protocol):
    """What shall be trained."""

    @property
    def name(self) -> str: ...

    def recipe(self, folder: Path) -> Recipe:
        """The recipe, once all it needs lies in the folder of the run."""


@dataclass(frozen=True)
class ToyPlan:
    """A toy task, its pairs made on the fly."""

    task: str
    size: Size

    @property
    def name(self) -> str:
        return self.task

    def recipe(self, folder: Path) -> Recipe:
        return load_recipe(self.task, self.size.options())


@dataclass(frozen=True)
class TextPlan:
    """A corpus that somebody uploaded: sentence, TAB, translation."""

    corpus: bytes
    source_language: Annotated[str, Field(pattern="^[a-z]{2}$")]
    target_language: Annotated[str, Field(pattern="^[a-z]{2}$")]
    size: Size

    @property
    def name(self) -> str:
        return f"{self.source_language}-{self.target_language}"

    def recipe(self, folder: Path) -> Recipe:
        if len(self.corpus) > MOST_MEGABYTES * 1_000_000:
            raise LaunchError(
                f"The file is larger than {MOST_MEGABYTES} MB. Train on large text with `python -m transformer train`."
            )
        if self.corpus.startswith(b"\x1f\x8b"):
            raise LaunchError("The file is packed (gzip). Upload it unpacked, as .tsv.")
        (folder / CORPUS).write_bytes(self.corpus)
        lines = self.corpus.count(b"\n") + 1
        pieces, coverage = vocabulary(self.corpus)
        changes = [
            f"data.train={CORPUS}",
            f"data.valid_size={max(1, min(300, lines // 20))}",
            f"data.source_language={self.source_language}",
            f"data.target_language={self.target_language}",
            "data.valid=none",
            "data.max_length=100",
            "data.tokens_per_batch=2000",
            f"tokenizer.vocab_size={pieces}",
            f"tokenizer.character_coverage={coverage}",
            *self.size.options(),
        ]
        recipe = load_recipe("en-de", changes)
        return replace(recipe, data=replace(recipe.data, train=(str(folder / CORPUS),)))


def vocabulary(corpus: bytes) -> tuple[int, float]:
    """How many tokens serve a text, and what share of its characters have a token of their own; the others are written
    in bytes. Chinese and Japanese have more characters than a small vocabulary holds: then it is larger.

    Raises:
        LaunchError: even the usual ones of its characters are more than any language has.
    """
    pieces = 4000 if corpus.count(b"\n") >= 5000 else 1000
    found = Counter(corpus.decode(errors="ignore"))
    for between in "\t\r\n":
        del found[between]
    totals = list(accumulate(sorted(found.values(), reverse=True)))  # of the 1, 2, 3, ... most frequent characters
    room = (pieces - BYTES) * 3 // 4
    if len(totals) <= room:
        return pieces, 1.0
    share = max(LEAST_COVERAGE, totals[room - 1] / totals[-1])
    needed = bisect_left(totals, share * totals[-1]) + 1
    if needed > MOST_CHARACTERS:
        raise LaunchError(f"The file has {len(totals):,} different characters. Upload text in UTF-8.")
    return max(pieces, BYTES + needed * 4 // 3), share

"""What a visitor may train: a toy task, or text of their own, within what a browser may ask for."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, Protocol

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from app.library.catalogue import entry
from app.library.checkpoints import CheckpointFile
from app.library.names_of_languages import LONGEST
from app.views.training.own_text import OwnText
from transformer.checkpoint.header import read_header
from transformer.config import Recipe
from transformer.fit_to_corpus import snapshot_updates
from transformer.recipe import load_recipe

MOST_TOKENS = 100  # of a sentence of one's own text

MOST_LAYERS = 6
WIDEST = 256
FEWEST_UPDATES, MOST_UPDATES = 10, 50_000

Layers = Annotated[int, Field(ge=1, le=MOST_LAYERS)]
Heads = Literal[1, 2, 4, 8]
Width = Literal[32, 64, 128, 256]
Updates = Annotated[int, Field(ge=FEWEST_UPDATES, le=MOST_UPDATES)]
# The tag of a language, or the name that the visitor typed
LanguageTag = Annotated[str, Field(pattern=r"^[^\s/\x00-\x1f][^/\x00-\x1f]*$", max_length=LONGEST)]
STRICT = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, config=STRICT)
class Size:
    """How large the model is and how long it is trained, within what a browser may ask for."""

    updates: Updates
    encoder_layers: Layers
    decoder_layers: Layers
    heads: Heads
    width: Width

    def options(self) -> list[str]:
        """The size as changes of a recipe."""
        return [
            *(f"model.{name}={getattr(self, name)}" for name in ("encoder_layers", "decoder_layers", "heads")),
            f"model.d_model={self.width}",
            *self.options_of_updates(),
        ]

    def options_of_updates(self) -> list[str]:
        """Only the number of updates, and snapshots that are dense where most is learnt."""
        return [f"training.updates={self.updates}", f"training.snapshots={list(snapshot_updates(self.updates))}"]

    def options_of_toys(self) -> list[str]:
        """The changes for a toy task. Its recipe does not fit the other options to the size, so they are set here."""
        often = max(1, self.updates // 60)
        return [
            *self.options(),
            f"model.d_ff={self.width}",
            f"training.warmup={max(1, min(150, self.updates // 8))}",
            f"training.log_every={often}",
            f"training.validate_every={max(1, self.updates // 6)}",
            f"training.save_every={max(1, self.updates // 6)}",
            "training.validation_sentences=100",
        ]


class Plan(Protocol):
    """What is to be trained."""

    @property
    def name(self) -> str: ...

    def recipe(self, folder: Path) -> Recipe:
        """The recipe, after storing all that it needs in the folder of the run."""


@dataclass(frozen=True)
class ToyPlan:
    """A toy task, whose pairs are made during the training."""

    task: str
    size: Size

    @property
    def name(self) -> str:
        return self.task

    def recipe(self, folder: Path) -> Recipe:
        return load_recipe(self.task, self.size.options_of_toys())


@dataclass(frozen=True)
class TextPlan:
    """Pairs of sentences that the visitor uploaded.

    Attributes:
        valid: the text for validation; None: some of the pairs are set aside for it.
        start_from: the checkpoint that gives the first weights and the architecture; None: random weights.
    """

    text: OwnText
    source_language: LanguageTag
    target_language: LanguageTag
    size: Size
    valid: OwnText | None = None
    start_from: CheckpointFile | None = None

    @property
    def name(self) -> str:
        return f"{self.source_language}-{self.target_language}"

    @property
    def _keeps_vocabulary(self) -> bool:
        """Whether the checkpoint translates between the same languages."""
        languages = (self.source_language, self.target_language)
        return self.start_from is not None and entry(self.start_from).languages == languages

    def recipe(self, folder: Path) -> Recipe:
        """Raises CheckpointError: the checkpoint to start from cannot be read."""
        text = self.text.store(folder, "corpus")
        changes = [
            f"data.train={_toml([str(text)])}",
            f"data.source_language={_toml(self.source_language)}",
            f"data.target_language={_toml(self.target_language)}",
        ]
        if self.valid:
            changes.append(f"data.valid={_toml(str(self.valid.store(folder, 'valid')))}")
        if any(text.bad for text in (self.text, self.valid) if text):
            changes.append("data.on_error=skip")
        if self.start_from is None:
            return load_recipe("own-text", [*changes, f"data.max_length={MOST_TOKENS}", *self.size.options()])
        return self._continued(changes, self.start_from.path)

    def _continued(self, changes: list[str], checkpoint: str) -> Recipe:
        """The recipe of a run that starts with the weights, and so with the architecture, of a checkpoint."""
        model = read_header(checkpoint).config
        longest = min(MOST_TOKENS, model.max_positions - 1)
        start = [f"training.init_from={_toml(checkpoint)}"]
        if not self._keeps_vocabulary:
            start.append("training.own_vocabulary=true")
        recipe = load_recipe(
            "own-text", [*changes, *start, f"data.max_length={longest}", *self.size.options_of_updates()]
        )
        fitted = {name: getattr(recipe.model, name) for name in ("vocab_size", "dropout", "embedding_dropout")}
        return replace(recipe, model=replace(model, **fitted))


def _toml(value: str | list[str]) -> str:
    return json.dumps(value, ensure_ascii=False)

"""The subject: which model the app asks."""

from dataclasses import dataclass, replace

from app.library.checkpoints import CheckpointFile, load
from app.library.tasks import Task, task_of
from transformer.analysis.edits import EditName, edits_of
from transformer.config import ModelConfig
from transformer.decoding.translator import Translator


@dataclass(frozen=True)
class Subject:
    """The model of a checkpoint file, with edits or without. Hashable: what a model computes is cached by its subject.

    Attributes:
        edits: what every pass changes, see `transformer.analysis.edits`.
    """

    file: CheckpointFile
    edits: tuple[EditName, ...] = ()

    def edited(self, *edits: EditName) -> "Subject":
        """The same with these edits, too."""
        return replace(self, edits=(*self.edits, *edits))

    @property
    def translator(self) -> Translator:
        """Raises CheckpointError, OSError: the file cannot be loaded, or is no longer there."""
        found = load(self.file)
        return found.edited(edits_of(self.edits, found.model.config)) if self.edits else found

    @property
    def task(self) -> Task:
        return task_of(self.translator)

    @property
    def config(self) -> ModelConfig:
        return self.translator.model.config

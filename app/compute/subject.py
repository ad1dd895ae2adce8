"""The subject: which model the app asks."""

from dataclasses import dataclass

from app.library.checkpoints import CheckpointFile, load
from app.library.tasks import Task, task_of
from transformer.config import ModelConfig
from transformer.decoding.translator import Translator


@dataclass(frozen=True)
class Subject:
    """The model of a checkpoint file. Hashable: what a model computes is cached by its subject."""

    file: CheckpointFile

    @property
    def translator(self) -> Translator:
        """Raises CheckpointError, OSError: the file cannot be loaded, or is no longer there."""
        return load(self.file)

    @property
    def task(self) -> Task:
        return task_of(self.translator)

    @property
    def config(self) -> ModelConfig:
        return self.translator.model.config

"""Questions about tiny models: their checkpoints, a scene, and the questions that have a clear case."""

from pathlib import Path

import pytest

from app.compute.subject import Subject
from app.library.checkpoints import CheckpointFile
from app.questions import ask
from app.questions.question import Question
from app.stage.scene import Scene, Selection, scene_of
from tests.support.app_checkpoints import Size, write_checkpoint
from transformer.analysis.edits import Edit
from transformer.config import DecodingConfig

SENTENCES = ("the cat sat on the mat", "the the the", "</script> <b>the</b> cat", "cat")
NO_SEARCH = DecodingConfig(method="greedy", max_extra_length=4)


@pytest.fixture(scope="module")
def question_checkpoints(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Tiny models: post-norm, pre-norm with a window, learned positions and one head."""
    folder = tmp_path_factory.mktemp("asked")
    return [
        write_checkpoint(folder / "paper.safetensors"),
        write_checkpoint(folder / "window.safetensors", Size(2, 2, 4), 3, {"attention_window": 1, "norm": "pre"}),
        write_checkpoint(folder / "one.safetensors", Size(1, 1, 1), 4, {"positions": "learned"}),
    ]


def scene(path: Path, text: str = SENTENCES[0], *edits: Edit) -> Scene:
    """The scene of a checkpoint with these edits for this sentence."""
    return scene_of(Subject(CheckpointFile.at(path), edits), text, NO_SEARCH, Selection())


def asked(path: Path, kind: str, text: str = SENTENCES[0], seeds: int = 12) -> list[Question]:
    """The questions of these seeds that have a clear case."""
    shown = scene(path, text)
    found = (ask(kind, shown, seed=seed) for seed in range(seeds))  # type: ignore[arg-type]
    return [question for question in found if question]

"""The subject: what a model computes is cached by its file and its edits."""

from pathlib import Path

import numpy as np
import pytest

from app.compute import cached_results
from app.compute.subject import Subject
from app.library.checkpoints import CheckpointFile
from tests.support.app_checkpoints import Size, write_checkpoint
from transformer.analysis.edits import AttentionWindow, Edit, HeadOff, HeadUniform, ResidualOff, SublayerOff, edit_text
from transformer.config import EOS


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (HeadOff("cross", 0, 0), HeadUniform("cross", 0, 0)),
        (SublayerOff("encoder", 0, "feed_forward"), ResidualOff("encoder", 0, "feed_forward")),
    ],
)
def test_edits_of_two_kinds_with_the_same_fields_have_results_of_their_own(
    folder: Path, one: Edit, other: Edit
) -> None:
    subject = Subject(CheckpointFile.at(folder / "en-de.safetensors"))
    source_ids, target_ids = (5, 6, 7, EOS), (6, 8, EOS)

    def results(edit: Edit) -> tuple[np.ndarray, np.ndarray]:
        logits = cached_results.record(subject.edited(edit), source_ids, target_ids, ("logits",))["logits"]
        return logits, cached_results.with_each_edit(subject, source_ids, target_ids, (edit_text(edit),))

    for of_one, of_other in zip(results(one), results(other), strict=True):
        assert not np.array_equal(of_one, of_other)


@pytest.mark.parametrize(
    ("own", "edits", "expected"),
    [(None, (), None), (None, (4,), 4), (None, (4, 2), 2), (3, (), 3), (3, (9,), 3), (3, (0,), 0)],
)
def test_the_window_is_the_smallest_of_the_model_and_the_edits(
    tmp_path: Path, own: int | None, edits: tuple[int, ...], expected: int | None
) -> None:
    path = write_checkpoint(tmp_path / "one.safetensors", Size(1, 1, 1), options={"attention_window": own})
    assert Subject(CheckpointFile.at(path)).edited(*map(AttentionWindow, edits)).window == expected

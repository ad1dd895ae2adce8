"""The subject: what a model computes is cached by its file and its edits."""

from pathlib import Path

import numpy as np
import pytest

from app.compute import cached_results
from app.compute.subject import Subject
from app.library.checkpoints import CheckpointFile
from transformer.analysis.edits import Edit, HeadOff, HeadUniform, ResidualOff, SublayerOff, edit_text
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

"""A sentence that is longer than those of training is reported."""

from pathlib import Path

import numpy as np
import pytest

from tests.support.findings import PRETRAINED, named
from transformer.analysis.doctor import diagnose, examine_checkpoint
from transformer.checkpoint.averaging import average_checkpoints
from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.checkpoint.length_statistics import lengths_in, lengths_of
from transformer.decoding.translator import Translator


def test_a_checkpoint_has_the_lengths_of_its_training_sentences(toy: Path, tmp_path: Path) -> None:
    average_checkpoints(tmp_path / "mean.safetensors", sorted((toy / "recent").glob("*")))
    kept = [toy / f"{name}.safetensors" for name in ("best", "last", "average")]
    for path in (*kept, tmp_path / "mean.safetensors"):
        assert load_checkpoint(path).metrics["source_pieces_most"] == 5, path.name
    lengths = np.array([1] * 1998 + [7, 90])
    counted = lengths_of(lengths, lengths + 1)
    assert counted["source_pieces_of_999_in_1000"] == 7
    assert counted["target_pieces_of_999_in_1000"] == 8
    assert counted["source_pieces_most"] == 90
    assert counted["source_pieces_mean"] == pytest.approx(1.0, abs=0.1)


def test_a_sentence_longer_than_the_training_sentences_is_reported(toy: Path, reverse: Translator) -> None:
    toys = Translator.load(toy / "best.safetensors")
    found = named(diagnose(toys, "a b c d a b c"))
    assert "had at most 5 tokens; yours has 7." in found["too_long"].says
    assert "has 8 positions" in found["untrained_positions"].says
    assert found["untrained_positions"].stack == "encoder"
    assert not {"too_long", "untrained_positions"} & named(diagnose(toys, "a b c d a")).keys()
    # A checkpoint from before lengths were counted knows those of its toy, or the limit of its recipe.
    assert "up to 12 tokens; yours has 13." in named(diagnose(reverse, "a " * 13))["too_long"].says
    shipped = Translator.load(PRETRAINED / "en-de.safetensors")
    assert shipped.checkpoint
    for name in lengths_in(shipped.checkpoint.metrics):
        del shipped.checkpoint.metrics[name]
    assert examine_checkpoint(shipped).lengths.source == 128

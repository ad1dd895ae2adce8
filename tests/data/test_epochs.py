"""The next epoch is prepared by a thread, and is the same epoch."""

import threading
from itertools import islice
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE
from tests.support.small_training import corpus_recipe
from transformer.data.epochs import Epochs
from transformer.data.training_data import Position, TrainingData
from transformer.errors import CorpusError


def test_an_epoch_that_was_prepared_is_not_made_again_and_its_error_is_raised_when_it_is_taken() -> None:
    made: list[tuple[int, str]] = []

    def make(number: int) -> int:
        made.append((number, threading.current_thread().name))
        if number == 3:
            raise CorpusError("The disk has a hole.")
        return 10 * number

    epochs = Epochs(make)
    assert epochs.take(1) == 10
    epochs.prepare(2)
    assert epochs.take(2) == 20
    epochs.prepare(3)
    with pytest.raises(CorpusError, match="hole"):
        epochs.take(3)
    assert [number for number, _ in made] == [1, 2, 3]
    assert [name == "next epoch" for _, name in made] == [False, True, True]


def test_while_an_epoch_is_drawn_the_next_one_is_prepared_if_it_will_be_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = TrainingData(corpus_recipe(tmp_path), tmp_path)
    count, prepared = data.batches_per_epoch, threading.Event()
    plain = list(islice(data.stream(Position()), 3 * count))
    begun: list[int] = []
    prepare = Epochs.prepare

    def recorded(epochs: "Epochs[object]", number: int) -> None:
        prepare(epochs, number)
        begun.append(number)
        prepared.set()

    monkeypatch.setattr(Epochs, "prepare", recorded)
    stream = data.stream(Position(), total=count + 1)
    drawn = [next(stream)]
    assert prepared.wait(PATIENCE)
    assert begun == [1]
    drawn += islice(stream, 3 * count - 1)
    assert begun == [1]
    for (batch, after), (expected, position) in zip(drawn, plain, strict=True):
        assert after == position
        assert batch.source.tolist() == expected.source.tolist()
        assert batch.labels.tolist() == expected.labels.tolist()

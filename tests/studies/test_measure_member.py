"""The result of a run: what it is scored on, and for which recipe and text it counts."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.small_study import SMALL, write_queue
from tests.support.small_training import write_pairs
from transformer.data.pair_sources import toy_test_pairs
from transformer.errors import CorpusError, HeadlightError
from transformer.studies import measure_member
from transformer.studies.measure_member import RESULT, read_result
from transformer.studies.queue_file import load_queue
from transformer.studies.run_queue import is_done, run_queue
from transformer.studies.study_report import write_report


def test_a_toy_queue_is_scored_by_the_task_itself(tmp_path: Path) -> None:
    queue = load_queue(write_queue(tmp_path, SMALL.replace('scored_on = "scored.tsv"', "")), tmp_path)
    run_queue(queue, queue.trainings[:1], tmp_path / "runs", "cpu")
    result = read_result(queue.trainings[0], tmp_path / "runs" / queue.trainings[0].folder)
    assert result is not None
    assert result["scored_on"] == "toy:reverse"
    assert 0 <= result["beam_4"]["exact_match"] <= 1
    assert result["beam_4"]["references"] == len(set(toy_test_pairs(queue.recipes["base"].data)))
    data, card = write_report(queue, tmp_path / "runs", tmp_path / "toys")
    assert "exact matches and BLEU are with beam 4" in card.read_text(encoding="utf-8")
    assert json.loads(data.read_text(encoding="utf-8"))["members"]["base"]["mean"]["exact_match"] == pytest.approx(
        result["beam_4"]["exact_match"]
    )


def test_a_text_is_scored_whose_sentences_are_longer_than_a_batch_and_one_that_is_too_long_is_refused(
    worked_off: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, runs = worked_off
    training = load_queue(file, file.parent).trainings[0]
    expected = read_result(training, runs / training.folder)
    assert expected is not None
    checkpoint, scored_on = runs / training.folder / expected["checkpoint"], file.parent / "scored.tsv"
    monkeypatch.setattr(measure_member, "BATCH", 2)
    found = measure_member.measure(training, tmp_path, checkpoint, scored_on, torch.device("cpu"))
    assert found["loss"] == pytest.approx(expected["loss"])
    write_pairs(tmp_path / "long.tsv", [("a " * 99, "a " * 99)])
    with pytest.raises(CorpusError, match=r"long\.tsv: every pair has more than 63 tokens on a side"):
        measure_member.measure(training, tmp_path, checkpoint, tmp_path / "long.tsv", torch.device("cpu"))


def altered(result: Path, change: Callable[[dict[str, Any]], object]) -> None:
    values = json.loads(result.read_text(encoding="utf-8"))
    change(values)
    result.write_text(json.dumps(values), encoding="utf-8")


def test_a_result_of_another_recipe_is_not_taken_for_this_one(worked_off: tuple[Path, Path], tmp_path: Path) -> None:
    file, runs = worked_off
    training = load_queue(file, file.parent).trainings[0]
    other = replace(training, recipe=replace(training.recipe, model=replace(training.recipe.model, heads=1)))
    with pytest.raises(HeadlightError, match=r"another recipe: model.heads: 2 then, 1 now"):
        read_result(other, runs / training.folder)
    longer = replace(training.recipe.training, updates=training.recipe.training.updates + 1)  # a run may be made longer
    with pytest.raises(HeadlightError, match=r"another recipe: training\.updates: "):
        read_result(replace(training, recipe=replace(training.recipe, training=longer)), runs / training.folder)
    for change in (
        lambda values: values.pop("recipe"),
        lambda values: values["recipe"].pop("model"),
        lambda values: values.update(perplexity="low"),
        lambda values: values.update(greedy=[]),
    ):
        damaged = tmp_path / RESULT
        damaged.write_bytes((runs / training.folder / RESULT).read_bytes())
        altered(damaged, change)
        with pytest.raises(HeadlightError, match="has a damaged result"):
            read_result(training, tmp_path)
    for text in ("[", '"\\ud800"'):
        (tmp_path / RESULT).write_text(text, encoding="utf-8")
        with pytest.raises(HeadlightError, match="has a damaged result"):
            read_result(training, tmp_path)


def test_a_result_on_another_text_is_scored_again_without_training(
    worked_off: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = tmp_path / "runs"
    shutil.copytree(worked_off[1], runs)
    file = write_queue(tmp_path, SMALL.replace("scored.tsv", "other.tsv"))
    write_pairs(tmp_path / "other.tsv", [("a b", "b a")])
    queue = load_queue(file, tmp_path)
    for what in (lambda: is_done(queue.trainings[0], runs), lambda: write_report(queue, runs, tmp_path / "card")):
        with pytest.raises(HeadlightError, match=r"was scored on scored\.tsv, and the queue scores on other\.tsv"):
            what()
    assert not (tmp_path / "card.md").exists()
    (runs / "base-seed1" / RESULT).unlink()  # as the message says
    monkeypatch.setattr("transformer.training.training.Training.update", lambda _: pytest.fail("it was trained again"))
    run_queue(queue, queue.trainings[:1], runs, "cpu")
    found = read_result(queue.trainings[0], runs / "base-seed1")
    assert found is not None
    assert (found["scored_on"], found["greedy"]["sentences"]) == ("other.tsv", 1)

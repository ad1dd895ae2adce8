"""A queue names models that differ in one thing each, trains one after the other, and continues where it stopped."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from tests.support.small_study import SMALL, write_queue
from tests.support.small_training import lines, stop_after, write_pairs
from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.cli import app
from transformer.config import Recipe
from transformer.data.pair_sources import toy_test_pairs
from transformer.data.toy_tasks import is_held_out
from transformer.errors import ConfigError, CorpusError, HeadlightError, Stopped
from transformer.recipe import load_recipe
from transformer.studies import measure_member
from transformer.studies import run_queue as running
from transformer.studies.measure_member import RESULT, read_result
from transformer.studies.run_queue import claimed, is_done, run_queue
from transformer.studies.study_report import write_report
from transformer.studies.training_queue import load_queue, value_of

SCORED = {"bleu": 0, "exact_match": 0}


def test_the_families_differ_from_their_base_in_what_they_are_named_for_and_in_nothing_else() -> None:
    queue = load_queue("families")
    base = load_recipe("family")
    assert queue.recipes["base"] == base
    for family in queue.families:
        values = [value_of(queue.recipes[name], family.option) for name in family.members]
        assert len(set(values)) == len(values)
        for name in family.members:
            odd = {
                f"{section}.{key}"
                for section in ("model", "tokenizer", "data", "training", "decoding")
                for key, value in vars(getattr(queue.recipes[name], section)).items()
                if value != getattr(getattr(base, section), key) and not key.startswith("__")
            }
            alike = {"model.encoder_layers": "model.decoder_layers", "model.dropout": "model.embedding_dropout"}
            allowed = {family.option, alike.get(family.option, family.option)}
            assert odd in (set(), allowed), name
    seeds = [training.seed for training in queue.trainings]
    assert seeds == sorted(seeds)  # everything once before anything twice
    assert [training.member for training in queue.trainings][:2] == ["base", "heads-1"]


def test_the_toy_families_need_no_text_and_are_scored_on_pairs_of_no_training() -> None:
    queue = load_queue("toy-families")
    assert queue.scored_on is None
    assert queue.text == "toy:reverse"
    recipe = queue.recipes["base"]
    scored = {source for source, _ in toy_test_pairs(recipe.data)}
    assert all(is_held_out(source) for source in scored)
    assert len(scored) > 900
    for family in queue.families:
        assert len(family.members) >= 3 or family.name in ("norm", "causal-mask")  # these are in "one-part", too
        assert all({t.seed for t in queue.trainings if t.member == name} == {1, 2, 3} for name in family.members)


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


def test_without_a_text_only_toy_tasks_can_be_scored(tmp_path: Path) -> None:
    (tmp_path / "q.toml").write_text('recipe = "family"\nmembers = [{ name = "a" }]\nfamilies = []\n', encoding="utf-8")
    with pytest.raises(ConfigError, match="scored_on, the text on which models are scored, is missing"):
        load_queue(tmp_path / "q.toml")


def test_texts_are_read_from_the_given_folder(tmp_path: Path) -> None:
    queue = load_queue("families", tmp_path)
    assert queue.scored_on == tmp_path / "tatoeba-en-de" / "valid.tsv.gz"
    for training in queue.trainings:
        assert training.recipe.data.train == (str(tmp_path / "tatoeba-en-de" / "train.tsv.gz"),)
        assert training.recipe.data.valid == str(tmp_path / "tatoeba-en-de" / "valid.tsv.gz")


def test_the_files_of_a_mix_are_read_from_the_given_folder(tmp_path: Path) -> None:
    members = 'recipe = "en-de-mix"\nscored_on = "test.tsv"\nmembers = [{ name = "a" }]\nfamilies = []\n'
    (tmp_path / "q.toml").write_text(members, encoding="utf-8")
    data = load_queue(tmp_path / "q.toml", tmp_path / "texts").trainings[0].recipe.data
    assert data.path_of(data.mix[0].file) == tmp_path / "texts" / data.mix[0].file


def test_all_mistakes_of_a_queue_are_reported_together(tmp_path: Path) -> None:
    text = SMALL.replace('"model.causal_training=false"', '"model.head=3", "training.updates=x"')
    text = text.replace('["base", "no-mask"]', '["bas", "no-mask"]').replace(", seeds = [1, 2]", "")
    with pytest.raises(ConfigError) as caught:
        load_queue(write_queue(tmp_path, text))
    message = str(caught.value)
    assert "small.toml cannot be used" in message
    assert "model.head is not an option" in message
    assert "training.updates" in message
    assert "has a member bas. Did you mean base?" in message
    for wrong, replacement, message in [
        ('option = "model.causal_training"', 'option = "model.mask"', "compares model.mask, which is not an option"),
        ("scored_on", "scored", "scored is not an option"),
        ('"base"', '"../base"', r"members\.0\.name"),
        ('"no-mask"', '"base"', "The member base occurs twice"),
        ("seeds = [1, 2]", "seeds = [1, 1]", "has a seed twice"),
        ('["base", "no-mask"]', '["base", "no-mask", "base"]', "has a member twice"),
        ("seeds = [1, 2]", "sed = [1]", r"members\.0\.sed is not an option\. Did you mean seeds\?"),
        ("option = ", 'optoin = "x", option = ', r"families\.0\.optoin is not an option\. Did you mean option\?"),
    ]:
        with pytest.raises(ConfigError, match=message):
            load_queue(write_queue(tmp_path, SMALL.replace(wrong, replacement)))
    with pytest.raises(ConfigError, match="Did you mean families"):
        load_queue("familys")


def test_every_run_of_the_queue_is_trained_and_scored(worked_off: tuple[Path, Path]) -> None:
    file, runs = worked_off
    assert {path.name for path in runs.iterdir() if path.is_dir()} == {"base-seed1", "base-seed2", "no-mask-seed1"}
    found = {}
    sources = len(
        {line.split("\t")[0] for line in (file.parent / "scored.tsv").read_text(encoding="utf-8").splitlines()}
    )
    for training in load_queue(file, file.parent).trainings:
        result = found[training.folder] = read_result(training, runs / training.folder)
        assert result is not None
        kept = load_checkpoint(runs / training.folder / result["checkpoint"])
        assert kept.config.causal_training == (training.member == "base")
        assert result["updates"] == 6
        assert result["beam_4"]["sentences"] == result["greedy"]["sentences"] == sources
        assert ("perplexity_without_mask" in result) == (training.member == "no-mask")
    unmasked = found["no-mask-seed1"]
    assert unmasked is not None
    assert unmasked["loss_without_mask"] != unmasked["loss"]


def test_finished_runs_are_skipped(worked_off: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    file, runs = worked_off
    queue = load_queue(file, file.parent)
    monkeypatch.setattr(running, "train", lambda *_, **__: pytest.fail("it was trained again"))
    run_queue(queue, queue.trainings, runs, "cpu")
    result = CliRunner().invoke(app, ["queue", str(file), "--data", str(file.parent), "--runs", str(runs), "--dry-run"])
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["done"] * 3


def test_a_stopped_queue_continues_where_it_stopped(
    worked_off: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = load_queue(write_queue(tmp_path), tmp_path)
    runs = tmp_path / "runs"
    with monkeypatch.context() as during:
        stop_after(3, during)
        with pytest.raises(Stopped, match="same command again"):
            run_queue(queue, queue.trainings, runs, "cpu")
    assert [is_done(training, runs) for training in queue.trainings] == [False] * 3
    run_queue(queue, queue.trainings[:1], runs, "cpu")
    assert lines(runs / "base-seed1") == lines(worked_off[1] / "base-seed1")  # as if nothing had happened


def test_ctrl_c_while_a_model_is_scored_loses_only_the_scoring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = load_queue(write_queue(tmp_path), tmp_path)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr(running, "measure", interrupted)
        with pytest.raises(Stopped, match=r"base-seed1\. Everything is saved"):
            run_queue(queue, queue.trainings, tmp_path / "runs", "cpu")
    run_queue(queue, queue.trainings[:1], tmp_path / "runs", "cpu")
    assert is_done(queue.trainings[0], tmp_path / "runs")


@pytest.mark.parametrize("trouble", [HeadlightError("The weights have diverged."), OSError(28, "The disk is full")])
def test_a_run_that_fails_does_not_keep_the_others(
    trouble: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = load_queue(write_queue(tmp_path), tmp_path)
    trained: list[str] = []

    def train(recipe: Recipe, folder: Path, **_: Any) -> Path:
        if not recipe.model.causal_training:
            raise trouble
        trained.append(folder.name)
        return folder

    monkeypatch.setattr(running, "train", train)
    monkeypatch.setattr(running, "measure", lambda *_: {"perplexity": 1, "greedy": SCORED, "beam_4": SCORED})
    with pytest.raises(HeadlightError, match="without a result: no-mask-seed1"):
        run_queue(queue, queue.trainings, tmp_path / "runs", "cpu")
    assert trained == ["base-seed1", "base-seed2"]


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


def test_a_run_that_another_process_trains_is_skipped_and_not_a_failure(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    queue = load_queue(write_queue(tmp_path), tmp_path)
    first, *others = queue.trainings
    with claimed(first, tmp_path / "runs"):
        run_queue(queue, queue.trainings, tmp_path / "runs", "cpu")
    assert f"{first.folder}: another process is training it." in caplog.text
    assert not is_done(first, tmp_path / "runs")
    assert all(is_done(training, tmp_path / "runs") for training in others)


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


def test_without_the_text_that_runs_are_scored_on_nothing_is_trained(
    worked_off: tuple[Path, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file, _ = worked_off
    queue = replace(load_queue(file, file.parent), scored_on=tmp_path / "gone.tsv")
    with pytest.raises(HeadlightError, match="Runs without a result"):
        run_queue(queue, queue.trainings[:1], tmp_path / "runs", "cpu")
    assert "gone.tsv, is missing" in caplog.text
    assert not list((tmp_path / "runs").glob("*/*"))


def test_only_members_like_the_pattern_are_worked_on(worked_off: tuple[Path, Path], tmp_path: Path) -> None:
    file, _ = worked_off
    common = ["queue", str(file), "--data", str(file.parent), "--runs", str(tmp_path)]
    result = CliRunner().invoke(app, [*common, "--only", "no-*", "--dry-run"])
    assert result.stdout.split() == ["to", "do", "no-mask-seed1"]
    wrong = CliRunner().invoke(app, [*common, "--only", "heads-*"])
    assert wrong.exit_code == 2
    assert "No member matches heads-*. The members are: base, no-mask." in wrong.stderr
    for what in ("--report", "--ship"):
        wrong = CliRunner().invoke(app, [*common, "--only", "no-*", what, str(tmp_path / "to")])
        assert wrong.exit_code == 2
        assert "leave --only out" in wrong.stderr
        wrong = CliRunner().invoke(app, [*common, "--dry-run", what, str(tmp_path / "to")])
        assert wrong.exit_code == 2
        assert "leave --dry-run out" in wrong.stderr

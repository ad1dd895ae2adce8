"""What may change between a run and its resumption, and what may not."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.small_training import corpus_recipe, lines, metadata, tensors, toy_recipe, write_pairs
from tests.training.conftest import Runs
from transformer.checkpoint.header import read_header
from transformer.data.toy_tasks import toy_pairs
from transformer.errors import TrainingError
from transformer.training import train, training, training_state
from transformer.training.resume_check import differences


def test_a_finished_run_continues_if_it_is_given_more_updates(tmp_path: Path) -> None:
    recipe = toy_recipe(updates=6, schedule="constant", log_every=1)
    train(recipe, tmp_path / "parts", device="cpu")
    longer = toy_recipe(updates=11, schedule="constant", log_every=1)
    train(longer, tmp_path / "parts", resume=True, device="cpu")
    train(longer, tmp_path / "whole", device="cpu")
    parts, whole = (tensors(tmp_path / name / "training.safetensors") for name in ("parts", "whole"))
    assert all(torch.equal(tensor, parts[name]) for name, tensor in whole.items())
    assert [line["update"] for line in lines(tmp_path / "parts") if line["kind"] == "train"] == list(range(1, 12))


def test_resuming_with_other_settings_is_refused_with_the_list_of_them(stopped: Runs) -> None:
    recipe, run = stopped
    before = (run / "training.safetensors").read_bytes()
    other = replace(
        recipe,
        name="renamed",  # this and log_every may change
        model=replace(recipe.model, dropout=0.4),
        training=replace(recipe.training, warmup=5, log_every=1),
    )
    with pytest.raises(TrainingError) as caught:
        train(other, run, resume=True, device="cpu")
    listed = [line.strip() for line in str(caught.value).splitlines() if line.startswith("  ")]
    assert listed == ["model.dropout: 0.1 then, 0.4 now", "training.warmup: 4 then, 5 now"]
    assert (run / "training.safetensors").read_bytes() == before


def test_resuming_on_a_changed_corpus_is_refused(stopped: Runs) -> None:
    recipe, run = stopped
    write_pairs(Path(recipe.data.train[0]), toy_pairs("numbers", 2, 150))
    with pytest.raises(TrainingError, match=r"training text is not what the run in .* was started with"):
        train(recipe, run, resume=True, device="cpu")


def test_the_corpus_may_have_moved_meanwhile(stopped: Runs, tmp_path: Path) -> None:
    recipe, run = stopped
    moved = Path(recipe.data.train[0]).rename(tmp_path / "moved.tsv")
    train(replace(recipe, data=replace(recipe.data, train=(str(moved),))), run, resume=True, device="cpu")
    assert metadata(run / "training.safetensors")["progress"]["update"] == 6


def test_an_option_that_a_run_did_not_know_of_counts_as_its_default(stopped: Runs) -> None:
    """States written by older versions of Headlight can be used."""
    recipe, run = stopped
    _, known = training_state.read_progress(run / "training.safetensors")
    recipe = replace(recipe, model=replace(recipe.model, vocab_size=known["model"]["vocab_size"]))
    del known["model"]["activation"], known["training"]["cooldown"], known["data"]["augment"]["first_word"]
    assert differences(known, recipe) == []
    known["training"].pop("snapshots")
    assert differences(known, recipe, {"training": set()}) == []
    changed = replace(recipe, training=replace(recipe.training, cooldown=0.5))
    assert differences(known, changed) == ["training.cooldown: 0.0 then, 0.5 now"]


@pytest.mark.parametrize(
    "change",
    [
        "nothing",
        "valid",
        *(
            pytest.param(change, marks=pytest.mark.soak)
            for change in ("translations, under loss", "best_by", "validation_sentences")
        ),
    ],
)
def test_scores_of_another_validation_are_not_compared_with(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = {"loss": 1.0, "bleu": 50.0}
    monkeypatch.setattr(training, "validate", lambda *arguments: dict(scores))
    valid = write_pairs(tmp_path / "valid.tsv", toy_pairs("numbers", 2, 5))
    recipe = corpus_recipe(tmp_path, updates=5, validate_every=5, best_by="loss" if "loss" in change else "bleu")
    recipe = replace(recipe, data=replace(recipe.data, valid=str(valid)))
    train(recipe, tmp_path / "run", device="cpu")
    changes: dict[str, Any] = {"best_by": "loss", "validation_sentences": 3}
    changes = {change: changes[change]} if change in changes else {}
    if change == "valid":
        write_pairs(valid, toy_pairs("numbers", 3, 5))
    scores.update(loss=2.0, bleu=40.0)
    longer = replace(recipe, training=replace(recipe.training, updates=10, **changes))
    if "loss" in change:  # which depends on no translation
        longer = replace(
            longer,
            training=replace(longer.training, validation_sentences=3),
            decoding=replace(longer.decoding, max_extra_length=7),
        )
    chosen = train(longer, tmp_path / "run", resume=True, device="cpu")
    progress = metadata(tmp_path / "run" / "training.safetensors")["progress"]
    assert progress["best"] == {"nothing": 50.0, "translations, under loss": -1.0, "best_by": -2.0}.get(change, 40.0)
    assert chosen.stem == ("best" if change in ("nothing", "translations, under loss") else "average")
    assert read_header(tmp_path / "run" / "best.safetensors").metrics["update"] == 5  # at 10 it is no better
    assert [line["update"] for line in lines(tmp_path / "run") if line["kind"] == "valid"] == [5, 10]

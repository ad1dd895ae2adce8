"""A training state that somebody has altered is refused with a message that says what is wrong with it."""

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from tests.support.small_training import metadata, tensors, toy_recipe
from transformer.errors import TrainingError
from transformer.training import train

Change = Callable[[dict[str, Any], dict[str, Tensor]], object]
MOMENT = "exp_avg.encoder.layers.0.feed_forward.hidden.bias"


def altered(finished: Path, folder: Path, change: Change) -> Path:
    """A copy of a run; `change(about, weights)` changes progress and recipe, or the tensors."""
    run = Path(shutil.copytree(finished, folder / "run"))
    file = run / "training.safetensors"
    about, weights = metadata(file), tensors(file)
    with safe_open(file, framework="pt") as opened:
        stated = opened.metadata()
    about.pop("checksums"), stated.pop("checksums")  # with them, any change would be reported as damage
    change(about, weights)
    save_file(weights, file, stated | {name: json.dumps(value) for name, value in about.items()})
    return run


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda about, _: about.update(recipe={}), "recipe.model should be a section and is None"),
        (lambda about, _: about.update(recipe=[]), "recipe.data should be a section"),
        (lambda about, _: about["recipe"].update(training="\x1b"), r"recipe.training should be .* is \\x1b"),
        (lambda about, _: about["recipe"]["model"].update(heads="\x1b"), r"model.heads: \\x1b then, 2 now"),
        (lambda about, _: about.update(progress=[1]), "should be a section"),
        (lambda about, _: about["progress"].update(update="x"), "progress.update = x: should be a valid integer"),
        (lambda about, _: about["progress"].update(update=10**400), "progress.update = 10+"),
        (lambda about, _: about["progress"].update(epoch=-1), "progress.epoch = -1: should be greater"),
        (lambda about, _: about["progress"].update(batch=10**9), r"batch 1000000000 of epoch \d+, which has \d+"),
        (lambda about, _: about["progress"].update(recent_loss=math.inf), "progress.recent_loss = inf"),
        (lambda about, _: about["progress"].update(best=math.nan), "progress.best = nan"),
        (lambda about, _: about["progress"].update(best=-math.inf), "progress.best = -inf"),
        (lambda about, _: about["progress"].update(best="7"), "progress.best = 7: should be a valid number"),
        (lambda about, _: about["progress"].update(validated=13), "progress: validated = 13, .* after update = 12"),
        (lambda about, _: about["progress"].update(best_update=13), "progress: .* best_update = 13 and .* cannot"),
        (lambda about, _: about["progress"].update(epoch=2**53), r"progress.epoch = 9007199254740992: .* 1\.1e\+15"),
        (lambda about, _: about["progress"].update(seconds=1e308), r"progress.seconds = 1e\+308: .* 1e\+30"),
        (lambda about, _: about["progress"].update(scores=[]), "progress.scores"),
        (lambda about, _: about["progress"]["scores"].update(loss=math.nan), "progress.scores.loss"),
        (lambda about, _: about["progress"].update(stranger=1), "progress.stranger is not an option"),
        (lambda _, weights: weights.update({MOMENT: weights[MOMENT].int()}), rf"{MOMENT} is I32 .* be F32 \[32\]"),
        (lambda _, weights: weights.update({MOMENT: weights[MOMENT][:3].clone()}), rf"{MOMENT} is F32 \[3\]"),
        (lambda _, weights: weights.pop(MOMENT), f"{MOMENT} is missing"),
        (lambda _, weights: weights.update(stranger=torch.ones(2)), "stranger is F32 .* should be absent"),
    ],
)
def test_an_altered_state_is_refused_with_a_message(
    change: Change, message: str, finished: Path, tmp_path: Path
) -> None:
    run = altered(finished, tmp_path, change)
    with pytest.raises(TrainingError, match=message):
        train(toy_recipe(best_by="loss", updates=14), run, resume=True, device="cpu")


def test_a_state_without_checksums_from_an_older_version_continues(finished: Path, tmp_path: Path) -> None:
    run = altered(finished, tmp_path, lambda about, weights: None)
    train(toy_recipe(best_by="loss", updates=14), run, resume=True, device="cpu")
    assert metadata(run / "training.safetensors")["progress"]["update"] == 14


@pytest.mark.parametrize(
    "name", [f"weights.{MOMENT[8:]}", MOMENT, MOMENT.replace("exp_avg.", "exp_avg_sq."), "progress", "recipe"]
)
def test_one_wrong_bit_in_a_state_is_reported_with_advice(name: str, finished: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    file = run / "training.safetensors"
    content = bytearray(file.read_bytes())
    begin = 8 + int.from_bytes(content[:8], "little")
    if name in ("progress", "recipe"):
        known = {"progress": rb"\"tokens\": ", "recipe": rb"\"warmup\": "}[name]
        place = content.index(known) + len(known)
    else:
        place = begin + json.loads(content[8:begin])[name]["data_offsets"][0] + 2
    content[place] ^= 1
    file.write_bytes(content)
    with pytest.raises(
        TrainingError, match=rf"is damaged: {name} is not what was saved\. Resume from a copy .*--init-from"
    ):
        train(toy_recipe(best_by="loss", updates=14), run, resume=True, device="cpu")


def test_a_damaged_name_of_the_checksums_does_not_make_a_state_an_older_one(finished: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    file = run / "training.safetensors"
    file.write_bytes(file.read_bytes().replace(b'"checksums"', b'"checksumt"', 1))
    with pytest.raises(TrainingError, match="the name of its checksums is damaged"):
        train(toy_recipe(best_by="loss", updates=14), run, resume=True, device="cpu")

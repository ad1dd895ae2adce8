"""Several ranks, as torchrun starts them, learn the same as one rank, stop together, and report an error only once."""

import itertools
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.support.patience import PATIENCE
from tests.support.small_training import (
    corpus_recipe,
    in_new_process,
    lines,
    metadata,
    stop_after,
    tensors,
    toy_recipe,
    write_pairs,
)
from transformer import cli
from transformer.config import PAD, Recipe
from transformer.data import training_data
from transformer.data.batch_parts import Share
from transformer.data.batches import collate
from transformer.data.encoded_pairs import EncodedPairs
from transformer.data.toy_tasks import toy_pairs
from transformer.data.training_data import TrainingData
from transformer.errors import CorpusError, HeadlightError, TrainingError
from transformer.recipe import load_recipe
from transformer.training import data_parallel, train
from transformer.training.device import device_of_rank
from transformer.training.metrics import read_metrics
from transformer.training.random_state import dropout_seed

ROOT = Path(__file__).parent.parent.parent

# The bias of the keys does not change the softmax, so its gradient is only rounding error. Adam would scale this up to
# full steps, unless its epsilon is larger than the error.
EXACT: dict[str, Any] = {"precision": "float32", "adam_epsilon": 1e-4}


def exact(recipe: Recipe, **data: Any) -> Recipe:
    """Without dropout, because each rank drops other units."""
    model = replace(recipe.model, dropout=0.0, embedding_dropout=0.0)
    return replace(recipe, model=model, data=replace(recipe.data, **data))


def assert_same_but_for_rounding(run: Path, other: Path) -> None:
    """Weights, moments and metrics of two finished runs."""
    ours, theirs = tensors(run / "training.safetensors"), tensors(other / "training.safetensors")
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        assert torch.allclose(tensor, theirs[name], rtol=1e-4, atol=2e-5), name
    assert tensors(run / "last.safetensors").keys() == tensors(other / "last.safetensors").keys()
    assert len(lines(run)) == len(lines(other))
    for line, expected in zip(lines(run), lines(other), strict=True):
        assert line == {
            name: value if isinstance(value, str | list) else pytest.approx(value, rel=1e-3)
            for name, value in expected.items()
        }


# Ranks are forked from a process that has imported torch, with torchrun's environment: faster than torchrun itself


def together(size: int, function: Callable[..., None], *arguments: Any) -> list[int]:
    """Runs `function(rank, *arguments)` on so many ranks. Returns their exit codes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = [in_new_process(as_rank, rank, size, port, function, *arguments) for rank in range(size)]
    try:
        for process in ranks:
            process.join(timeout=PATIENCE)
            assert process.exitcode is not None, "it hangs"
    finally:
        for process in ranks:
            process.kill()
    return [int(process.exitcode or 0) for process in ranks]


def as_rank(rank: int, size: int, port: int, function: Callable[..., None], *arguments: Any) -> None:
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size), "TORCHELASTIC_RUN_ID": "test"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    function(rank, *arguments)


def go(rank: int, recipe: Recipe, run: Path, resume: bool = False) -> None:
    """What the command `train` does, but the error message goes into a file."""
    try:
        train(recipe, run, resume=resume, device="cpu")
    except HeadlightError as error:
        with run.with_name("messages").open("a") as file:
            file.write(f"{error}\n")
        raise SystemExit(1) from None


def go_where_others_do_not_see_the_folder(rank: int, recipe: Recipe, run: Path, resume: bool = False) -> None:
    """As on another machine."""
    go(rank, recipe, run.with_name(f"elsewhere-{rank}") if rank else run, resume)


def go_and_be_told_to_stop(rank: int, recipe: Recipe, run: Path, told: int, update: int) -> None:
    """Only one rank gets the signal."""
    with pytest.MonkeyPatch.context() as patch:
        if rank == told:
            stop_after(update, patch)
        go(rank, recipe, run)


def go_with_a_wrong_loss(rank: int, recipe: Recipe, run: Path, factor: float) -> None:
    """The loss of one rank's rows is multiplied by NaN or infinity at the first attempt of update 7."""
    with pytest.MonkeyPatch.context() as patch:
        make = data_parallel.DataParallel.loss

        def loss(*arguments: Any) -> torch.Tensor:
            calls[0] += 1
            return make(*arguments) * (factor if calls[0] == 7 and rank == 1 else 1.0)

        calls = [0]
        patch.setattr(data_parallel.DataParallel, "loss", loss)
        go(rank, recipe, run)


def go_and_fail(rank: int, recipe: Recipe, run: Path) -> None:
    """One rank cannot read its fourth batch."""
    with pytest.MonkeyPatch.context() as patch:
        deal = TrainingData.stream

        def stream(*arguments: Any) -> Iterator[Any]:
            for number, drawn in enumerate(deal(*arguments)):
                if number == 3 and rank == 1:
                    raise CorpusError("The disk has a hole.")
                yield drawn

        patch.setattr(TrainingData, "stream", stream)
        go(rank, recipe, run)


def go_and_be_killed(rank: int, recipe: Recipe, run: Path, between: bool) -> None:
    """Rank 1 is killed after update 6; or in update 7, while the other waits for its gradients."""
    with pytest.MonkeyPatch.context() as patch:
        if rank == 1 and between:
            stop_after(6, patch, signal.SIGKILL)
        elif rank == 1:
            make = data_parallel.DataParallel.loss

            def loss(*arguments: Any) -> torch.Tensor:
                calls[0] += 1
                if calls[0] == 7:
                    os.kill(os.getpid(), signal.SIGKILL)
                return make(*arguments)

            calls = [0]
            patch.setattr(data_parallel.DataParallel, "loss", loss)
        go(rank, recipe, run)


def go_and_be_told_at_once(rank: int, recipe: Recipe, run: Path, told: list[int]) -> None:
    """A signal while the text is being prepared."""
    with pytest.MonkeyPatch.context() as patch:
        if rank in told:
            patch.setattr(training_data, "find_tokenizer", lambda *arguments: os.kill(os.getpid(), signal.SIGTERM))
        go(rank, recipe, run)


def go_on_other_text(rank: int, recipe: Recipe, run: Path) -> None:
    if rank:
        other = write_pairs(run.with_name("other.tsv"), toy_pairs("numbers", 2, 150))
        recipe = replace(recipe, data=replace(recipe.data, train=(str(other),)))
    go(rank, recipe, run)


def messages(folder: Path) -> str:
    return (folder / "messages").read_text()


# The same mathematics


@pytest.mark.parametrize(
    ("size", "accumulate"),
    [pytest.param(2, 1, marks=pytest.mark.soak), pytest.param(3, 2, marks=pytest.mark.soak), (2, 2)],
    ids=["rows", "rows of two batches", "whole batches"],
)
def test_ranks_learn_what_one_learns(size: int, accumulate: int, tmp_path: Path) -> None:
    recipe = exact(toy_recipe(accumulate=accumulate, clip_norm=0.5, log_every=1, **EXACT))
    train(recipe, tmp_path / "one", device="cpu")
    assert together(size, go, recipe, tmp_path / "several") == [0] * size
    assert_same_but_for_rounding(tmp_path / "several", tmp_path / "one")


@pytest.mark.soak
def test_ranks_learn_the_same_as_one_with_subwords_sampled_again_in_each_epoch(tmp_path: Path) -> None:
    recipe = exact(corpus_recipe(tmp_path, **EXACT), tokens_per_batch=1500)
    train(recipe, tmp_path / "one", device="cpu")
    assert lines(tmp_path / "one")[-1]["update"] == 12
    assert metadata(tmp_path / "one" / "training.safetensors")["progress"]["epoch"] > 1
    assert together(2, go, recipe, tmp_path / "several") == [0, 0]
    assert_same_but_for_rounding(tmp_path / "several", tmp_path / "one")


def test_a_rank_without_a_row_still_takes_part(tmp_path: Path) -> None:
    """Batches of one row."""
    recipe = exact(toy_recipe(updates=4, **EXACT), toy_min_length=8, toy_max_length=9, tokens_per_batch=21)
    train(recipe, tmp_path / "one", device="cpu")
    assert together(2, go, recipe, tmp_path / "several") == [0, 0]
    assert_same_but_for_rounding(tmp_path / "several", tmp_path / "one")


@given(rows=st.lists(st.integers(1, 9), min_size=1, max_size=6), size=st.integers(1, 9))
def test_the_parts_of_all_ranks_have_every_row_once_and_are_equally_many(rows: list[int], size: int) -> None:
    sentences = [[4 + row] * (1 + row % 3) for row in range(sum(rows))]
    ids, lengths = np.concatenate([np.array(one, np.int32) for one in sentences]), np.array([*map(len, sentences)])
    starts = np.concatenate([np.zeros(1, np.int64), lengths.cumsum()])
    pairs, cuts = EncodedPairs(ids, starts, ids, starts, 0), np.cumsum([0, *rows])
    indices = [np.arange(first, last) for first, last in itertools.pairwise(cuts)]
    batches = [collate(*pairs.select(whole)) for whole in indices]
    parts = []
    for rank in range(size):
        share = Share(rank, size, len(rows))
        mine = [share.batch(pairs, whole, number) for number, whole in enumerate(indices)]
        for number, (one, whole) in enumerate(zip(mine, batches, strict=True)):
            assert one.whole == whole.whole
            cut = share.rows(number)
            if size > 1 and one.target_tokens and cut is not None:  # as if the whole batch had been cut
                assert torch.equal(one.source, whole.source[cut])
                assert torch.equal(one.target, whole.target[cut])
                assert torch.equal(one.labels, whole.labels[cut])
        parts.append([batch for batch in mine if len(batch.labels)])
    assert len({len(mine) for mine in parts}) == 1
    dealt = [batch for mine in parts for batch in mine]
    real = [batch for batch in dealt if batch.target_tokens]
    found = sorted(int(row[0]) for batch in real for row in batch.source)
    assert found == list(range(4, 4 + sum(rows)))
    assert sum(batch.target_tokens for batch in dealt) == sum(batch.target_tokens for batch in batches)
    for batch in dealt:
        assert len(batch.source) > 0
        assert batch.target_tokens == int((batch.labels != PAD).sum())
        assert (batch.source == PAD).all(-1).sum() == 0
    for batch in real:
        same = {*batch.source[batch.source > 3].tolist()}
        assert same == {*batch.labels[batch.labels > 3].tolist()} == {*batch.target[batch.target > 3].tolist()}


def test_every_rank_drops_others() -> None:
    """No two ranks or updates share a dropout seed, even in the 32 bits that torch uses on a CPU. Rank 0 has the seeds
    of a run on one process."""
    seeds = [dropout_seed(7, update, rank) % 2**32 for rank in range(64) for update in range(1000)]
    assert len(set(seeds)) == len(seeds)
    assert dropout_seed(7, 5, 0) == 7 * 1_000_003 + 5


# Stopping, and going on with another number of ranks


@pytest.mark.parametrize("told", [pytest.param(0, marks=pytest.mark.soak), 1])
def test_a_signal_to_any_rank_stops_all_and_one_rank_can_resume(told: int, tmp_path: Path) -> None:
    recipe = exact(toy_recipe(**EXACT))
    run = tmp_path / "run"
    assert together(2, go_and_be_told_to_stop, recipe, run, told, 5) == [1, 1]
    stopped = 5 + told  # the others hear of it when they meet before the next one
    assert re.fullmatch(rf"Stopped by SIGTERM after update {stopped} of 12; .* --resume .*\n", messages(tmp_path))
    assert metadata(run / "training.safetensors")["progress"]["update"] == stopped
    train(recipe, run, resume=True, device="cpu")
    train(recipe, tmp_path / "alone", device="cpu")
    assert_same_but_for_rounding(run, tmp_path / "alone")


@pytest.mark.parametrize("told", [pytest.param([0, 1], marks=pytest.mark.soak), [1]], ids=["all", "one"])
def test_a_signal_before_training_begins_ends_all(told: list[int], tmp_path: Path) -> None:
    assert together(2, go_and_be_told_at_once, toy_recipe(), tmp_path / "run", told) == [1, 1]
    assert re.fullmatch(
        r"(Rank 1: )?Stopped by SIGTERM before training started; nothing is saved .*\n", messages(tmp_path)
    )


@pytest.mark.soak
def test_two_ranks_resume_a_run_of_one_though_the_second_does_not_see_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = exact(toy_recipe(**EXACT))
    run = tmp_path / "run"
    stop_after(6, monkeypatch)
    with pytest.raises(TrainingError, match="Stopped by SIGTERM after update 6"):
        train(recipe, run, device="cpu")
    monkeypatch.undo()
    assert together(2, go_where_others_do_not_see_the_folder, recipe, run, True) == [0, 0]
    train(recipe, tmp_path / "alone", device="cpu")
    assert_same_but_for_rounding(run, tmp_path / "alone")
    assert [path.name for path in (tmp_path / "elsewhere-1").iterdir()] == ["tokenizer.model"]


# Trouble


def test_a_nan_loss_on_one_rank_ends_all_with_one_message(tmp_path: Path) -> None:
    recipe = toy_recipe(save_every=6)
    assert together(2, go_with_a_wrong_loss, recipe, tmp_path / "run", torch.nan) == [1, 1]
    assert re.fullmatch(r"The loss or its gradient is NaN or infinite at update 7 .*\n", messages(tmp_path))
    assert metadata(tmp_path / "run" / "training.safetensors")["progress"]["update"] == 6


@pytest.mark.soak
def test_in_float16_all_ranks_repeat_an_update_in_which_one_overflows(tmp_path: Path) -> None:
    recipe = exact(toy_recipe(log_every=1, **EXACT | {"precision": "float16"}))
    assert together(2, go_with_a_wrong_loss, recipe, tmp_path / "run", torch.inf) == [0, 0]
    progress = metadata(tmp_path / "run" / "training.safetensors")["progress"]
    assert (progress["update"], progress["loss_scale"], progress["updates_without_overflow"]) == (12, 2.0**15, 6)
    train(recipe, tmp_path / "one", device="cpu")
    for line, expected in zip(lines(tmp_path / "run"), lines(tmp_path / "one"), strict=True):
        if line["kind"] == "train":
            assert line["loss"] == pytest.approx(expected["loss"], rel=0.01)


def test_an_error_on_one_rank_is_reported_by_the_first(tmp_path: Path) -> None:
    assert together(3, go_and_fail, toy_recipe(), tmp_path / "run") == [1, 1, 1]
    assert messages(tmp_path) == "Rank 1: The disk has a hole.\n"


@pytest.mark.soak
@pytest.mark.parametrize("between", [True, False], ids=["between updates", "in an update"])
def test_a_rank_that_is_killed_ends_the_others(between: bool, tmp_path: Path) -> None:
    assert together(2, go_and_be_killed, toy_recipe(), tmp_path / "run", between) == [1, -signal.SIGKILL]
    assert re.fullmatch(r"A process of this run has exited: .* continue with --resume\.\n", messages(tmp_path))
    assert metadata(tmp_path / "run" / "training.safetensors")["progress"]["update"] == 5


def test_ranks_with_different_text_are_refused(tmp_path: Path) -> None:
    recipe = corpus_recipe(tmp_path)
    assert together(2, go_on_other_text, recipe, tmp_path / "run") == [1, 1]
    assert re.fullmatch(r"Rank 1: The training text here is not that of rank 0 \(.*\n", messages(tmp_path))


# The command


RECIPE = """
name = "toy"
model = { encoder_layers = 1, decoder_layers = 1, d_model = 16, d_ff = 32, heads = 2, max_positions = 64 }
tokenizer = { vocab_size = 400 }
data = { toy = "reverse", toy_symbols = 4, toy_max_length = 5, toy_epoch = 150, valid_size = 20, max_length = 20 }
training = { updates = 2000, warmup = 4, peak_rate = 0.01, log_every = 5, validation_sentences = 0, best_by = "loss" }
"""


def torchrun(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += ["-m", "transformer", "train", *map(str, arguments), "--device", "cpu"]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)


def test_torchrun_trains_on_two_ranks_and_its_ctrl_c_saves(tmp_path: Path) -> None:
    (tmp_path / "toy.toml").write_text(RECIPE)
    run = tmp_path / "run"
    process = torchrun(tmp_path / "toy.toml", "--run-dir", run)
    assert process.stderr is not None
    printed = ""
    while "update 5/2000" not in printed:
        line = process.stderr.readline()
        assert line, printed
        printed += line
    process.send_signal(signal.SIGINT)
    printed += process.communicate(timeout=PATIENCE)[1]
    assert (
        printed.count("parameters on 2 x cpu")
        == printed.count("update 5/2000")
        == printed.count("Stopped by Ctrl-C")
        == 1
    )
    stopped = re.search(r"^Stopped by Ctrl-C after update (\d+) of 2000", printed, flags=re.M)
    assert stopped is not None
    progress = metadata(run / "training.safetensors")["progress"]
    assert progress["update"] == int(stopped[1])
    assert {int(line["update"]) for line in read_metrics(run / "metrics.jsonl")} == set(
        range(5, int(stopped[1]) + 1, 5)
    )
    assert printed.count("Traceback") == 1  # torchrun's own


def go_by_command(rank: int, output: Path, *arguments: str) -> None:
    """The command itself; what it says goes into a file."""
    with output.open("a") as file:
        os.dup2(file.fileno(), 2)
    cli.app(["train", *arguments, "--device", "cpu"])


def go_by_command_from_a_folder(rank: int, folder: Path, *arguments: str) -> None:
    """Each rank in a folder of its own, as on another machine."""
    (folder / str(rank)).mkdir(exist_ok=True)
    os.chdir(folder / str(rank))
    go_by_command(rank, folder / "output", *arguments)


def test_a_run_is_resumed_by_its_folder_though_only_the_first_machine_has_it(tmp_path: Path) -> None:
    (tmp_path / "toy.toml").write_text(RECIPE)
    run, place = tmp_path / "0" / "runs" / "toy", tmp_path / "1" / "runs" / "toy"
    train(load_recipe(tmp_path / "toy.toml", ["training.updates=1"]), run, device="cpu")
    for updates in (2, 3):  # later the other machine has a folder, too, without a recipe
        resumed = ("--resume", "runs/toy", "--set", f"training.updates={updates}")
        assert together(2, go_by_command_from_a_folder, tmp_path, *resumed) == [0, 0]
        assert metadata(run / "training.safetensors")["progress"]["update"] == updates
        assert [path.name for path in place.iterdir()] == ["tokenizer.model"]
    assert 0 not in together(2, go_by_command_from_a_folder, tmp_path, "--resume", "runs/none")
    assert (tmp_path / "output").read_text().count("Error: There is no folder runs/none") == 1


def test_an_invalid_recipe_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "toy.toml").write_text(RECIPE)
    wrong = ("--set", "data.toy=none", "--set", "data.train=gone.en-de.tsv")
    assert 0 not in together(2, go_by_command, tmp_path / "output", str(tmp_path / "toy.toml"), *wrong)
    printed = (tmp_path / "output").read_text()
    assert printed.count("Error: These files") == printed.count("- data.train: gone.en-de.tsv") == 1
    assert "Traceback" not in printed


# Devices


def test_each_process_of_a_machine_has_a_gpu_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[int] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    assert device_of_rank("auto", 1) == torch.device("cuda", 1)
    assert chosen == [1]
    assert device_of_rank("cpu", 1) == torch.device("cpu")
    with pytest.raises(TrainingError, match=r"2 CUDA devices, but .* at least 3 processes.* --nproc-per-node 2"):
        device_of_rank("cuda", 2)
    with pytest.raises(TrainingError, match="not 'cuda:1'"):
        device_of_rank("cuda:1", 0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    with pytest.raises(TrainingError, match="cuda and cpu, not on mps"):
        device_of_rank("mps", 0)

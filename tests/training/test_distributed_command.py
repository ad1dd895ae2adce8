"""The command `train` on several ranks, as torchrun starts them, and the device of each rank."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.support.patience import PATIENCE
from tests.support.ranks import together
from tests.support.small_training import metadata
from transformer import cli
from transformer.errors import DeviceError
from transformer.recipe import load_recipe
from transformer.training import train
from transformer.training.distributed import device_of_rank
from transformer.training.metrics import read_metrics

ROOT = Path(__file__).parent.parent.parent
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


def test_each_process_of_a_machine_has_a_gpu_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[int] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    assert device_of_rank("auto", 1) == torch.device("cuda", 1)
    assert chosen == [1]
    assert device_of_rank("cpu", 1) == torch.device("cpu")
    with pytest.raises(DeviceError, match=r"2 CUDA devices, but .* at least 3 processes.* --nproc-per-node 2"):
        device_of_rank("cuda", 2)
    with pytest.raises(DeviceError, match="not 'cuda:1'"):
        device_of_rank("cuda:1", 0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    with pytest.raises(DeviceError, match="cuda and cpu, not on mps"):
        device_of_rank("mps", 0)

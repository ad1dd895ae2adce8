"""Every command has its help, and reports an error in a sentence without a traceback."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.support.command_line import run
from transformer.training.resume_check import FREE


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (("inspect", "nowhere.safetensors"), 1, "No such file"),
        (("inspect", "pyproject.toml"), 1, "not a safetensors file"),
        (("translate", "nowhere.safetensors"), 1, "No such file"),
        (("translate", "CHECKPOINT", "--input", "nowhere.txt"), 1, "nowhere.txt: No such file"),
        (("translate", "CHECKPOINT", "--output", "nowhere/out.txt"), 1, "nowhere/out.txt: No such file"),
        (("translate", "CHECKPOINT", "--beam", "0"), 2, "greater than or equal to 1"),
        (("translate", "CHECKPOINT", "--device", "tpu"), 2, "tpu"),
        (("translate", "CHECKPOINT", "--rerank", "nowhere.safetensors"), 1, "No such file"),
        (("translate", "CHECKPOINT", "--rerank", "CHECKPOINT", "--beam", "1"), 1, "add --beam 4"),
        (("evaluate", "CHECKPOINT"), 2, "this model has no toy task"),
        (("evaluate", "CHECKPOINT", "--data", "nowhere.tsv"), 1, "nowhere.tsv"),
        (("average", "out.safetensors"), 2, "CHECKPOINT"),
        (("average", "out.safetensors", "nowhere.safetensors"), 2, "at least two checkpoints"),
        (("average", "out.safetensors", "nowhere.safetensors", "CHECKPOINT"), 1, "No such file"),
        (("doctor", "nowhere.safetensors"), 1, "No such file"),
        (("doctor", "CHECKPOINT", "--sentence", "  "), 1, "nothing to translate"),
        (("trian",), 2, "train"),
        (("train", "nowhere.toml"), 2, "There is no recipe nowhere.toml"),
    ],
)
def test_an_error_is_a_sentence_and_an_exit_code(
    checkpoint: Path, arguments: tuple[str, ...], code: int, expected: str
) -> None:
    given = [checkpoint if argument == "CHECKPOINT" else argument for argument in arguments]
    result = run(*given, input="")
    assert result.exit_code == code
    assert expected in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_a_full_disk_says_what_to_do(checkpoint: Path) -> None:
    result = run("translate", checkpoint, "--output", "/dev/full", input="a cat")
    assert result.exit_code == 1
    assert "No space left on device. Free some space" in result.stderr


def test_the_message_names_which_of_two_files_could_not_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def copy(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "from.safetensors", None, "to.safetensors")

    monkeypatch.setattr("transformer.checkpoint.averaging.average_checkpoints", copy)
    result = run("average", "new.safetensors", "one.safetensors", "two.safetensors")
    assert result.stderr.startswith("Error: to.safetensors: No space left on device. Free some space")


CPU_IS_FULL = "[enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. GPU 0 has 1 GiB."), "the GPU is full (CUDA out of memory)"),
        (RuntimeError("MPS backend out of memory (1 GB)."), "the GPU is full (MPS backend out of memory (1 GB)"),
        (RuntimeError(f"{CPU_IS_FULL}allocate 8 bytes. Code 12"), "this machine is full (can't allocate memory: you"),
        (MemoryError(), "this machine is full (none is left)"),
    ],
)
def test_too_little_memory_is_reported_in_a_sentence(
    error: Exception, sentence: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The advice is possible: a run cannot be resumed with other batches."""

    def load(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("transformer.decoding.translator.Translator.load", load)
    checkpoint = tmp_path / "x.safetensors"
    checkpoint.touch()
    result = run("translate", checkpoint, input="a cat")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: The memory of {sentence}")
    assert "lower data.tokens_per_batch" in result.stderr
    assert "another --run-dir, with --init-from" in result.stderr
    assert "--resume" not in result.stderr
    assert not {"data.tokens_per_batch", "training.accumulate"} & {
        f"{section}.{option}" for section, options in FREE.items() for option in options
    }


def test_every_command_and_option_has_its_help() -> None:
    options = {
        "train": ["RECIPE.toml", "--set", "--run-dir", "--resume", "--init-from", "--own-vocabulary", "--device"],
        "queue": ["QUEUE.toml", "--data", "--runs", "--only", "--dry-run", "--report", "--ship", "--device"],
        "translate": ["CHECKPOINT", "--beam", "--rerank", "--device", "--precision", "--input", "--output"],
        "evaluate": [
            "CHECKPOINT",
            "--data",
            "--target",
            "--source-column",
            "--target-column",
            "--hypotheses",
            "--against",
            "--beam",
            "--rerank",
            "--device",
            "--precision",
            "--json",
        ],
        "align": ["CHECKPOINT", "--data", "--swap", "--home", "--store", "--device", "--json"],
        "average": ["OUT", "CHECKPOINT"],
        "inspect": ["CHECKPOINT", "--json"],
        "doctor": ["CHECKPOINT", "--sentence", "--json"],
        "export": ["CHECKPOINT", "DIR", "--to", "--quantization"],
    }
    overview = run("--help").stdout
    for command, expected in options.items():
        assert f"  {command} " in overview
        text = run(command, "--help").stdout
        assert all(option in text for option in expected)
        assert f"python -m transformer {command} " in text  # an example
    assert "128 lines are translated together" in run("translate", "--help").stdout  # why a pipe seems to hang
    assert "..." not in overview.split("Commands:")[1]  # no description is cut off


def test_help_is_printed_without_importing_torch() -> None:
    script = "import sys, transformer.cli; sys.exit('torch' in sys.modules or 'sentencepiece' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parents[2], check=True)

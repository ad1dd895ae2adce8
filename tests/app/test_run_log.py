"""What the trainer of a run in the browser has said: its newest line, and why it ended."""

import subprocess
import sys
from pathlib import Path

import pytest

from app.library.runs import read_run
from app.views.training import launch_run, run_log
from app.views.training.manage_run import remove_if_it_came_to_nothing
from app.views.training.own_text import read_own_text
from app.views.training.run_log import LOG
from app.views.training.run_plan import TextPlan
from tests.app.test_run_plan import SIZE
from tests.support.patience import PATIENCE


def test_a_trainer_that_says_why_it_does_not_begin_is_ending(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs.mkdir()
    log = runs / LOG
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        monkeypatch.setitem(launch_run._STARTED, runs, process)
        log.write_text(f"{run_log.command_of(runs)}\nError: x\n{run_log.command_of(runs)} --resume\nReading.\n")
        assert not launch_run.is_ending(runs)
        log.write_text(log.read_text() + "Error: There is no column 2.\n")
        assert launch_run.is_ending(runs)
        assert run_log.newest_words(runs) == "Reading."
        process.kill()
    assert not launch_run.is_ending(runs)


def test_the_trainers_messages_are_shown_without_folders_of_the_server(
    stub_trainer: list["subprocess.Popen[bytes]"], runs: Path
) -> None:
    name = launch_run.start(TextPlan(read_own_text("x.tsv", b"a\tb\n", 1), "fa", "de", SIZE))
    stub_trainer[0].kill()
    stub_trainer[0].wait()
    log = runs / name / LOG
    assert run_log.last_words(runs / name) == ""  # killed without a word
    assert run_log.newest_words(runs / name) == ""
    log.write_text(log.read_text() + f"Reading.\nLearning from {runs / name}/corpus.tsv.\n\n")
    assert run_log.newest_words(runs / name) == "Learning from corpus.tsv."
    log.write_text(
        log.read_text() + f"2 lines cannot be read; they are:\n  {runs / name}/corpus.tsv, line 3: no column 2.\n"
    )
    assert run_log.newest_words(runs / name) == "Learning from corpus.tsv."  # not as if line 3 were the end of it
    log.write_text(log.read_text() + "  source      Error: Stopped by Traceback (most recent call last)\n")
    assert run_log.last_words(runs / name) == ""  # a sentence of the text
    assert run_log.newest_words(runs / name) == "Learning from corpus.tsv."
    log.write_text(log.read_text() + f"Warning: x\nError: {runs / name}/corpus.tsv, line 3: there is no column 2.\n")
    assert run_log.last_words(runs / name) == "corpus.tsv, line 3: there is no column 2."
    log.write_text(log.read_text() + "Traceback (most recent call last):\n  File x\n")
    assert "ended unexpectedly" in run_log.last_words(runs / name)
    log.write_text("Stopped by Ctrl-C after update 3; everything is saved.\n")
    assert run_log.last_words(runs / name) == "Stopped by Ctrl-C after update 3; everything is saved."
    log.unlink()
    assert run_log.last_words(runs / name) == ""


def test_the_real_trainer_says_why_text_cannot_be_trained_on(runs: Path) -> None:
    """The whole way: upload, process, sentence. The text is read before, but its tokens only by the trainer."""
    text = b"".join(
        f"{chr(97 + i % 26) * 6} {chr(98 + i % 25) * 7}{i} ".encode() * 300 + b"\t%d\n" % i for i in range(40)
    )
    name = launch_run.start(TextPlan(read_own_text("x.tsv", text), "en", "de", SIZE))
    launch_run._STARTED[runs / name].wait(10 * PATIENCE)  # it lets others go first
    run = read_run(name)
    assert run is not None
    assert "training pairs is at most data.max_length = 100 tokens long" in remove_if_it_came_to_nothing(run)
    assert list(runs.iterdir()) == []

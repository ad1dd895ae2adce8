"""The page Training while a run ends, and after a run without measurements."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.library.snapshots import OWNER
from app.views.training import launch_run, page, run_log
from app.views.training.run_permission import LaunchError
from tests.support.drawn import charts, page_text, title
from tests.support.held_run import held
from tests.support.small_training import toy_recipe
from tests.support.training_page import machine, opened
from transformer.errors import TrainingError
from transformer.training import train, training, validation

Open = Callable[..., AppTest]
# A trainer that makes one step per input line: it locks the run, unlocks it, writes why it stopped, and ends.
STEPS = """
import fcntl, os, sys
print("begun", flush=True)
sys.stdin.readline()
with open(sys.argv[1] + "/.lock", "a") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    file.truncate(0)
    print(os.getpid(), file=file, flush=True)
    print("held", flush=True)
    sys.stdin.readline()
print("free", flush=True)
sys.stdin.readline()
with open(sys.argv[1] + "/log.txt", "a") as file:
    file.write("Error: Stopped by SIGTERM after update 12 of 12. To continue, give the same command with --resume.\\n")
print("over", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def toy(finished_run: Path, runs: Path, open_app: Open) -> Path:
    """A run that has made all its updates and has no average yet, so it is not finished; it was started here."""
    folder = Path(shutil.copytree(finished_run, runs / "toy"))
    (folder / OWNER).touch()
    (folder / "average.safetensors").unlink()
    return folder


def test_a_run_that_ends_is_stopping_until_its_process_is_gone(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[subprocess.Popen[str]] = []

    def begin(name: str) -> None:
        assert name == "toy"
        with (toy / run_log.LOG).open("a") as log:
            log.write(f"{run_log.command_of(toy)}{' --resume' if begun else ''}\n")
        command = [sys.executable, "-c", STEPS, str(toy)]
        begun.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        assert begun[-1].stdout
        assert begun[-1].stdout.readline() == "begun\n"
        monkeypatch.setitem(launch_run._STARTED, toy, begun[-1])

    def step(until: str) -> None:
        process = begun[-1]
        assert process.stdin
        assert process.stdout
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == until

    def state_of(app: AppTest) -> tuple[str, list[tuple[str, bool]]]:
        """The line about the run; the buttons beside it, and whether they can be clicked."""
        app.run()
        assert "Stopped by" not in page_text(app)
        buttons = [each for each in app.button if each.key in ("stop_run", "resume_run")]
        line = next(text.value for text in app.text if text.value.startswith(("Running", "Start", "Stop")))
        return line, [(each.label, not each.disabled) for each in buttons]

    monkeypatch.setattr("app.views.training.launch_run.stop", lambda name: step("free\n"))
    monkeypatch.setattr("app.views.training.launch_run.resume", begin)
    begin("toy")
    try:
        step("held\n")
        one, other = opened(), opened()  # two visitors
        assert state_of(one)[1] == state_of(other)[1] == [("Stop", True)]
        one.button(key="stop_run").click().run()
        for app in (one, other):
            assert state_of(app) == ("Stopping: update 12 of 12", [("Stop", False)])
        step("over\n")
        for app in (one, other):
            assert state_of(app) == ("Stopping: update 12 of 12", [("Stop", False)])
        begun[-1].communicate("\n")
        for app in (one, other):
            assert state_of(app) == ("Stopped after update 12 of 12", [("Resume", True)])
        one.button(key="resume_run").click().run()
        for app in (one, other):
            assert state_of(app) == ("Starting again after update 12 of 12 …", [("Stop", True)])
    finally:
        for process in begun:
            process.kill()
            process.communicate()


def test_a_run_that_has_measured_nothing_says_when_it_will(
    open_app: Open, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = validation.validate

    def validate(*arguments: Any) -> Any:
        os.kill(os.getpid(), signal.SIGTERM)
        return original(*arguments)

    monkeypatch.setattr(training, "validate", validate)
    with pytest.raises(TrainingError, match="Stopped by SIGTERM after update 1 of 100"):
        train(toy_recipe(updates=100, log_every=20, validate_every=1), runs / "toy", device="cpu")
    app = opened()
    assert "Nothing has been measured yet. The first numbers come after update 20." in page_text(app)
    assert not any("Loss" in title(figure) for figure in charts(app))
    assert "A nat is" not in page_text(app)
    assert "includes label smoothing" not in page_text(app)


def stop_button(app: AppTest) -> tuple[str, bool]:
    """How the line about the run begins, and whether the run can be stopped."""
    line = next(text.value for text in app.text if text.value.startswith(("Running", "Stopping")))
    return line.partition(":")[0], not app.button(key="stop_run").disabled


def test_a_run_that_could_not_be_stopped_is_not_said_to_be_stopping(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(name: str) -> None:
        raise LaunchError(f"{name} cannot be stopped.")

    monkeypatch.setattr("app.views.training.launch_run.stop", fails)
    with held(toy):
        app = opened()
        app.button(key="stop_run").click().run()
        assert "toy cannot be stopped." in page_text(app)
        assert stop_button(app) == ("Running", True)


def test_a_run_that_was_stopped_and_is_resumed_elsewhere_can_be_stopped_again(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.views.training.launch_run.stop", lambda name: None)
    with held(toy):
        app = opened()
        app.button(key="stop_run").click().run()
        assert stop_button(app) == ("Stopping", False)
    app.run()
    with held(toy):
        assert stop_button(app.run()) == ("Running", True)


def test_a_run_that_the_system_has_ended_says_so(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (toy / run_log.LOG).write_text(f"{run_log.command_of(toy)}\nLearning.\n")
    for code, words in (
        ("os.kill(os.getpid(), signal.SIGKILL)", "probably because memory ran out"),
        ("sys.exit(2)", "The training ended unexpectedly."),
        ("os.kill(os.getpid(), signal.SIGTERM)", ""),  # the visitor has stopped it before it listened
    ):
        process = subprocess.Popen([sys.executable, "-c", f"import os, signal, sys; {code}"])
        process.wait()
        monkeypatch.setitem(launch_run._STARTED, toy, process)
        text = page_text(opened())
        assert "Stopped after update 12 of 12" in text
        assert words in text
        assert words or "ended" not in text


def test_a_run_that_is_watched_stays_on_the_page_when_it_ends(toy: Path, folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "shipped" / "example-runs"
    with pytest.MonkeyPatch.context() as patch:
        shutil.copytree(folder, place.parent)
        shutil.copytree(toy, place / "another")
        patch.setenv("HEADLIGHT_CHECKPOINTS", str(place.parent))
        assert machine(opened())["run"] == "another"  # a toy of one's own opens only while it is trained
        with held(toy):
            app = opened()
            assert machine(app)["run"] == "toy"
        assert machine(app.run())["run"] == "toy"


@pytest.mark.parametrize("live", [True, False])
def test_the_whole_page_is_drawn_again_when_the_run_in_the_picture_begins_or_ends(
    toy: Path, monkeypatch: pytest.MonkeyPatch, live: bool
) -> None:
    drawn: list[str] = []
    states = iter([live, not live])
    monkeypatch.setattr(page, "_is_live", lambda name: next(states))
    monkeypatch.setattr(page, "_is_computing", lambda name, scene: False)
    monkeypatch.setattr(page, "redrawn", lambda draw, depends_on, run_every: draw())
    monkeypatch.setattr(page, "time_machine", lambda run, scene, news: drawn.append("picture"))
    monkeypatch.setattr("streamlit.rerun", lambda: drawn.append("page"))
    page._picture("toy", None)
    assert drawn[0] == "page"

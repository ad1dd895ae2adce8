"""Runs on a server that several visitors share: whose they are, and how many there may be."""

import hashlib
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.library.runs import holder, read_run
from app.library.snapshots import OWNER
from app.views.training import launch_run, manage_run
from app.views.training.launch_run import MOST_RUNS
from app.views.training.run_log import RECIPE
from app.views.training.run_permission import NOT_YOURS, LaunchError, is_owner
from app.views.training.run_plan import Size, ToyPlan
from tests.support.browser_driver import started_app
from tests.support.patience import PATIENCE
from tests.support.raw_client import Tab

TOKEN = "a" * 43
ONE, OTHER = ({"Cookie": f"headlight_visitor={token}"} for token in (TOKEN, "b" * 43))
PLAN = ToyPlan("reverse", Size(20_000, 1, 1, 2, 32))


@pytest.fixture
def shared(folder: Path, runs: Path, tmp_path: Path) -> Iterator[str]:
    """The address of the app on a server for other machines, where visitors may train."""
    options, variables = ["--server.address", "0.0.0.0"], {"HEADLIGHT_TRAINING": "on"}
    with started_app(folder, tmp_path / "log", runs, options, variables) as (address, _):
        yield address


def test_only_the_visitor_who_started_a_run_stops_and_resumes_it(
    shared: str, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed = hashlib.sha256(TOKEN.encode()).hexdigest()
    with monkeypatch.context() as as_owner:
        as_owner.setattr("app.views.training.run_permission.identity", lambda: hashed)
        name = launch_run.start(PLAN)
    assert (runs / name / OWNER).read_text() == hashed  # whoever reads the folder does not learn the token
    process = launch_run._STARTED[runs / name]
    try:
        while not holder(runs / name):
            assert process.poll() is None
            time.sleep(0.1)
        with Tab(shared, headers=ONE) as owner, Tab(shared, headers=OTHER) as other, Tab(shared) as nobody:
            stop = other.open("training", "details=true").buttons()["Stop"]
            assert stop.disabled
            assert NOT_YOURS in other.text()
            for stranger in (other, nobody):  # a client may send a click on a button that is disabled
                stranger.open("training", "details=true")
                assert "Stopping" not in stranger.open("training", "details=true", click=stop.id).text()
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(1)
            assert not owner.open("training", "details=true").buttons()["Stop"].disabled
            assert NOT_YOURS not in owner.text()
            owner.open("training", "details=true", click=owner.buttons()["Stop"].id)
            process.wait(PATIENCE)
            resume = other.open("training", "details=true").buttons()["Resume"]
            assert resume.disabled
            assert NOT_YOURS in other.open("training", "details=true", click=resume.id).text()
            assert not launch_run.is_busy(runs / name)
            with Tab(shared, headers=ONE) as reloaded:
                assert not reloaded.open("training", "details=true").buttons()["Resume"].disabled
    finally:
        process.kill()
        process.wait()


def test_a_visitor_whose_browser_keeps_no_cookies_starts_nothing(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_TRAINING", "on")
    monkeypatch.setattr("app.views.training.run_permission.is_at_this_machine", lambda: False)
    with pytest.raises(LaunchError, match="Allow cookies for this page and reload it"):
        launch_run.start(PLAN)
    assert not runs.exists()


@pytest.mark.soak
def test_the_person_at_the_machine_owns_every_run_also_without_a_cookie(
    folder: Path, runs: Path, tmp_path: Path
) -> None:
    started_by_another(runs / "reverse-1")
    with started_app(folder, tmp_path / "log", runs) as (address, _), Tab(address) as tab:
        assert not tab.open("training", "details=true").buttons()["Resume"].disabled
        assert NOT_YOURS not in tab.text()


def started_by_another(run: Path) -> None:
    run.mkdir(parents=True)
    (run / OWNER).write_text("0" * 64)


@pytest.mark.parametrize("owner", ["", "0" * 64])
def test_a_run_without_an_owner_or_with_another_one_is_not_stopped(
    owner: str, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started_by_another(runs / "reverse-1")
    (runs / "reverse-1" / OWNER).write_text(owner)
    monkeypatch.setenv("HEADLIGHT_TRAINING", "on")
    monkeypatch.setattr("app.views.training.run_permission.is_at_this_machine", lambda: False)
    for mine in ("", "1" * 64):
        monkeypatch.setattr("app.views.training.run_permission.identity", lambda mine=mine: mine)
        for action in (
            launch_run.stop,
            launch_run.resume,
            manage_run.delete,
            lambda name: manage_run.rename(name, "x"),
        ):
            with pytest.raises(LaunchError, match="started by another visitor"):
                action("reverse-1")
    monkeypatch.setattr("app.views.training.run_permission.identity", lambda: "0" * 64)
    run = read_run("reverse-1")
    assert run is not None
    assert is_owner(run) == (owner == "0" * 64)
    (runs / "reverse-1" / OWNER).unlink()
    (runs / "reverse-1" / "metrics.jsonl").touch()  # a run of the command line
    (runs / "reverse-1" / RECIPE).touch()
    for action in (launch_run.stop, launch_run.resume):
        with pytest.raises(LaunchError, match="Only a run that was started here"):
            action("reverse-1")


def test_the_number_of_runs_started_from_the_browser_is_limited(runs: Path) -> None:
    for number in range(MOST_RUNS):
        started_by_another(runs / f"reverse-{number + 1}")
    with pytest.raises(LaunchError, match=rf"has {MOST_RUNS} runs .* Delete some of them first\."):
        launch_run.start(PLAN)
    assert len(list(runs.iterdir())) == MOST_RUNS

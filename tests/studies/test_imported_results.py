"""A queue continues on a machine that has only the report of another machine."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from transformer.cli import app
from transformer.errors import HeadlightError
from transformer.studies.imported_results import read_report, write_results
from transformer.studies.measure_member import RESULT
from transformer.studies.queue_file import load_queue
from transformer.studies.run_queue import is_done, run_queue
from transformer.studies.study_report import write_report

PRETRAINED = Path(__file__).parents[2] / "pretrained"


@pytest.fixture(scope="module")
def report(worked_off: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the queue that has been worked off."""
    file, runs = worked_off
    return write_report(load_queue(file, file.parent), runs, tmp_path_factory.mktemp("report") / "card")[0]


def test_imported_results_are_not_computed_again_and_are_reported(
    worked_off: tuple[Path, Path], report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, _ = worked_off
    command = ["queue", str(file), "--data", str(file.parent), "--runs", str(tmp_path), "--results", str(report)]
    result = CliRunner().invoke(app, [*command, "--dry-run"])  # which writes nothing
    assert result.stdout.split() == ["done", "base-seed1", "done", "no-mask-seed1", "done", "base-seed2"]
    assert not list(tmp_path.iterdir())
    result = CliRunner().invoke(app, [*command, "--report", str(tmp_path / "again")])
    assert result.exit_code == 0
    assert "Imported: base-seed2" in result.stderr
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(report.read_text())
    queue = load_queue(file, file.parent)
    monkeypatch.setattr("transformer.studies.run_queue.train", lambda *_, **__: pytest.fail("trained again"))
    run_queue(queue, queue.trainings, tmp_path, "cpu")
    assert write_results(read_report(queue, report), tmp_path) == []  # a second time there is nothing to take


def test_a_run_that_was_begun_here_keeps_what_it_has(
    worked_off: tuple[Path, Path], report: Path, tmp_path: Path
) -> None:
    file, _ = worked_off
    queue = load_queue(file, file.parent)
    (tmp_path / "base-seed1").mkdir()
    (tmp_path / "base-seed1" / "tokenizer.model").touch()
    (tmp_path / "base-seed2").mkdir()  # nothing in it: a full disk kept it from being written, say
    command = ["queue", str(file), "--data", str(file.parent), "--runs", str(tmp_path), "--results", str(report)]
    result = CliRunner().invoke(app, [*command, "--dry-run"])
    assert result.stdout.split() == ["started", "base-seed1", "done", "no-mask-seed1", "done", "base-seed2"]
    taken = write_results(read_report(queue, report), tmp_path)
    assert "base-seed1" not in taken
    assert "base-seed2" in taken
    assert not (tmp_path / "base-seed1" / RESULT).exists()


def test_a_report_names_no_folder_of_the_machine_that_made_it(report: Path, worked_off: tuple[Path, Path]) -> None:
    assert str(worked_off[0].parent) not in report.read_text(encoding="utf-8")


def test_results_of_another_recipe_or_of_no_report_are_refused(
    worked_off: tuple[Path, Path], report: Path, tmp_path: Path
) -> None:
    queue = load_queue(worked_off[0], worked_off[0].parent)
    values = json.loads(report.read_text(encoding="utf-8"))
    values["members"]["base"]["recipe"]["model"]["heads"] = 1
    other = tmp_path / "other.json"
    other.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(
        HeadlightError, match=r"base-seed1 in .* was made with another recipe: model\.heads: 1 then, 2 now"
    ):
        read_report(queue, other)
    for text in ("[", "[]", "{}", '{"members": {"base": {"runs": [{}]}}}', '{"members": {"base": []}}'):
        other.write_text(text, encoding="utf-8")
        with pytest.raises(HeadlightError, match="is not the report of a queue"):
            read_report(queue, other)
    values["members"]["base"]["runs"][0]["perplexity"] = "low"
    other.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(HeadlightError, match="has a damaged result"):
        read_report(queue, other)
    with pytest.raises(HeadlightError, match="cannot be read: No such file"):
        read_report(queue, tmp_path / "gone.json")


def test_the_results_that_ship_are_those_of_the_queue_as_it_is(tmp_path: Path) -> None:
    queue = load_queue("families")
    taken = write_results(read_report(queue, PRETRAINED / "families.json"), tmp_path)
    assert len(taken) >= 10
    assert [one.folder for one in queue.trainings if is_done(one, tmp_path)] == taken

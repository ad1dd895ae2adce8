"""Imports the results of runs on another machine from a report, so that the queue does not repeat these runs.

A report (`--report`) has the result of every run and the recipe of its member. The results are written to the folders
of the runs. A report has no checkpoints, so `--ship` is used on the machine that has the runs.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformer.errors import HeadlightError
from transformer.files.strict_json import parse_json
from transformer.files.untrusted_values import shown
from transformer.studies.measure_member import RESULT, checked, write_json
from transformer.studies.training_queue import Queue


def read_report(queue: Queue, report: Path) -> dict[str, dict[str, Any]]:
    """The results of the queue's runs in a report, by the folder of the run.

    Args:
        report: a JSON file that `write_report` made.

    Raises:
        HeadlightError: the report cannot be read, or its runs were made with other recipes than those of the queue.
    """
    found: dict[tuple[str, int], dict[str, Any]] = {}
    try:
        for member, stated in parse_json(report.read_text(encoding="utf-8"))["members"].items():
            for run in stated["runs"]:
                recipe = stated["recipe"]
                training = recipe["training"] | {"seed": run["seed"]}
                found[member, run["seed"]] = run | {"recipe": recipe | {"training": training}}
    except OSError as error:
        raise HeadlightError(f"The report {report} cannot be read: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HeadlightError(
            f"{report} is not the report of a queue ({shown(str(error))}). Name the .json file that --report wrote."
        ) from None
    return {
        one.folder: checked(found[one.member, one.seed], one, f"The run {one.folder} in {report}")
        for one in queue.trainings
        if (one.member, one.seed) in found
    }


def new_results(results: Mapping[str, dict[str, Any]], runs: Path) -> list[str]:
    """The folders of the runs that have a result and no files in `runs` yet."""
    return [folder for folder in results if not any((runs / folder).glob("*"))]


def write_results(results: Mapping[str, dict[str, Any]], runs: Path) -> list[str]:
    """Writes a `result.json` for each run that has no files in `runs` yet.

    Returns:
        The folders of these runs, inside `runs`.

    Raises:
        OSError: the disk is full, or the folder cannot be written to.
    """
    taken = new_results(results, runs)
    for folder in taken:
        write_json(runs / folder / RESULT, results[folder])
    return taken

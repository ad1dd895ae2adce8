"""The command `queue`."""

from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transformer.commands.options import Device
from transformer.errors import ConfigError

if TYPE_CHECKING:
    from transformer.studies.training_queue import Queue, Training


def queue(
    file: Annotated[str, typer.Argument(metavar="QUEUE.toml", help="A queue file, or the name of a bundled one.")],
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Relative paths of texts are relative to this folder. Default: the current folder."
        ),
    ] = None,
    runs: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the runs, a folder for each.")] = Path("runs"),
    only: Annotated[str, typer.Option(metavar="PATTERN", help='Only members that match, for example "heads-*".')] = "*",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what is done and what is left, and stop.")] = False,
    report: Annotated[
        Path | None,
        typer.Option(metavar="NAME", help="Train nothing: gather the results into NAME.json and NAME.md."),
    ] = None,
    ship: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Train nothing: copy the members that have a lesson to DIR, with a card each."
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="An earlier report, for example of another machine. Runs with a result in it are not repeated, unless "
            "they were started here.",
        ),
    ] = None,
    device: Device = "auto",
) -> None:
    """Train models that differ in one option each, and compare them.

    Each model is trained as by `train` and then scored, one after the other. Finished ones are skipped, and interrupted
    ones are resumed. Ctrl-C saves and stops; the same command continues. A second process with the same command shares
    the work.

    \b
    Examples:
      python -m transformer queue families --data texts --dry-run
      python -m transformer queue families --data texts --runs runs/families
      python -m transformer queue families --data texts --runs runs/families --only "heads-*"
      python -m transformer queue families --data texts --runs runs/families --results pretrained/families.json
      python -m transformer queue families --data texts --runs runs/families --report families
      python -m transformer queue families --data texts --runs runs/families --ship pretrained
      python -m transformer queue toy-families --runs runs/toy-families
    """
    from transformer.studies.queue_file import load_queue

    gathers = report is not None or ship is not None
    if only != "*" and gathers:
        raise ConfigError("--report and --ship use all members: leave --only out.")
    if dry_run and gathers:
        raise ConfigError("--report and --ship train nothing: leave --dry-run out.")
    loaded = load_queue(file, data)
    chosen = [training for training in loaded.trainings if fnmatch(training.member, only)]
    if not chosen:
        raise ConfigError(f"No member matches {only}. The members are: {', '.join(loaded.recipes)}.")
    imported = [] if results is None else _import(loaded, results, runs, dry_run=dry_run)
    if report is not None:
        from transformer.studies.study_report import write_report

        for path in write_report(loaded, runs, report):
            typer.echo(f"Written: {path}", err=True)
    if ship is not None:
        _ship(loaded, runs, ship)
    if gathers:
        return
    if dry_run:
        _list(chosen, runs, imported)
        return
    from transformer.studies.run_queue import run_queue

    run_queue(loaded, chosen, runs, device)


def _import(loaded: "Queue", results: Path, runs: Path, *, dry_run: bool) -> list[str]:
    """Writes the results of an earlier report into the folders of runs that have none. Returns these folders."""
    from transformer.studies.imported_results import new_results, read_report, write_results

    known = read_report(loaded, results)
    if dry_run:
        return new_results(known, runs)
    imported = write_results(known, runs)
    for folder in imported:
        typer.echo(f"Imported: {folder}", err=True)
    return imported


def _ship(loaded: "Queue", runs: Path, folder: Path) -> None:
    """Copies the members that have a lesson to a folder."""
    from transformer.studies.ship_members import ship

    copied = ship(loaded, runs, folder)
    for path in copied:
        typer.echo(f"Written: {path}", err=True)
    if not copied:
        base = next(iter(loaded.recipes))
        typer.echo(
            f"Nothing was copied to {folder}. Only members with a `lesson` are copied, once they and the first "
            f"member, {base}, have results and checkpoints here.",
            err=True,
        )


def _list(chosen: list["Training"], runs: Path, imported: list[str]) -> None:
    """Prints the status and the folder of each run."""
    from transformer.studies.run_queue import is_done

    for training in chosen:
        if training.folder in imported or is_done(training, runs):
            status = "done"
        else:
            status = "started" if (runs / training.folder).is_dir() else "to do"
        typer.echo(f"{status:8}{training.folder}")

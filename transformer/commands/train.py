"""The command `train`."""

import json
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transformer.commands.options import Device
from transformer.errors import CheckpointError, ConfigError
from transformer.files.untrusted_values import shown

if TYPE_CHECKING:
    from transformer.config import Recipe
    from transformer.training.distributed import Ranks


def train(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE.toml|FOLDER",
            help="A recipe file, or the name of a bundled one; with --resume, the folder of a run.",
        ),
    ],
    set: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="section.key=value", help="Change one value of the recipe. Can be repeated."),
    ] = None,
    run_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for checkpoints and metrics. Default: runs/NAME-OF-THE-RECIPE."),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Continue a run from its last save: give its folder, or its recipe and --run-dir."
        ),
    ] = False,
    init_from: Annotated[
        Path | None,
        typer.Option(
            metavar="CHECKPOINT",
            help="Start with the weights and the vocabulary of this checkpoint, whatever training.init_from says.",
        ),
    ] = None,
    own_vocabulary: Annotated[
        bool,
        typer.Option(
            "--own-vocabulary",
            help="With --init-from or training.init_from: use the recipe's vocabulary instead. Tokens in both keep "
            "their embedding.",
        ),
    ] = False,
    device: Device = "auto",
) -> None:
    """Train a model by a recipe, on the corpus that the recipe names.

    The folder of the run gets best.safetensors, last.safetensors and average.safetensors, metrics.jsonl, a log for
    TensorBoard, and recipe.toml with all options of the run.

    Ctrl-C saves and stops. --resume with the folder of the run continues as if it had not stopped. Relative paths in
    the recipe stay relative to the folder in which the run was started. Options that change what is computed cannot be
    changed then, except peak_rate and clip_norm. Others can, such as training.updates.

    \b
    Examples:
      python -m transformer train reverse
      python -m transformer train own-text --set data.train=my.en-de.tsv
      python -m transformer train paper-base --set data.train=my.en-de.tsv --set data.valid=my-valid.tsv
      python -m transformer train my-recipe.toml --run-dir runs/second-try --set training.updates=20000
      python -m transformer train --resume runs/second-try
      python -m transformer train --resume runs/second-try --set training.updates=40000
      python -m transformer train --resume runs/second-try --set data.train=moved/my.en-de.tsv
      torchrun --nproc-per-node 8 -m transformer train paper-base --set data.train=my.en-de.tsv --set data.valid=none
      torchrun --nproc-per-node 8 -m transformer train --resume runs/paper-base
    """
    from transformer.recipe_files import check_files

    with _ranks() as ranks:
        changes = [*(set or []), *_start_options(init_from, own_vocabulary)]
        loaded, folder = _resumed(recipe, changes, run_dir, ranks) if resume else _new(recipe, changes, run_dir)
        # Only the first process reads the checkpoint to start with, and only for a new run.
        starts = not resume and (ranks is None or ranks.is_main)
        check_files(loaded, _resume_command(folder) if resume else "", starts=starts)

        from transformer.training import train as run

        run(loaded, folder, resume, device, ranks)


def _start_options(init_from: Path | str | None, own_vocabulary: bool) -> list[str]:
    """The two options about the checkpoint to start with, as changes of the recipe."""
    if init_from is None:
        return ["training.own_vocabulary=true"] if own_vocabulary else []
    file = json.dumps(str(init_from), ensure_ascii=False)
    return [f"training.init_from={file}", f"training.own_vocabulary={str(own_vocabulary).lower()}"]


def _ranks() -> "AbstractContextManager[Ranks | None]":
    """The processes of the run, if torchrun started it; an invalid recipe is then reported only once."""
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return nullcontext()  # torch is not imported yet, so an error in a recipe is reported quickly

    from transformer.training.distributed import Ranks

    return Ranks()


def _new(recipe: str, changes: list[str], run_dir: Path | None) -> "tuple[Recipe, Path]":
    """The recipe and the folder of a new run, or of one that is resumed by its recipe."""
    from transformer.recipe import bundled, load_recipe

    if Path(recipe).is_dir() and recipe not in bundled():
        raise ConfigError(
            f"{recipe} is a folder. If it is that of a run, --resume continues it. For a new run, name a recipe."
        )
    loaded = load_recipe(recipe, changes, _ask if _can_ask() else None)
    return loaded, run_dir or Path("runs") / _folder_name(loaded.name)


def _resumed(place: str, changes: list[str], run_dir: Path | None, ranks: "Ranks | None") -> "tuple[Recipe, Path]":
    """The recipe and the folder of a run to continue. `place`: its folder, or its recipe.

    Only the machine of rank 0 needs the folder: its recipe is broadcast.
    """
    from transformer.recipe import bundled
    from transformer.training.run_recipe import read_run_recipe, read_sent_recipe, recipe_to_send

    folder = Path(place)
    sent = ranks.broadcast(recipe_to_send(folder)) if ranks else b""
    if ranks and sent and not ranks.is_main and run_dir is None:
        return read_sent_recipe(sent, changes), folder
    if not folder.is_dir() or (run_dir is not None and place in bundled()):
        if run_dir is None and not folder.exists() and place not in bundled():
            raise ConfigError(
                f"There is no folder {place} (relative to {Path.cwd()}). Name the folder of a run, or give its recipe "
                "and --run-dir."
            )
        recipe, run = _new(place, changes, run_dir)
        started = _start_of(run)
        if not started:
            return recipe, run
        try:
            return _new(place, [*started, *changes], run_dir)
        except CheckpointError as error:  # values of the recipe are fitted to the checkpoint to start with
            instead = f"The run has begun and no longer needs that checkpoint. Continue it with: {_resume_command(run)}"
            raise CheckpointError(f"{error} {instead}") from None
    if run_dir is not None:
        raise ConfigError(f"--resume {place} names the folder of a run already: leave --run-dir out.")
    return read_run_recipe(folder, changes), folder


def _start_of(folder: Path) -> list[str]:
    """What the run in this folder was started with, as changes of its recipe: a command that resumes the run need not
    repeat it."""
    from transformer.recipe import RECIPE
    from transformer.training.run_recipe import read_run_recipe

    if not (folder / RECIPE).is_file():
        return []
    training = read_run_recipe(folder).training
    return _start_options(training.init_from, training.own_vocabulary)


def _resume_command(folder: Path) -> str:
    from transformer.training.run_recipe import resume_command

    return resume_command(folder)


def _can_ask() -> bool:
    """Whether somebody at a terminal can answer a question."""
    return "TORCHELASTIC_RUN_ID" not in os.environ and sys.stdin.isatty() and sys.stderr.isatty()


def _ask(question: str) -> str:
    return str(typer.prompt(question, err=True))


def _folder_name(name: str) -> str:
    """The name of a recipe, if it can be the name of a folder in runs/."""
    if name in ("", "..") or "\0" in name or Path(name).name != name:
        raise ConfigError(
            f"The recipe's name = {shown(name)} cannot be the name of a folder in runs/: change it, or give --run-dir."
        )
    return name

"""The command `train`."""

import os
from pathlib import Path
from typing import Annotated

import typer

from transformer.commands.options import Device
from transformer.errors import ConfigError
from transformer.files.untrusted_values import shown


def train(
    recipe: Annotated[str, typer.Argument(metavar="RECIPE.toml", help="A recipe file, or the name of a bundled one.")],
    set: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="section.key=value", help="Change one value of the recipe. Can be repeated."),
    ] = None,
    run_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for checkpoints and metrics. Default: runs/NAME-OF-THE-RECIPE."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the run in the folder from its last save.")
    ] = False,
    init_from: Annotated[
        Path | None, typer.Option(metavar="CHECKPOINT", help="Start from these weights and this vocabulary.")
    ] = None,
    own_vocabulary: Annotated[
        bool,
        typer.Option(
            "--own-vocabulary",
            help="With --init-from: use the recipe's vocabulary instead. Tokens in both keep their embedding.",
        ),
    ] = False,
    device: Device = "auto",
) -> None:
    """Train a model by a recipe, on the corpus that the recipe names.

    The folder of the run gets best.safetensors, last.safetensors and average.safetensors, metrics.jsonl, and a log
    for TensorBoard. Ctrl-C saves and stops; --resume continues as if it had not stopped.

    \b
    Examples:
      python -m transformer train reverse
      python -m transformer train paper-base --set data.train=my.tsv --set data.valid=my-valid.tsv
      python -m transformer train my-recipe.toml --run-dir runs/second-try --set training.updates=20000
      python -m transformer train my-recipe.toml --run-dir runs/second-try --resume
      torchrun --nproc-per-node 8 -m transformer train paper-base --set data.train=my.tsv
    """
    from transformer.recipe import check_files, load_recipe

    try:
        if own_vocabulary and init_from is None:
            raise ConfigError("--own-vocabulary is for weights from a checkpoint: add --init-from, or leave it out.")
        loaded = load_recipe(recipe, set or [])
        check_files(loaded)
        folder = run_dir or Path("runs") / _folder_name(loaded.name)
    except ConfigError:
        if "TORCHELASTIC_RUN_ID" in os.environ:  # then one process reports it for all
            from transformer.training.distributed import Ranks

            with Ranks():
                raise
        raise

    from transformer.training import train as run
    from transformer.training.init_from import Start

    start = None if init_from is None else Start(init_from, own_vocabulary)
    run(loaded, folder, resume, start, device)


def _folder_name(name: str) -> str:
    """The name of a recipe, if it can be the name of a folder in runs/."""
    if name in ("", "..") or "\0" in name or Path(name).name != name:
        raise ConfigError(
            f"The recipe's name = {shown(name)} cannot be the name of a folder in runs/: change it, or give --run-dir."
        )
    return name

"""The files that a recipe names: a check that they exist, before anything else is done with the recipe, and their names
without the folders of this machine, for a checkpoint."""

import shlex
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict
from pathlib import Path
from typing import Any

from transformer.config import Recipe
from transformer.data.hugging_face_address import PREFIX, is_data_set
from transformer.errors import ConfigError

# The options that name one file each, with their sections.
SINGLE = (
    ("data", "valid"),
    ("data", "valid_target"),
    ("data", "back_translator"),
    ("tokenizer", "model"),
    ("training", "init_from"),
)


def check_files(recipe: Recipe, command: str = "", *, starts: bool = True) -> None:
    """Raises ConfigError with all files of a recipe that do not exist.

    Args:
        command: the command that resumes the run of this recipe, if it is to be resumed. Its files may have moved.
        starts: whether the checkpoint that the recipe starts with is needed. A run that has saved its weights no longer
            needs it.
    """
    data = recipe.data
    named = {"data.train": data.train, "data.train_target": data.train_target}
    for number, part in enumerate(data.mix):
        files = (part.file, part.target_file)
        named[f"data.mix.{number}"] = tuple(str(data.path_of(file)) for file in files if file is not None)
    for section, option in SINGLE:
        if option == "init_from" and not starts:
            continue
        file = getattr(getattr(recipe, section), option)
        named[f"{section}.{option}"] = () if file is None else (file,)
    local = [(option, file) for option, files in named.items() for file in files if not is_data_set(file)]
    missing = [(option, file) for option, file in local if not Path(file).is_file()]
    if not missing:
        return
    listed = "\n".join(f"- {option}: {file}" for option, file in missing)
    own = "--set data.folder=FOLDER" if data.mix else "--set data.train=my-corpus.tsv"
    advice = f"Name your own files like this: {own}"
    if any(option == "training.init_from" for option, _ in missing):
        advice = (
            "To start with another checkpoint, give --init-from CHECKPOINT; to start with random weights, "
            "--set training.init_from=none --set training.own_vocabulary=false"
        ) + (f". {advice}" if len(missing) > 1 else "")
    elif command:
        moved = {option: files for option, files in named.items() if any(option == name for name, _ in missing)}
        places = _places(moved, {file for _, file in missing})
        advice = f"If they have moved, the run goes on with the same text from there: {command} {places}"
    raise ConfigError(
        f"These files of the recipe do not exist:\n{listed}\nRelative paths are relative to the current folder, "
        f"{Path.cwd()}. {advice}"
    )


def _places(named: Mapping[str, Sequence[str]], missing: Set[str]) -> str:
    """Options of a command line that name files, the missing ones in a folder NEW."""
    places = dict[str, str]()
    for option, files in named.items():
        new = [f"NEW/{Path(file).name}" if file in missing else file for file in files]
        mix = option.startswith("data.mix")
        places["data.folder" if mix else option] = "NEW" if mix else new[0] if len(new) == 1 else f"[{', '.join(new)}]"
    return " ".join(f"--set {shlex.quote(f'{option}={value}')}" for option, value in places.items())


def recipe_for_checkpoint(recipe: Recipe) -> dict[str, Any]:
    """The recipe as a checkpoint stores it. A checkpoint is passed on, so it names no folder of this machine: a path is
    stored relative to `data.folder` or to the current folder. Of a path outside both, only the file name is stored."""
    values = asdict(recipe)
    data = values["data"]
    folders = [Path(recipe.data.folder).absolute()] if recipe.data.folder else []

    def name_of(path: str | None) -> str | None:
        if path is not None and is_data_set(path):  # hf:NAME:CONFIG:SPLIT, where NAME may be a folder
            name, separator, rest = path.removeprefix(PREFIX).partition(":")
            return f"{PREFIX}{name_of(name)}{separator}{rest}"
        if path is None or not Path(path).is_absolute():
            return path
        inside = [folder for folder in (*folders, Path.cwd()) if Path(path).is_relative_to(folder)]
        return str(Path(path).relative_to(inside[0])) if inside else Path(path).name

    for option in ("train", "train_target"):
        data[option] = tuple(name_of(file) for file in data[option])
    for part in data["mix"]:
        part["file"], part["target_file"] = name_of(part["file"]), name_of(part["target_file"])
    for section, option in SINGLE:
        values[section][option] = name_of(values[section][option])
    return values | {"data": data | {"folder": None, "prepared": None}}

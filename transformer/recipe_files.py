"""Checks that the files that a recipe names exist, before anything else is done with the recipe."""

import shlex
from collections.abc import Mapping, Sequence, Set
from pathlib import Path

from transformer.config import Recipe
from transformer.errors import ConfigError


def check_files(recipe: Recipe, command: str = "") -> None:
    """Raises ConfigError with all files of a recipe that do not exist.

    Args:
        command: the command that resumes the run of this recipe, if it is to be resumed. Its files may have moved.
    """
    data = recipe.data
    named = {"data.train": data.train, "data.train_target": data.train_target}
    for number, part in enumerate(data.mix):
        files = (part.file, part.target_file)
        named[f"data.mix.{number}"] = tuple(str(data.place(file)) for file in files if file is not None)
    for section, option in (("data", "valid"), ("data", "valid_target"), ("tokenizer", "model")):
        file = getattr(getattr(recipe, section), option)
        named[f"{section}.{option}"] = () if file is None else (file,)
    local = [(option, file) for option, files in named.items() for file in files if not file.startswith("hf:")]
    missing = [(option, file) for option, file in local if not Path(file).is_file()]
    if not missing:
        return
    listed = "\n".join(f"- {option}: {file}" for option, file in missing)
    own = "--set data.folder=FOLDER" if data.mix else "--set data.train=my-corpus.tsv"
    advice = f"Name your own files like this: {own}"
    if command:
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

"""The recipe of a run in its folder, `recipe.toml`: with it, `train --resume FOLDER` needs nothing else.

    # started_in = "/home/me/project"
    name = "mine"
    [model]
    ...                                      every option, as it was after --set

Paths stay as they were given, because checkpoints contain the recipe, too. A relative path is relative to the folder in
which the run was started; if that folder does not exist, as on another machine, it is relative to the current folder.

If a run uses several machines, only that of rank 0 has the folder of the run: it sends the file to the others.
"""

import json
import shlex
import shutil
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from transformer.config import Recipe
from transformer.data.hugging_face_address import PREFIX, is_data_set
from transformer.errors import ConfigError, TrainingError
from transformer.files.atomic_write import replacing
from transformer.files.untrusted_values import shown
from transformer.recipe import RECIPE, load_recipe, recipe_text
from transformer.recipe_files import SINGLE

_WRITTEN = "# The recipe of this run, with every option. The trainer writes this file. To continue the run:"
_PLACE = "# started_in = "


def resume_command(folder: Path) -> str:
    """The command that continues the run in this folder."""
    return command("train", "--resume", str(folder))


def command(*words: str) -> str:
    """A command of this program as a user can give it. It begins with "python" only if that is the Python that runs
    this program, otherwise with the path of the latter, such as .venv/bin/python."""
    here, found = Path(sys.executable), shutil.which("python")
    if found and Path(found).absolute().parent == here.parent:
        python = "python"
    else:
        python = str(here.relative_to(Path.cwd())) if here.is_relative_to(Path.cwd()) else str(here)
    return shlex.join((python, "-m", "transformer", *words))


def check_name(folder: Path) -> None:
    """Raises TrainingError if the name of the folder cannot be printed in one line and in UTF-8."""
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in str(folder)):
        raise TrainingError(
            f'The name of the folder "{shown(str(folder))}" has a line break, another control character, or bytes that '
            "are not UTF-8. The commands that a run prints could not name it: choose another folder with --run-dir."
        )


def keep_recipe(folder: Path, recipe: Recipe) -> None:
    """Writes the recipe, unless the folder already has the same one.

    Raises:
        TrainingError: the folder has another recipe.toml, which no run has written; or it cannot be written.
    """
    path = folder / RECIPE
    # With the size of the vocabulary that was asked for, not the real one (fit_vocabulary).
    recipe = replace(recipe, model=replace(recipe.model, vocab_size=recipe.tokenizer.vocab_size))
    try:
        if path.exists():
            if _is_same(folder, recipe):
                return
            if not path.read_text(encoding="utf-8", errors="replace").startswith(_WRITTEN):
                raise TrainingError(
                    f"{path} differs from the recipe of this run, which would be written there. Move it, or choose "
                    "another folder with --run-dir."
                )
        with replacing(path) as temporary:
            place = f"{_PLACE}{json.dumps(str(Path.cwd()))}"
            head = f"{_WRITTEN}\n#     {resume_command(folder)}\n# Relative paths are relative to this folder:\n{place}"
            temporary.write_text(f"{head}\n\n{recipe_text(recipe)}", encoding="utf-8")
    except OSError as error:
        raise TrainingError(f"The recipe cannot be written to {path}: {error.strerror or error}.") from None


def read_run_recipe(folder: Path, overrides: Sequence[str] = ()) -> Recipe:
    """The recipe of the run in this folder.

    Args:
        overrides: changes as for `load_recipe`; their relative paths are relative to the current folder.

    Raises:
        ConfigError: the folder has no recipe, or it is invalid.
    """
    path = folder / RECIPE
    if not path.is_file():
        raise ConfigError(
            f"{folder} has no {RECIPE}. If it is the folder of a run, name the run's recipe, too: "
            f"python -m transformer train RECIPE.toml --resume --run-dir {shlex.quote(str(folder))}"
        )
    place = _started_in(path)
    elsewhere = place is not None and place != Path.cwd() and place.is_dir()
    stated = load_recipe(path)
    paths = _paths(stated, place) if place and elsewhere else ()
    return load_recipe(path, [*_languages(stated), *paths, *overrides])


def recipe_to_send(folder: Path) -> bytes:
    """The content of `recipe.toml` in this folder, for processes that do not see the folder; b"" if there is none."""
    path = folder / RECIPE
    return path.read_bytes() if path.is_file() else b""


def read_sent_recipe(content: bytes, overrides: Sequence[str] = ()) -> Recipe:
    """The recipe as `read_run_recipe` returns it on the machine that has the folder of the run. Raises ConfigError."""
    with TemporaryDirectory() as folder:
        (Path(folder) / RECIPE).write_bytes(content)
        return read_run_recipe(Path(folder), overrides)


def _is_same(folder: Path, recipe: Recipe) -> bool:
    try:
        return read_run_recipe(folder) == recipe
    except ConfigError:
        return False


def _started_in(path: Path) -> Path | None:
    """The folder in which the run was started; None if the file does not say it."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    try:
        return next((Path(json.loads(line.removeprefix(_PLACE))) for line in lines if line.startswith(_PLACE)), None)
    except (ValueError, TypeError):
        return None


def _languages(recipe: Recipe) -> list[str]:
    """The languages of the run, as changes of the recipe. Thus they stay the same if the files have other names now."""
    found = {option: getattr(recipe.data, option) for option in ("source_language", "target_language")}
    return [f"data.{option}={json.dumps(language, ensure_ascii=False)}" for option, language in found.items()]


def _paths(recipe: Recipe, place: Path) -> list[str]:
    """The paths of a recipe, of which relative ones are relative to `place`, as changes of the recipe."""

    def from_there(file: str) -> str:
        if not is_data_set(file):
            return str(place / file)
        name, colon, rest = file.removeprefix(PREFIX).partition(":")  # the name of a data set or a local folder
        return f"{PREFIX}{place / name}{colon}{rest}" if (place / name).is_dir() else file

    data = recipe.data
    lists = {"data.train": data.train, "data.train_target": data.train_target}
    single = {f"{section}.{option}": getattr(getattr(recipe, section), option) for section, option in SINGLE}
    single |= {"data.prepared": data.prepared, "data.folder": (data.folder or "") if data.mix else None}
    found = {option: [from_there(file) for file in files] for option, files in lists.items() if files}
    moved = found | {option: from_there(file) for option, file in single.items() if file is not None}
    return [f"{option}={json.dumps(value, ensure_ascii=False)}" for option, value in moved.items()]

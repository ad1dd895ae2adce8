"""Recipes and queues: TOML files that a user names by their path or, if they are bundled, by their name."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformer.errors import ConfigError
from transformer.files.untrusted_values import nearest

RECIPES = Path(__file__).parents[1] / "recipes"  # the folder of the bundled recipes


def bundled_in(folder: Path) -> dict[str, Path]:
    """The bundled files of a folder, by name."""
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def find_file(path_or_name: str | Path, bundled: Mapping[str, Path], kind: str) -> Path:
    """The file with this path, or else the bundled one with this name.

    Args:
        kind: what it is called in the message: "recipe" or "queue".

    Raises:
        ConfigError: there is neither.
    """
    path = Path(path_or_name)
    if path.is_file():
        return path
    if str(path_or_name) in bundled:
        return bundled[str(path_or_name)]
    raise ConfigError(
        f"There is no {kind} {path}: neither a file (relative to {Path.cwd()}) nor a bundled {kind}. "
        f"{nearest(path.stem, list(bundled))}"
    )


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """The values of a file.

    Raises:
        ConfigError: it cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"The {kind} {path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, a number of 5,000 digits, too many brackets
        raise ConfigError(f"The {kind} {path} is not TOML: {error}.") from error

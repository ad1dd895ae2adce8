"""A recipe in a file of its own, and the message about one that cannot be used."""

from pathlib import Path

import pytest

from transformer.errors import ConfigError
from transformer.recipe import load_recipe


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def complaint(path: Path | str, *overrides: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load_recipe(path, overrides)
    return str(caught.value)

"""`pip install .` installs all that the packages need: their other files, the dependencies and the command."""

import re
import tomllib
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_file_beside_the_code_is_installed() -> None:
    given = PROJECT["tool"]["setuptools"]["package-data"]
    left_out = []
    for package in ("app", "transformer"):
        for path in (ROOT / package).rglob("*"):
            if path.is_dir() or path.suffix in (".py", ".pyc") or path.name.startswith("."):
                continue
            within = path.relative_to(ROOT / package).as_posix()
            in_any_package = any(fnmatch(path.name, pattern) for pattern in given["*"])
            if not in_any_package and not any(fnmatch(within, pattern) for pattern in given[package]):
                left_out.append(f"{package}/{within}")
    assert not left_out


def test_the_command_exists() -> None:
    module, name = PROJECT["project"]["scripts"]["headlight"].split(":")
    assert callable(getattr(import_module(module), name))
    assert (ROOT / PROJECT["tool"]["setuptools"]["dynamic"]["dependencies"]["file"][0]).is_file()


@pytest.mark.parametrize("package", ["app", "transformer"])
def test_its_readme_names_every_folder(package: str) -> None:
    named = re.findall(r"^\| `(\w+)` \|", (ROOT / package / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    folders = {path.name for path in (ROOT / package).iterdir() if path.is_dir() and path.name[0] not in "._"}
    assert set(named) == folders
    assert len(named) == len(folders)

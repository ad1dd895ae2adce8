"""The README and the page on the library are run: their snippets, their links, their commands."""

import contextlib
import io
import pydoc
import re
import shlex
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any
from urllib.parse import quote

import pytest
import torch
import typer
from typer.testing import CliRunner

import transformer
from tests.support.free_port import free_port
from tests.support.patience import PATIENCE
from transformer import Trace, Translator
from transformer.cli import app
from transformer.config import ModelConfig
from transformer.model import Transformer
from transformer.recipe import load_recipe

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
LIBRARY = (ROOT / "transformer" / "README.md").read_text(encoding="utf-8")
SHORT = '"training.updates=1", "training.validation_sentences=2", "data.toy_epoch=200"'  # in place of the page's


def snippets(language: str, page: str = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, flags=re.S)


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder as that of Headlight, to write into. A checkpoint is loaded once for all snippets of a test."""
    (tmp_path / "pretrained").symlink_to(ROOT / "pretrained")
    (tmp_path / "README.md").write_text(README, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Translator, "load", staticmethod(cache(Translator.load)))
    return tmp_path


def run(code: str, names: dict[str, Any]) -> None:
    """Runs a snippet. What a comment after `print(...)` promises must be printed, in this order."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(re.sub(r'"training\.updates=\d+"', SHORT, code), names)
    lines = iter(printed.getvalue().splitlines())
    for promise in re.findall(r"^print\(.*\)  # (.+)$", code, flags=re.M):
        assert promise in lines, f"{promise!r} is not what is printed:\n{printed.getvalue()}"


def test_the_first_snippet_of_the_readme_has_three_lines() -> None:
    code = snippets("python")[0]
    assert "Translator.load" in code
    assert "  # " in code  # what it prints
    assert len([line for line in code.splitlines() if line.strip()]) == 3


def test_the_snippets_of_the_readme_run(folder: Path) -> None:
    config = ModelConfig(vocab_size=20, encoder_layers=1, decoder_layers=1, d_model=8, d_ff=8, heads=2)
    names: dict[str, Any] = {
        "model": Transformer(config).eval(),
        "source": torch.tensor([[4, 5, 3]]),
        "target": torch.tensor([[2, 6]]),
    }
    for code in snippets("python"):
        run(code, names)
    weights = names["probe"].records["decoder.layers.0.cross_attention.weights"]
    assert weights.shape == (1, 2, 2, 3)
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 2, 2))
    found = Trace.load("station.npz")
    assert found.checkpoint == "en-de"
    assert all(site.endswith(".cross_attention.weights") for site in found.arrays)


def test_the_page_on_the_library_and_the_help_of_the_package_run(folder: Path) -> None:
    names: dict[str, Any] = {}
    codes = [code for code in snippets("python", LIBRARY) if "ctranslate2" not in code]
    for code in codes:
        run(code, names)
    assert "<title>Where is the station?</title>" in (folder / "station.html").read_text(encoding="utf-8")
    aligned = names["mean"].loc[names["mean"].groupby("query")["value"].idxmax()]
    assert dict(zip(aligned["predicts"], aligned["key_token"], strict=True))["▁Bahnhof"] == "▁station"
    (folder / "runs").rename(folder / "runs-of-the-page")
    guide = pydoc.plain(pydoc.render_doc(transformer))
    assert [name for name in transformer.__all__ if f"class {name}(" not in guide and f"    {name}(" not in guide] == []
    tour, _, _ = (transformer.__doc__ or "").partition("The parts, ")
    names = {}
    for example in re.findall(r"(?:^    .*\n|^\n(?=    ))+", tour, flags=re.M):
        run(dedent(example), names)
    assert names["translator"].checkpoint.recipe["name"] == "reverse"


@pytest.fixture
def served(folder: Path) -> Iterator[str]:
    """The address of the server of the page on the library, started as the page says, on a free port."""
    (code,) = [code for code in snippets("python", LIBRARY) if "ctranslate2" in code]
    (folder / "server.py").write_text(code, encoding="utf-8")
    export, serve, _ = next(code for code in snippets("bash", LIBRARY) if "uvicorn" in code).splitlines()
    done = CliRunner().invoke(app, arguments_of(export))
    assert done.exit_code == 0, done.output
    command = [sys.executable, *shlex.split(serve)[1:]]
    command[command.index("8000")] = port = str(free_port())
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout
        assert any("Uvicorn running" in line for line in process.stdout)
        yield f"http://127.0.0.1:{port}"
        process.terminate()


def test_ctranslate2_serves_as_the_page_on_the_library_says(served: str) -> None:
    (line,) = re.findall(r"^curl .*$", LIBRARY, flags=re.M)
    asked, promised = re.findall(r'"(text=.*?)"\s+# (.*)', line)[0]
    with urllib.request.urlopen(f"{served}?{quote(asked, safe='=')}", timeout=PATIENCE) as answer:
        assert answer.read().decode() == promised


def arguments_of(line: str) -> list[str]:
    """Of a command line, what `transformer` gets."""
    words = shlex.split(line, comments=True)
    return [word for word in words[words.index("transformer") + 1 :] if word != "<" and not word.endswith(".txt")]


def test_the_command_line_knows_every_command_and_option_of_the_pages() -> None:
    lines = [line for page in (README, LIBRARY) for code in snippets("bash", page) for line in code.splitlines()]
    commands = [arguments_of(line) for line in lines if "-m transformer" in line and not line.startswith("#")]
    assert len(commands) > 12
    group = typer.main.get_command(app)
    for arguments in commands:
        context = group.make_context("headlight", list(arguments))
        _, command, rest = group.resolve_command(context, arguments)  # type: ignore[attr-defined]
        command.make_context(arguments[0], rest, parent=context)  # it exits where an option is unknown


def test_the_recipe_of_a_mix_on_the_page_on_the_library_is_valid(tmp_path: Path) -> None:
    (code,) = snippets("toml", LIBRARY)
    (tmp_path / "mine.toml").write_text(code, encoding="utf-8")
    recipe = load_recipe(tmp_path / "mine.toml")
    assert [part.monolingual for part in recipe.data.mix] == [False, True]
    assert Path(ROOT, str(recipe.data.back_translator)).is_file()


def test_every_link_and_file_of_the_readme_is_there() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    links += [f"transformer/{link}" for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", LIBRARY)]
    files = re.findall(r"(?:transformer|pretrained|tests|app)/[\w./-]+\.(?:py|toml|md|safetensors)", README)
    named = {*links, *files} - {"pretrained/my-reverse.safetensors"}  # the one that the reader is to make
    assert len(named) > 10
    assert not [name for name in sorted(named) if not (ROOT / name).exists()]


def test_ci_runs_the_test_command_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "<!-- the tests -->" in script
    parts = ["install=${command% && *}", "tests=${command##* && }", '-c "$install"', "ruff", "mypy", '-c "$tests"']
    places = [script.index(part) for part in parts]
    assert places == sorted(places)
    assert "|| true" not in script
    command = README.split("<!-- the tests -->")[1].split("```")[1].removeprefix("bash\n").strip()
    assert command.startswith("python3 -m venv .venv && ")
    assert command.endswith("-m pytest")


def test_the_first_screen_says_what_it_is_shows_it_and_how_to_run_and_test_it() -> None:
    first = README.splitlines()[:30]
    text = "\n".join(first)
    assert "![" in text
    assert "streamlit run app/main.py" in text
    assert "-m pytest" in text


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 30 + 150

"""The README is run: its snippets, its links, its commands."""

import re
from pathlib import Path

import pytest
import torch

from transformer.config import ModelConfig
from transformer.model import Transformer

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def snippets(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.S)


def test_the_three_lines_of_the_readme_translate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    code = next(code for code in snippets("python") if "Translator.load" in code)
    assert len([line for line in code.splitlines() if line.strip()]) == 3
    exec(code, {})
    printed = capsys.readouterr().out.strip()
    promised = re.search(r"# (.+)", code)
    assert promised is not None
    assert printed == promised[1]


def test_the_probe_of_the_readme_records_rows_that_sum_to_1() -> None:
    code = next(code for code in snippets("python") if "Probe(" in code)
    config = ModelConfig(vocab_size=20, encoder_layers=1, decoder_layers=1, d_model=8, d_ff=8, heads=2)
    names = {
        "model": Transformer(config).eval(),
        "source": torch.tensor([[4, 5, 3]]),
        "target": torch.tensor([[2, 6]]),
    }
    exec(code, names)
    weights = names["probe"].records["decoder.layers.0.cross_attention.weights"]  # type: ignore[attr-defined]
    assert weights.shape == (1, 2, 2, 3)
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 2, 2))


def test_every_link_and_file_of_the_readme_is_there() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
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

"""What a translation with its page costs besides the search, counted in passes through the model, not in seconds."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.compute import cached_results
from app.compute.subject import Subject
from app.library.checkpoints import CheckpointFile
from transformer.model import Transformer

APP = Path(__file__).resolve().parents[2] / "app"


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sentences in each teacher-forced pass."""
    found: list[int] = []
    states = Transformer.decoder_output

    def counted(self: Transformer, source: Any, *rest: Any) -> Any:
        found.append(len(source))
        return states(self, source, *rest)

    monkeypatch.setattr(Transformer, "decoder_output", counted)
    return found


def test_a_new_sentence_takes_one_pass_for_the_pictures_and_one_for_the_doctor(
    open_app: Callable[..., AppTest], passes: list[int]
) -> None:
    app = open_app()
    passes.clear()
    app.text_input(key="sentence").set_value("the cat in the garden").run()
    assert not app.exception
    assert passes == [1, 1]


def test_another_kind_of_attention_takes_no_pass(open_app: Callable[..., AppTest], passes: list[int]) -> None:
    app = open_app()
    app.text_input(key="sentence").set_value("the cat and the garden").run()
    passes.clear()
    for kind in ("encoder", "decoder", "cross"):
        app.session_state["kind"] = kind
        app.run()
        assert not app.exception
    assert passes == []


def test_what_all_sessions_share_cannot_be_written_to(open_app: Callable[..., AppTest], folder: Path) -> None:
    found = cached_results.observed(Subject(CheckpointFile.at(folder / "en-de.safetensors")), (5, 3), (6, 3))
    for attention in found.attention.values():
        assert not attention.weights.flags.writeable
    assert not any(array.flags.writeable for array in found.trace.arrays.values())


def test_no_full_garbage_collection_follows_each_run_of_a_page() -> None:
    """It looked at all objects of torch and Streamlit, for a quarter of a second, twice the time of the translation."""
    (file,) = [path for path in (APP, APP.parent) if (path / ".streamlit" / "config.toml").is_file()]
    config = tomllib.loads((file / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["runner"]["postScriptGC"] is False

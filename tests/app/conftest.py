"""A folder of tiny checkpoints, and the app opened on it."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.testing.v1 import AppTest

from app.compute.subject import Subject
from app.library.checkpoints import CheckpointFile
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.attention_page import open_attention, tokens, translation, weights
from tests.support.decoding_page import EXAMPLE, PARTS, healthy
from tests.support.masks_page import open_masks
from tests.support.multihead_page import multihead_checkpoints, open_multihead
from tests.support.pages import MAIN, switch_page
from tests.support.patience import PATIENCE
from tests.support.residual_page import open_residual, residual_checkpoints
from tests.support.small_questions import question_checkpoints
from tests.support.small_training import toy_recipe
from tests.support.steps_page import Truth
from tests.support.stub_trainer import stub_trainer
from tests.support.translate_page import open_translate
from transformer.training import train

__all__ = [
    "multihead_checkpoints",
    "open_attention",
    "open_masks",
    "open_multihead",
    "open_residual",
    "open_translate",
    "question_checkpoints",
    "residual_checkpoints",
    "stub_trainer",
    "tokens",
    "translation",
    "weights",
]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`en-de` and `small` (one layer, one head), and a file that is no checkpoint."""
    path = tmp_path_factory.mktemp("checkpoints")
    write_checkpoint(path / "en-de.safetensors")
    (path / "en-de.md").write_text("# A card\n\n![pixel](https://example.org/pixel.png)\n", encoding="utf-8")
    write_checkpoint(path / "small.safetensors", Size(1, 1, 1), toy="reverse")
    (path / "wrong.safetensors").write_bytes(b"this is no checkpoint at all")
    return path


@pytest.fixture
def twins(folder: Path) -> Iterator[list[Path]]:
    """Two models with and without the causal mask in training, as a family."""
    files = [write_checkpoint(folder / "family-base.safetensors", Size(1, 1, 2), seed=5)]
    files.append(write_checkpoint(folder / "family-no-mask.safetensors", Size(1, 1, 2), 6, {"causal_training": False}))
    members = [{"member": "base", "value": True}, {"member": "no-mask", "value": False}]
    family = {"name": "causal-mask", "option": "model.causal_training", "members": members}
    report = folder / "families.json"
    report.write_text(json.dumps({"families": [family], "members": {}}), encoding="utf-8")
    yield files
    for path in (*files, report):
        path.unlink()


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of a toy task, with four snapshots."""
    path = tmp_path_factory.mktemp("runs") / "toy"
    train(toy_recipe(best_by="loss", log_every=2, snapshots=(0, 3, 6, 12)), path, device="cpu")
    return path


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of training runs of the app, which does not exist yet."""
    monkeypatch.setenv("HEADLIGHT_RUNS", str(tmp_path / "runs"))
    monkeypatch.delenv("HEADLIGHT_TRAINING", raising=False)  # which may forbid to start one
    return (tmp_path / "runs").resolve()


@pytest.fixture(autouse=True)
def own_main_module() -> Iterator[None]:
    """Streamlit puts the page it runs in the place of `__main__`, and leaves it there for processes started later."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(autouse=True)
def no_session_is_left() -> Iterator[None]:
    """This thread does not stay a session of Streamlit, which later tests would then ask for its cookies."""
    yield
    assert get_script_run_ctx(suppress_warning=True) is None


@pytest.fixture
def open_app(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Opens the app as a new visitor would, on its first page or on `app/views/PAGE/page.py`, with these query
    parameters in the address."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
    st.cache_data.clear()

    def opened(page: str = "translate", **address: str) -> AppTest:
        app = AppTest.from_file(str(MAIN), default_timeout=PATIENCE)
        if page != "translate":
            switch_page(app, page)
        for name, value in address.items():
            app.query_params[name] = value
        return app.run()

    return opened


@pytest.fixture
def open_decoding(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Opens the Decoding page with these query parameters in the address, and this in the session."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
    st.cache_data.clear()
    st.cache_resource.clear()

    def opened(part: str = PARTS[0], session: dict[str, Any] | None = None, **address: str) -> AppTest:
        app = AppTest.from_file(str(MAIN), default_timeout=PATIENCE)
        switch_page(app, "decoding")
        for name, value in {"details": "true", "sentence": EXAMPLE, "part": part, **address}.items():
            app.query_params[name] = value
        for name, value in (session or {}).items():
            app.session_state[name] = value
        app.run()
        healthy(app)
        return app

    return opened


@pytest.fixture
def truth(folder: Path) -> Truth:
    """What `en-de` computes for the sentence of the tests of Step by step."""
    return Truth(folder / "en-de.safetensors")


@pytest.fixture
def subject(folder: Path) -> Subject:
    """The model `en-de` without edits."""
    return Subject(CheckpointFile.at(folder / "en-de.safetensors"))


@pytest.fixture
def toy_run(finished_run: Path, runs: Path) -> Path:
    """A copy of the finished run in the folder of runs."""
    return Path(shutil.copytree(finished_run, runs / "toy"))


@pytest.fixture
def toy(toy_run: Path, open_app: Callable[..., AppTest]) -> Path:
    """The finished run in the folder of runs, and the app's checkpoints in theirs."""
    return toy_run


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of checkpoints of one's own: `en-de`, a member of a family that ships, and a file that is none."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    write_checkpoint(folder / "en-de.safetensors")
    write_checkpoint(folder / "family-heads-1.safetensors", Size(1, 2, 1), options={"norm": "pre"})
    (folder / "wrong.safetensors").write_bytes(b"no checkpoint")
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
    st.cache_data.clear()
    return folder

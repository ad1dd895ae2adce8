"""The page Residual stream in tests: opened with small checkpoints, its tensors beside the app, and what it draws."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import array, components, held_by, open_view
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator

SENTENCE = "the cat sat on the mat"
Open = Callable[..., AppTest]


@pytest.fixture(scope="module")
def residual_checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoints of both placements of the norm, and odd ones."""
    path = tmp_path_factory.mktemp("residual")
    write_checkpoint(path / "post.safetensors")
    write_checkpoint(path / "pre.safetensors", options={"norm": "pre"})
    write_checkpoint(path / "one.safetensors", Size(1, 1, 1), options={"norm": "pre", "positions": "none"})
    write_checkpoint(path / "deep.safetensors", Size(4, 1, 2), options={"positions": "learned"})
    return path


@pytest.fixture
def open_residual(residual_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens the page with its details open, with these query parameters in the address."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(residual_checkpoints))

    def opened(**address: str) -> AppTest:
        return open_view("residual", **{"sentence": SENTENCE, "details": "true", **address})

    return opened


def flowing(app: AppTest) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the browser gets: the streams, and which token is shown."""
    held = held_by(app)
    (state,) = components(app, "residual_flow")
    assert held["scene"] == state["scene"]
    return held, state


def colors_after(sent: dict[str, Any]) -> np.ndarray:
    """The colours of the vectors before the first and after each sub-layer, (R, 1 + U, D), as the browser computes
    them."""
    changes = np.cumsum(sent["added"] + sent["rest"], axis=1, dtype=np.uint8)
    return np.concatenate([sent["start"][:, None], sent["start"][:, None] + changes], axis=1)


def by_name(figure: dict[str, Any]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The x and y of every trace of a chart by its name."""
    return {data["name"]: (array(data["x"]), array(data["y"])) for data in figure["data"]}


def tensors(path: Path) -> dict[str, np.ndarray]:
    """Every tensor of the sentence, computed beside the app."""
    translator = Translator.load(path)
    found = translator.translate(SENTENCE, n_best=3).sentences[0]
    return dict(trace(translator.model, found.source_ids, found.hypotheses[0].ids, ["encoder.*", "decoder.*"]).arrays)

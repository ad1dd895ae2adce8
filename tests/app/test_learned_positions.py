"""Learned positions that no training sentence had are marked, and left out of the statements about positions."""

import json
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.figures.sinusoids import best_rotations, pairs, rotation_error
from app.figures.theme import number
from app.views.positions.similarity import over_distance
from tests.support.app_checkpoints import write_checkpoint
from tests.support.drawn import array, chart, open_view, page_text, sent
from transformer.decoding.translator import Translator

TRAINED = 41  # of 40 tokens at most, and one for the sign of the end


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """The encoder's positions (P, D), of which those that nothing has reached are far away from the others."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    options = {"positions": "learned", "max_positions": 128}
    path = write_checkpoint(tmp_path / "learned.safetensors", options=options, max_length=40)
    found: np.ndarray = Translator.load(path).model.encoder.embedding.positions.table.detach().numpy()
    return found


def opened(**address: str) -> AppTest:
    return open_view("positions", sentence="the cat sat", kind="encoder", **address)


def test_the_spread_and_the_products_are_of_trained_positions_alone(table: np.ndarray) -> None:
    app = opened()
    trained = table[:TRAINED].astype(np.float64)
    np.testing.assert_allclose(array(chart(app, "PE · PE")["data"][0]["z"]), trained @ trained.T, rtol=1e-5, atol=1e-5)
    spread = number(over_distance(trained).spread, 2)
    assert spread != number(over_distance(table[:64]).spread, 2)
    assert f"differ by at most **{spread}**" in page_text(app)


def test_the_best_rotation_is_of_trained_positions_alone(table: np.ndarray) -> None:
    app = opened(offset="5")
    points = pairs(table[:TRAINED], "interleaved")
    error, _ = rotation_error(points, best_rotations(points, 5), 5)
    assert f"the first {TRAINED - 5} positions" in page_text(app)
    assert f"largest difference **{number(error, 2)}**" in page_text(app)


def test_untrained_positions_have_a_ground_of_their_own_among_the_waves_and_no_row_above(table: np.ndarray) -> None:
    app = opened(wave_span="128")
    shapes = chart(app, "Dimension 8, as learned")["layout"]["shapes"]
    assert [(shape["x0"], shape["x1"]) for shape in shapes][1:] == [(TRAINED - 0.5, 127.5)]
    assert len(array(chart(app, "Positional encoding")["data"][0]["z"])) == TRAINED
    assert page_text(app).count(f"more than {TRAINED} positions") == 4
    assert page_text(opened(wave_span="32")).count(f"more than {TRAINED} positions") == 3  # none has the other ground


def test_learned_positions_are_not_said_to_have_wavelengths(table: np.ndarray) -> None:
    (alt,) = [
        found["alt"] for data in sent(opened()) if "drawn as arrows in a circle" in (found := json.loads(data))["alt"]
    ]
    assert "wavelength" not in alt


@pytest.mark.parametrize(("task", "trained"), [("reverse", 11), ("numbers", 65)])
def test_a_sentence_of_letters_is_never_longer_than_its_task_allows(
    task: str, trained: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    path, options = tmp_path / "toy.safetensors", {"positions": "learned"}
    write_checkpoint(path, options=options, toy=task, max_length=64, toy_max_length=10)
    assert f"more than {trained} positions" in page_text(opened())


def test_nothing_is_left_out_where_the_formula_knows_every_position(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    write_checkpoint(tmp_path / "paper.safetensors", max_length=40)
    app = opened(wave_span="128")
    assert "still have their random initial values" not in page_text(app)
    assert array(chart(app, "PE · PE")["data"][0]["z"]).shape == (64, 64)

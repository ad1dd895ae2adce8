"""Strips: each column of a sum or a LayerNorm, read downwards, is the calculation with the tensors' own numbers."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.figures.strips import Norm, of_norm, strips_picture, strips_table
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import array, open_view
from transformer.analysis.trace import trace
from transformer.checkpoint.checkpoint_file import TrainedModel, load_checkpoint, save_checkpoint
from transformer.decoding.translator import Translator

SENTENCE = "the cat sat"
ROW = 1


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both placements of LayerNorm, and each has learned something."""
    path = tmp_path_factory.mktemp("strips")
    for norm in ("pre", "post"):
        made = load_checkpoint(write_checkpoint(path / f"{norm}.safetensors", Size(1, 1, 2), options={"norm": norm}))
        torch.manual_seed(3)
        with torch.no_grad():
            for each in made.model.modules():
                if isinstance(each, torch.nn.LayerNorm):
                    each.weight.normal_(1.0, 0.3)
                    each.bias.normal_(0.0, 0.3)
        save_checkpoint(path / f"{norm}.safetensors", TrainedModel(made.model, made.tokenizer, {}))
    return path


@pytest.fixture
def here(kinds: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(kinds))
    return kinds


def drawn(app: AppTest) -> dict[str, np.ndarray]:
    """The strips of the page, by name."""
    (found,) = [
        each.proto for each in app.get("bidi_component") if each.proto.component_name == "headlight_vector_strips"
    ]
    return {row["name"]: array(row["values"]) for row in json.loads(found.bytes)["rows"]}


def tensors(path: Path) -> dict[str, np.ndarray]:
    translator = Translator.load(path)
    found = translator.translate(SENTENCE).sentences[0]
    return dict(trace(translator.model, found.source_ids, found.hypotheses[0].ids, ["encoder.*", "decoder.*"]).arrays)


def opened(name: str, norm: str, **address: str) -> AppTest:
    return open_view(name, sentence=SENTENCE, checkpoint=norm, s=str(ROW + 1), t=str(ROW + 1), **address)


@pytest.mark.parametrize(
    ("norm", "site", "before"),
    [
        ("pre", "encoder.layers.0.self_attention.norm_out", "encoder.layers.0.self_attention.residual_in"),
        ("pre", "decoder.norm_out", "decoder.layers.0.feed_forward.residual_sum"),
        ("post", "decoder.layers.0.cross_attention.norm_out", "decoder.layers.0.cross_attention.residual_sum"),
        ("post", "encoder.layers.0.feed_forward.norm_out", "encoder.layers.0.feed_forward.residual_sum"),
    ],
)
def test_each_column_of_a_layer_norm_is_the_calculation(here: Path, norm: str, site: str, before: str) -> None:
    truth = tensors(here / f"{norm}.safetensors")
    table = opened("steps", norm, at=site, detail="exam", details="true").dataframe[2].value
    assert table.columns[1] == ("x" if norm == "pre" else "z")  # as the formula above it says
    x, standard, gain, shift, after = table.to_numpy().T[1:]
    np.testing.assert_allclose(x, truth[before][ROW], atol=1e-5)
    np.testing.assert_allclose(after, truth[site][ROW], atol=1e-5)
    np.testing.assert_allclose(standard * gain + shift, after, atol=1e-5)
    assert abs(standard.mean()) < 1e-6
    assert np.std(gain) > 0.1
    assert np.std(shift) > 0.1


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_residual_page_has_the_last_layer_norm_number_by_number(here: Path, norm: str) -> None:
    truth = tensors(here / f"{norm}.safetensors")
    x, standard, gain, shift, after = drawn(opened("residual", norm, kind="encoder", details="true")).values()
    np.testing.assert_allclose(x, truth["encoder.layers.0.feed_forward.residual_sum"][ROW], atol=1e-5)
    last = "encoder.norm_out" if norm == "pre" else "encoder.layers.0.feed_forward.norm_out"
    np.testing.assert_allclose(after, truth[last][ROW], atol=1e-5)
    np.testing.assert_allclose(standard * gain + shift, after, atol=1e-5)


def test_one_large_number_does_not_leave_the_others_pale() -> None:
    row = np.ones(256, np.float32)
    row[7] = 40.0
    norm = Norm(np.ones(256), np.zeros(256), 1e-6)
    assert of_norm(row, row, norm)[0].limit < 15
    assert of_norm(row, row, norm)[2].limit == 1.0  # the gains: none is beyond the colours


def test_strips_without_a_number_but_zero_are_drawn_too() -> None:
    """An unlearned shift is all zeros, a row may be constant."""
    zeros, norm = np.zeros(4, np.float32), Norm(np.ones(4), np.zeros(4), 1e-6)
    rows = of_norm(zeros, zeros, norm)
    picture: dict[str, Any] = strips_picture(rows, title="t", alt="a")
    assert all(row["limit"] > 0 for row in picture["rows"])
    assert all(np.isfinite(row["values"]).all() for row in picture["rows"])
    assert list(strips_table(rows)) == ["dimension", *(row["name"] for row in picture["rows"])]

"""The page Heads in tests: opened with small checkpoints, and its tensors computed beside the app."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
import torch
from streamlit.testing.v1 import AppTest

from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import open_view
from transformer.analysis.trace import trace
from transformer.checkpoint.checkpoint_file import TrainedModel, save_checkpoint
from transformer.decoding.translator import Translator

SENTENCE = "the cat sat on the mat"
Open = Callable[..., AppTest]


def write_with_biases(path: Path, size: Size, **options: Any) -> None:
    """A checkpoint whose biases are not 0, as those of a trained one."""
    write_checkpoint(path, size, options=options)
    translator = Translator.load(path)
    assert translator.checkpoint is not None
    with torch.no_grad():
        for name, parameter in translator.model.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(std=0.3)
    recipe = translator.checkpoint.recipe
    save_checkpoint(path, TrainedModel(translator.model, translator.tokenizer, recipe, {"bleu": 1.5}))


@pytest.fixture(scope="module")
def multihead_checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoints with other numbers of heads and other widths, all with biases."""
    path = tmp_path_factory.mktemp("multihead")
    write_with_biases(path / "usual.safetensors", Size())
    write_with_biases(path / "one.safetensors", Size(1, 1, 1), positions="none", norm="pre")
    few = {"d_model": 36, "attention_window": 1, "shared_embeddings": False, "positions": "learned"}
    write_with_biases(path / "window.safetensors", Size(3, 1, 3), **few)
    write_with_biases(path / "wide.safetensors", Size(1, 2, 8), d_model=288, norm="pre")
    write_with_biases(path / "full.safetensors", Size(1, 1, 1), d_model=256)
    write_with_biases(path / "eight.safetensors", Size(1, 1, 8), d_model=256)
    return path


@pytest.fixture
def open_multihead(multihead_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens the page with its details open, on `usual` unless another checkpoint is named."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(multihead_checkpoints))
    st.cache_data.clear()

    def opened(**address: str) -> AppTest:
        return open_view("multihead", **{"checkpoint": "usual", "sentence": SENTENCE, "details": "true", **address})

    return opened


def tensors(folder: Path, *sites: str, name: str = "usual") -> tuple[Translator, dict[str, np.ndarray]]:
    """The model, and its tensors at these sites for the sentence, computed beside the app."""
    translator = Translator.load(folder / f"{name}.safetensors")
    found = translator.translate(SENTENCE, n_best=3).sentences[0]
    return translator, trace(translator.model, found.source_ids, found.hypotheses[0].ids, list(sites)).arrays

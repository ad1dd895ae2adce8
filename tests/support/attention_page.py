"""The Attention page in tests: the page with a sentence, its tensors computed beside the app, and what it draws."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.support.drawn import array, attention_weights, charts, open_view
from transformer.decoding.translation import Translation
from transformer.decoding.translator import Translator
from transformer.model.attention_kinds import SITES

Open = Callable[..., AppTest]
Tokens = tuple[tuple[str, ...], tuple[str, ...]]
SENTENCE = "the animal didn't cross the street."


@pytest.fixture
def open_attention(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens the Attention page as a new visitor would, with these query parameters in the address."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
    st.cache_data.clear()

    def opened(text: str = SENTENCE, **address: str) -> AppTest:
        return open_view("attention", **{"sentence": text, **address})

    return opened


def heat(app: AppTest, place: int) -> np.ndarray:
    """0 is the matrix, 1 the rollout."""
    return array(charts(app)[place]["data"][0]["z"])


def sent(lines: dict[str, Any]) -> np.ndarray:
    """The weights that the picture of lines is given, (H, Q, K)."""
    return np.frombuffer(base64.b64decode(lines["weights"]), "<f4").reshape(lines["shape"])


@pytest.fixture(scope="module")
def translation(folder: Path) -> tuple[Translator, Translation]:
    """The model `en-de` and its translation of the sentence of the tests of the Attention page."""
    translator = Translator.load(folder / "en-de.safetensors")
    return translator, translator.translate(SENTENCE, n_best=3).sentences[0]


@pytest.fixture(scope="module")
def weights(translation: tuple[Translator, Translation]) -> dict[str, np.ndarray]:
    """(L, H, Q, K) of each kind, computed beside the app."""
    translator, found = translation
    return {
        kind: attention_weights(
            translator.model, found.source_ids, found.hypotheses[0].ids, f"{site.format('*')}.weights"
        )
        for kind, site in SITES.items()
    }


@pytest.fixture(scope="module")
def tokens(translation: tuple[Translator, Translation]) -> Tokens:
    """(read by the encoder, predicted by the decoder)."""
    found = translation[1]
    return tuple(token.text for token in found.source_tokens), found.hypotheses[0].tokens

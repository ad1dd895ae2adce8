"""The code that Step by step shows at a station is the lines that make its tensor."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.library import source_code
from app.library.source_code import lines_from, lines_of, lines_of_definition
from app.stage.search_method import Method
from app.views.scaling.additive import additive_scores
from app.views.shared.search_code import choice
from tests.support.steps_page import SENTENCE, opened
from tests.support.unmarked_texts import bracketed
from transformer.analysis.trace import trace
from transformer.config import ModelConfig
from transformer.model import census


@pytest.mark.parametrize("pre_norm", [False, True])
def test_every_site_has_its_lines(pre_norm: bool) -> None:
    config = ModelConfig(vocab_size=11, encoder_layers=1, decoder_layers=1, norm="pre" if pre_norm else "post")
    for site in census(config):
        lines = lines_of(site, pre_norm)
        assert f'probe("{site.rsplit(".", 1)[-1]}"' in lines.text
        held = (Path(__file__).resolve().parents[2] / lines.path).read_text(encoding="utf-8").splitlines()
        assert held[lines.first - 1].strip() == lines.text.splitlines()[0]
    norm = lines_of("encoder.layers.0.feed_forward.norm_out", pre_norm).text
    assert ("normed" in norm) == pre_norm
    with pytest.raises(KeyError):
        lines_of("encoder.layers.0.self_attention.nonsense")
    assert lines_of_definition("model/masks.py", "causal_mask").text.startswith("def causal_mask")


@pytest.mark.parametrize("method", get_args(Method))
def test_each_search_shows_the_function_that_chooses_a_token(method: Method) -> None:
    assert choice(method).text.startswith("def ")


def test_the_lines_of_the_app_itself_are_shown_too() -> None:
    found = lines_from(additive_scores, "hidden =", "scores")
    assert found.path == "app/views/scaling/additive.py"
    assert "np.tanh" in found.text


def test_a_file_that_has_changed_says_so_in_place_of_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_code, "KNOWN", {})
    assert lines_of("encoder.layers.0.self_attention.weights").text == source_code.CHANGED
    assert lines_of_definition("model/masks.py", "no longer there").text == source_code.CHANGED
    found = source_code.lines_from(trace, "no longer there")
    assert (found.path, found.text) == ("transformer/analysis/trace.py", source_code.CHANGED)


def test_the_place_of_code_and_that_it_has_changed_are_translated(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_code, "KNOWN", {})
    with bracketed():
        app = open_app("steps", sentence=SENTENCE, details="true")
    assert f"⟦{source_code.CHANGED}⟧" in [code.value for code in app.code]
    assert any(re.fullmatch(r"⟦The code, `[\w/]+\.py`, line \d+⟧", caption.value) for caption in app.caption)
    st.cache_data.clear()  # no text in brackets is left for other tests


@pytest.mark.parametrize(
    ("station", "words"),
    [
        ("characters", "def normalise"),
        ("token_ids", "def encode"),
        ("shifted", "return (BOS, *ids[:-1])"),
        ("encoder.layers.0.self_attention.concatenated", "context.transpose(1, 2).flatten(-2)"),
        ("encoder.layers.0.self_attention.output", 'probe("output"'),
        ("encoder.embedding.positions", "angle.sin()"),
        ("encoder.layers.0.self_attention.mask", "ids != PAD"),
        ("decoder.layers.0.self_attention.mask", "position[None, :] <= position[:, None]"),
        ("decoder.layers.0.cross_attention.context", "@ value"),
        ("logits", "linear(decoder_output, self.output.weight, self.output_bias)"),
        ("chosen", "def advance"),
    ],
)
def test_each_station_shows_the_lines_that_make_it(station: str, words: str, open_app: Callable[..., AppTest]) -> None:
    assert words in opened(open_app, station).code[0].value

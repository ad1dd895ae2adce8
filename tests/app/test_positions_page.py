"""The page Positions: what it draws is the checkpoint's table, and the table is the paper's formula."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.figures.sinusoids import Layout, permutation, rotations
from app.views.positions.sizes import PARTS
from tests.app.test_positions_formula import paper
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import array, chart, charts, open_view, page_text, sent, written
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator

SENTENCE = "the cat sat on the mat"
Open = Callable[..., AppTest]


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoints that differ in their positions."""
    path = tmp_path_factory.mktemp("positions")
    write_checkpoint(path / "paper.safetensors")
    write_checkpoint(path / "halves.safetensors", options={"sinusoid_layout": "concatenated"})
    write_checkpoint(path / "learned.safetensors", options={"positions": "learned"}, seed=2)
    write_checkpoint(path / "none.safetensors", options={"positions": "none", "norm": "pre"})
    write_checkpoint(path / "long.safetensors", options={"max_positions": 1200})
    few = {"positions": "learned", "d_model": 33, "max_positions": 17, "shared_embeddings": False}
    write_checkpoint(path / "few.safetensors", Size(1, 2, 3), options=few)
    write_checkpoint(path / "tiny.safetensors", Size(1, 1, 1), options={"d_model": 2, "attention_window": 1})
    return path


@pytest.fixture
def open_page(odd: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(odd))
    st.cache_data.clear()

    def opened(page: str = "positions", **address: str) -> AppTest:
        return open_view(page, **{"details": "true"} | address)

    return opened


@pytest.mark.parametrize(("name", "layout"), [("paper", "interleaved"), ("halves", "concatenated")])
def test_the_page_draws_the_table_of_the_checkpoint(open_page: Open, odd: Path, name: str, layout: Layout) -> None:
    app = open_page(checkpoint=name, sentence=SENTENCE, dimension="5", layout_width="32")
    model = Translator.load(odd / f"{name}.safetensors").model
    drawn = array(chart(app, "Positional encoding")["data"][0]["z"])
    assert np.array_equal(drawn, model.encoder.embedding.positions.table[: len(drawn)].numpy())
    for pos in (0, 1, 31):
        for dimension in range(32):
            column = dimension if layout == "interleaved" else list(permutation(32)).index(dimension)
            assert drawn[pos, column] == pytest.approx(paper(pos, dimension, 32), abs=1e-6)
    products_drawn = array(chart(app, "PE · PE")["data"][0]["z"])
    assert np.allclose(products_drawn, drawn[:64] @ drawn[:64].T, atol=1e-4)
    assert len(chart(app, "Dimension 5")["data"]) == 4
    above = array(chart(app, "Two layouts of the same numbers, d_model = 32")["data"][layout != "interleaved"]["z"])
    assert np.allclose(above, drawn[: len(above)], atol=1e-6)
    assert ("half and half" if name == "halves" else "the paper's 2i, 2i+1") in page_text(app)


def test_a_learned_table_is_drawn_as_it_was_learned_for_each_stack(open_page: Open, odd: Path) -> None:
    model = Translator.load(odd / "learned.safetensors").model
    for stack, part in (("encoder", model.encoder), ("decoder", model.decoder)):
        app = open_page(checkpoint="learned", sentence=SENTENCE, kind=stack)
        drawn = array(chart(app, "Positional encoding, as learned")["data"][0]["z"])
        assert np.array_equal(drawn, part.embedding.positions.table[: len(drawn)].detach().numpy())
        assert "root-mean-square error" in page_text(app)


def test_without_positions_the_page_says_so_and_still_shows_the_sizes(open_page: Open) -> None:
    app = open_page(checkpoint="none", sentence=SENTENCE)
    assert "has no positions" in page_text(app)
    position = chart(app, "Length of each token")["data"][1]
    assert (array(position["y"]) == 0).all()


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_the_sizes_are_those_of_the_embeddings_of_this_sentence(open_page: Open, odd: Path, side: str) -> None:
    app = open_page(checkpoint="paper", sentence=SENTENCE, kind=side, s="2", t="2")
    translator = Translator.load(odd / "paper.safetensors")
    found = translator.translate(SENTENCE, n_best=3).sentences[0]
    arrays = trace(translator.model, found.source_ids, found.hypotheses[0].ids, [f"{side}.embedding.*"]).arrays
    bars = chart(app, "Length of each token")["data"]
    strips = array(chart(app, "What enters the first layer")["data"][0]["z"])
    for bar, strip, site, part in zip(bars, strips, ("scaled", "positions", "output"), PARTS, strict=True):
        tensor = arrays[f"{side}.embedding.{site}"]
        assert bar["name"] == part
        assert np.allclose(array(bar["y"]), np.linalg.norm(tensor, axis=-1), rtol=1e-5)
        assert np.array_equal(strip, tensor[1])


@pytest.mark.parametrize("edit", ["positions=off", "positions=shift.3"])
def test_of_edited_positions_is_not_said_that_they_are_the_table(open_page: Open, edit: str) -> None:
    for kind, is_edited in (("encoder", True), ("decoder", False)):
        app = open_page(checkpoint="paper", sentence=SENTENCE, kind=kind, edits=edit)
        assert ("√(d_model / 2) at every position" in page_text(app)) == (not is_edited)
        alt = next(found["alt"] for data in sent(app) if "the embedding of" in (found := json.loads(data))["alt"])
        assert ("Without edits, each row" in alt) == is_edited


def test_the_offset_of_the_address_is_the_rotation_that_is_drawn(open_page: Open) -> None:
    app = open_page(checkpoint="paper", sentence=SENTENCE, from_position="3", offset="9")
    figure = chart(app, "From PE(3) to PE(12)")
    matrices = [a["text"] for a in figure["layout"]["annotations"] if a["text"].startswith("[")]
    first = rotations(9, 32)[0]
    assert f"{abs(first[0, 0]):.3f}" in matrices[0]
    assert f"{abs(first[0, 1]):.3f}" in matrices[0]
    number = page_text(app).split("largest difference **")[1].split("**")[0]
    assert 0 <= written(number) < 1e-6


@pytest.mark.parametrize(("name", "positions"), [("paper", "all 123 positions"), ("long", "the first 1,019 positions")])
def test_what_a_rotation_was_checked_against_is_said(open_page: Open, name: str, positions: str) -> None:
    app = open_page(checkpoint=name, sentence=SENTENCE)  # offset 5
    assert f"against PE(p+5), {positions} and 16 pairs" in page_text(app)
    assert ("**1,200 × 16**" in page_text(app)) == (name == "long")  # of the angles: all that the checkpoint has


@pytest.mark.parametrize("name", ["paper", "learned"])
def test_the_chosen_token_is_framed_in_the_similarities_and_the_most_similar_position_named(
    open_page: Open, name: str
) -> None:
    app = open_page(checkpoint=name, sentence=SENTENCE, kind="encoder", s="3")
    figure = chart(app, "PE · PE")
    found = array(figure["data"][0]["z"])[2].astype(np.float64)
    found[2] = -np.inf
    (frame,) = figure["layout"]["shapes"]
    assert (frame["y0"], frame["y1"]) == (1.5, 2.5)
    (line,) = [text.value for text in app.text if text.value.startswith("Framed: pos 2 “")]
    assert f"pos {found.argmax()}" in line.split("Most similar to it:")[1]
    assert name == "learned" or ("pos 1 “" in line and "pos 3 “" in line)


@pytest.mark.parametrize("sentence", ["a", SENTENCE, "</script><img src=x onerror=alert(1)> _a_ :red[b]"])
@pytest.mark.parametrize("name", ["few", "tiny", "learned", "none", "halves"])
def test_unusual_checkpoints_and_hostile_sentences_can_be_opened(open_page: Open, name: str, sentence: str) -> None:
    if name == "few" and len(sentence) > 30:
        sentence = "<b>x</b>"  # the model has 17 positions
    app = open_page(checkpoint=name, sentence=sentence)
    assert len(charts(app)) >= 3
    for element in (*app.markdown, *app.caption):
        assert "alert(1)" not in element.value


def test_a_choice_that_the_next_checkpoint_does_not_have_is_dropped(open_page: Open) -> None:
    app = open_page(checkpoint="paper", sentence=SENTENCE)
    for key, value in (("dimension", 31), ("offset", 60), ("from_position", 60)):
        app.slider(key=key).set_value(value).run()
    app.select_slider(key="wave_span").set_value(128).run()
    app.session_state["layout_width"] = 32
    app.run()
    assert chart(app, "From PE(60) to PE(120)")
    assert chart(app, "Two layouts of the same numbers, d_model = 32")
    for name in ("few", "tiny", "none", "paper"):
        app.selectbox(key="checkpoint").select(name).run()
        assert not app.exception, app.exception[0].message
        assert chart(app, "Length of each token")

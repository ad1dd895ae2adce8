"""The sentences, formulas and code of a page are true for the open checkpoint, whichever it is."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.figures.two_percents import percent
from app.library import source_code
from app.views.attention.head_pictures import explained
from app.views.hand.projection_origin import origin
from tests.app.test_steps_formulas import station
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import array, chart, components, open_view, page_text
from tests.support.pages import PAGES, choose, switch_page
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator

SENTENCE = "the cat sat on the mat"


@pytest.fixture
def checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes the only checkpoint that the app finds."""

    def written(size: Size | None = None, **options: Any) -> Path:
        monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
        return write_checkpoint(tmp_path / "any.safetensors", size or Size(1, 2, 2), options=options)

    return written


@pytest.mark.parametrize("page", PAGES)
def test_no_code_card_says_that_its_file_has_changed(page: str, checkpoint: Any) -> None:
    checkpoint()
    for address in ({}, {"part": "lens"}, {"part": "penalty"}) if page == "decoding" else ({},):
        app = open_view(page, sentence=SENTENCE, details="true", **address)
        has_none = page in ("models", "translate", "whatif", "compare", "beside") or "penalty" in address.values()
        assert app.code or has_none
        assert source_code.CHANGED not in [code.value for code in app.code]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 1.5])
def test_loop_and_bar_have_the_probability_at_the_temperature_of_sampling(temperature: float, checkpoint: Any) -> None:
    path = checkpoint()
    address = {"sentence": SENTENCE, "method": "sampling", "t": "2"}
    app = open_view("decoding", temperature=str(temperature), **address)
    translator = Translator.load(path)
    found = translator.translate(SENTENCE, method="sampling", temperature=temperature, n_best=3).sentences[0]
    ids = found.hypotheses[0].ids
    logits = trace(translator.model, found.source_ids, ids, ["logits"])["logits"][1].astype(np.float64)
    powers = np.exp((logits - logits.max()) / temperature)
    expected = float(powers[ids[1]] / powers.sum())
    (loop,) = components(app, "decoding_loop")
    assert loop["probability"] == percent(expected)
    bars = chart(app, "the next token")["data"][0]
    (label,) = [text for text in bars["text"] if "chosen" in text]
    before, *after = label.split(" · ")[0].split(" → ")  # after an arrow: without PAD, UNK and BOS, never drawn
    assert before == loop["probability"]
    written = f"{before}, {after[0]} of what may be drawn" if after else before
    other = app.slider(key="tried_temperature").set_value(2.0).run()
    assert f"It was decoded at {temperature:g}, where the chosen token has {written}." in page_text(other)
    assert array(chart(other, "at temperature 2")["data"][0]["x"]).sum() == pytest.approx(1)
    tree = open_view("decoding", temperature=str(temperature), part="tree", **address)
    assert ("at temperature 1; tokens were drawn at" in page_text(tree)) == (temperature != 1)


@pytest.mark.parametrize(
    ("method", "where"),
    [
        ({"method": "beam"}, "The paper, section 6.1"),
        ({"method": "beam", "beam": "1"}, "Not in the paper: greedy decoding"),
        ({"method": "greedy"}, "Not in the paper: greedy decoding"),
        ({"method": "sampling"}, "Not in the paper: sampling"),
    ],
)
def test_only_beam_search_is_said_to_be_the_paper_s(method: dict[str, str], where: str, checkpoint: Any) -> None:
    checkpoint()
    cards = [caption.value for caption in open_view("decoding", part="tree", sentence=SENTENCE, **method).caption]
    assert where in cards
    assert len({"The paper, section 6.1"} & set(cards)) == where.startswith("The paper")


def test_what_the_visitor_gave_was_not_chosen(checkpoint: Any) -> None:
    checkpoint()
    app = open_view("translate", sentence=SENTENCE, t="2", details="true")
    app.text_input(key="given").set_value("Das Tier war müde").run()
    for page, address in (
        ("decoding", {}),
        ("steps", {"at": "logits", "details": True}),
        ("steps", {"at": "probabilities"}),
    ):
        switch_page(app, page)
        for name, value in address.items():
            app.session_state[name] = value
        app.run()
        assert not app.exception
        marks = list(app.dataframe[0].value["in the translation"]) if address else []
        bars = json.dumps(marks or chart(app, "the next token")["data"][0]["text"])
        assert "given" in bars
        assert "chosen" not in bars
        assert "was chosen" not in page_text(app)
    app.session_state["at"] = "chosen"
    app.run()
    assert "was given, and scored" in page_text(app)
    assert "ids = (*written, EOS)" in app.code[0].value


def test_the_sentence_is_called_read_not_typed_for_typed_quotes_have_become_plain(checkpoint: Any) -> None:
    checkpoint()
    app = open_view("steps", sentence="“the cat” – sat", at="characters", detail="exam", details="true")
    assert "".join(app.dataframe[0].value["character"]).replace("(space)", " ") == '"the cat" - sat'
    assert "typed quotes, dashes and spaces have been made plain" in station("characters").text
    assert "_PLAIN" in app.code[0].value


@pytest.mark.parametrize("station", ["encoder.norm_out", "encoder.layers.0.feed_forward.norm_out"])
def test_what_is_not_in_the_paper_is_not_called_paper(station: str, checkpoint: Any) -> None:
    checkpoint(norm="pre")
    app = open_view("steps", sentence=SENTENCE, at=station, detail="exam", details="true")
    assert "· not in the paper" in page_text(app)
    assert "paper, not" not in page_text(app)


def test_the_mask_shows_the_rules_that_it_has(checkpoint: Any) -> None:
    checkpoint(attention_window=1, positions="learned")
    mask = "{}.layers.0.{}_attention.mask"
    for place, rules in (
        (mask.format("encoder", "self"), ["window_mask"]),
        (mask.format("decoder", "self"), ["causal_mask", "window_mask"]),
        (mask.format("decoder", "cross"), ["padding_mask"]),
        ("decoder.embedding.positions", ["nn.Parameter"]),
    ):
        code = open_view("steps", sentence=SENTENCE, at=place, detail="exam", details="true").code[0].value
        known = ("window_mask", "causal_mask", "padding_mask", "nn.Parameter")
        assert [name for name in known if name in code] == [name for name in known if name in rules]


def test_the_most_bits_of_a_causal_head_are_those_of_its_rows(checkpoint: Any) -> None:
    checkpoint()
    text = page_text(open_view("attention", sentence=SENTENCE, kind="decoder"))
    found = re.search(r"of at most ([\d.]+) bits; \S+ ?% of the attention is on special tokens and punctuation", text)
    assert found
    rows = array(chart(open_view("attention", sentence=SENTENCE, kind="decoder"), "Decoder self")["data"][0]["z"])
    most = np.log2(np.arange(1, len(rows) + 1)).mean()
    assert float(found[1]) == pytest.approx(most, abs=0.006)
    assert f"at most {most:.2f}; distance" in text


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_which_query_attends_to_which_key_is_said_with_the_window(kind: Any) -> None:
    assert "1 position away" in explained(kind, 1)
    assert "all tokens" not in explained(kind, 1)
    assert "away" not in explained(kind, None)
    assert "away" not in explained("cross", 1)


@pytest.mark.parametrize("layer", [1, 2])
def test_rollout_is_grey_where_nothing_has_been_reached_after_this_layer(layer: int, checkpoint: Any) -> None:
    checkpoint(Size(3, 1, 2), attention_window=1)
    app = open_view("attention", sentence=SENTENCE, kind="encoder", layer=str(layer))
    cells = array(chart(app, f"rollout, after layer {layer}")["data"][0]["z"])
    far = np.abs(np.subtract.outer(np.arange(len(cells)), np.arange(len(cells)))) > layer
    np.testing.assert_array_equal(np.isnan(cells), far)


def test_positions_speaks_of_this_checkpoint_s_table(checkpoint: Any) -> None:
    checkpoint(positions="none", attention_window=2)
    text = page_text(open_view("positions", sentence=SENTENCE))
    assert "as a set" not in text
    assert "who is near whom" in text
    checkpoint(positions="none")
    assert "as a set" in page_text(open_view("positions", sentence=SENTENCE))
    checkpoint(sinusoid_layout="concatenated")
    text = page_text(open_view("positions", sentence=SENTENCE))
    assert r"d_{model}/2+i)}=\cos" in text
    assert "half and half; the paper's" in text


def test_the_shape_of_the_sum_is_that_of_the_chosen_stack(checkpoint: Any) -> None:
    checkpoint()
    for stack, letter in (("encoder", "S"), ("decoder", "T")):
        cards = [caption.value for caption in open_view("positions", sentence=SENTENCE, kind=stack).caption]
        assert [card for card in cards if card.startswith(f"Shape {letter} × D = ")]


def test_the_residual_page_shows_every_layer_norm_and_names_what_the_stream_starts_with(checkpoint: Any) -> None:
    checkpoint(Size(2, 1, 2), norm="pre")
    app = open_view("residual", sentence=SENTENCE, kind="encoder", details="true")
    assert len(array(chart(app, "each LayerNorm")["data"][0]["y"])) == 2 * 2 + 1
    assert chart(app, "Shares")["layout"]["xaxis"]["ticktext"][0] == "embedding + position"
    checkpoint(Size(2, 1, 2), norm="pre", positions="none")
    app = open_view("residual", sentence=SENTENCE, kind="encoder", details="true")
    assert chart(app, "Shares")["layout"]["xaxis"]["ticktext"][0] == "embedding"
    checkpoint(Size(2, 1, 2))
    for kind, norms in (("encoder", 2 * 2), ("decoder", 3)):
        app = open_view("residual", sentence=SENTENCE, kind=kind, details="true")
        assert len(array(chart(app, "each LayerNorm")["data"][0]["y"])) == norms


def test_the_projections_are_said_to_read_what_they_read() -> None:
    assert "decoder's embedding" in origin("decoder", 0, False)
    assert "encoder's layer below" in origin("encoder", 1, False)
    assert "encoder's normalised stream" in origin("encoder", 0, True)
    assert origin("cross", 0, True) == origin("cross", 1, False)


@pytest.mark.parametrize(("norm", "does"), [("pre", "add to one"), ("post", "add to and normalise one")])
def test_the_lens_says_what_layers_do_to_the_stream(norm: str, does: str, checkpoint: Any) -> None:
    checkpoint(norm=norm)
    assert f"All layers {does} residual stream" in page_text(open_view("decoding", sentence=SENTENCE, part="lens"))


def shown_layer(app: AppTest) -> int:
    if canvas := components(app, "canvas_channel"):
        return int(canvas[0]["chosen"]["layer"]) + 1
    (line,) = (each for each in components(app, "switches")[0]["choices"] if each["name"] == "layer")
    return int(line["chosen"]) + 1


def test_a_layer_that_the_decoder_lacks_is_chosen_again_in_the_encoder(checkpoint: Any) -> None:
    checkpoint(Size(3, 1, 2))
    app = open_view("attention", sentence=SENTENCE, kind="encoder", layer="3")
    for page, layer in (("decoding", 1), ("attention", 3), ("decoding", 1)):
        switch_page(app, page).run()
        assert not app.exception
        assert shown_layer(app) == layer
    switch_page(app, "attention").run()
    choose(app, layer=2)
    for page, layer in (("attention", 2), ("decoding", 1), ("attention", 2)):
        switch_page(app, page).run()
        assert shown_layer(app) == layer

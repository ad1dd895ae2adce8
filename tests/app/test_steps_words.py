"""Step by step in words: what is said at a station, its shape, its tables of text, and whose tokens its rows are."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.figures.token_strip import source_strip, source_table
from app.languages import LANGUAGES, Language, _, speaking
from app.views.steps.stations import Station, stations, where
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import open_view
from tests.support.pages import choose, switch_page
from transformer.config import BOS, EOS, ModelConfig
from transformer.decoding.translator import Translator
from transformer.text.tokenizer import Token

SENTENCE = "the 🚂 sat"
Open = Callable[..., AppTest]


def opened(open_app: Open, station: str, **state: Any) -> AppTest:
    app = open_app(at=station, detail="exam", details="true")
    switch_page(app, "steps").run()
    app.text_input(key="sentence").set_value(SENTENCE).run()
    choose(app, **state).run()
    assert not app.exception
    return app


def columns(app: AppTest) -> dict[str, list[Any]]:
    """The table of the station."""
    return {str(name): column.tolist() for name, column in app.dataframe[0].value.items()}


@pytest.fixture
def translator(folder: Path) -> Translator:
    return Translator.load(folder / "en-de.safetensors")


def test_the_table_of_characters_is_the_sentence(open_app: Open) -> None:
    table = columns(opened(open_app, "characters"))
    assert table["position"] == list(range(1, len(SENTENCE) + 1))
    assert [chr(int(code[2:], 16)) for code in table["code point"]] == list(SENTENCE)
    assert table["character"] == ["(space)" if character == " " else character for character in SENTENCE]


def test_the_table_of_pieces_is_what_the_tokenizer_makes_and_leads_back_to_the_characters(
    open_app: Open, translator: Translator
) -> None:
    app = opened(open_app, "token_ids")
    table = columns(app)
    ids = [*translator.tokenizer.encode(SENTENCE), EOS]
    assert table["id"] == ids
    assert table["token"] == [translator.tokenizer.token(id) for id in ids]
    covered: set[int] = set()
    for token, first, last, characters in zip(
        table["token"], table["first position"], table["last position"], table["characters"], strict=True
    ):
        places = range(int(first) - 1, int(last)) if token != "</s>" else range(0)
        assert np.isnan(first) == np.isnan(last) == (token == "</s>")
        assert "".join(SENTENCE[place] for place in places) == characters
        covered |= set(places)
    assert covered == set(range(len(SENTENCE)))


def test_one_character_has_one_number_below_its_piece() -> None:
    tokens = [
        Token(7, "▁Hi", 0, 2, "ordinary"),
        Token(5, "x", 2, 3, "ordinary"),
        Token(291, "▁", 3, 3, "ordinary"),
        Token(3, "</s>", 3, 3, "control"),
    ]
    assert [chip["under"][1] for chip in source_strip(tokens)["chips"]] == ["1–2", "3", "–", "end"]
    assert [(row["first position"], row["last position"]) for row in source_table(tokens, "Hix")] == [
        (1, 2), (3, 3), (None, None), (None, None),
    ]  # fmt: skip


def test_the_tables_of_the_decoder_are_its_pieces_as_read_and_as_predicted(
    open_app: Open, translator: Translator
) -> None:
    (hypothesis, *_) = translator.translate(SENTENCE).sentences[0].hypotheses
    tokens = [translator.tokenizer.token(id) for id in hypothesis.ids]
    shifted = columns(opened(open_app, "shifted"))
    assert shifted["reads"] == [translator.tokenizer.token(BOS), *tokens[:-1]]
    assert shifted["predicts"] == tokens
    chosen = columns(opened(open_app, "chosen"))
    assert chosen["token"] == tokens
    assert chosen["id"] == list(hypothesis.ids)
    np.testing.assert_allclose(chosen["probability"], np.exp(hypothesis.log_probabilities), rtol=1e-12)


@pytest.mark.parametrize(("station", "length"), [("token_ids", "source"), ("shifted", "target"), ("chosen", "target")])
def test_stations_of_ids_have_a_shape_too(station: str, length: str, open_app: Open, translator: Translator) -> None:
    found = translator.translate(SENTENCE).sentences[0]
    count = len(found.source_ids if length == "source" else found.hypotheses[0].ids)
    shapes = [each.value for each in opened(open_app, station).caption if each.value.startswith("Shape")]
    assert shapes == [f"Shape {length[0].upper()} = {length} length = **{count}**"]


def text(station: str, **rates: Any) -> str:
    config = ModelConfig(vocab_size=11, d_model=8, d_ff=16, heads=2, encoder_layers=1, decoder_layers=1, **rates)
    found: dict[str, Station] = {each.id: each for each in stations(config)}
    return f"{found[station].text} {found[station].training}"


@pytest.mark.parametrize(
    ("station", "rate", "where"),
    [
        ("encoder.embedding.output", "embedding_dropout", "section 5.4"),
        ("encoder.layers.0.self_attention.residual_sum", "dropout", "section 5.4"),
        ("decoder.layers.0.feed_forward.residual_sum", "dropout", "section 5.4"),
        ("decoder.layers.0.cross_attention.context", "attention_dropout", "not in the paper"),
        ("encoder.layers.0.feed_forward.output", "activation_dropout", "not in the paper"),
    ],
)
def test_each_dropout_in_the_code_is_spoken_of_where_the_code_is_shown(station: str, rate: str, where: str) -> None:
    assert f"with probability 0.37 ({where})" in text(station, **{rate: 0.37})
    assert re.search(r"rate (is )?0", text(station, **{rate: 0.0}))


def test_the_words_about_the_mask_are_true_of_the_stack_and_of_the_checkpoint() -> None:
    own, source = "decoder.layers.0.self_attention", "encoder.layers.0.self_attention"
    for beside in (source, "decoder.layers.0.cross_attention"):
        assert "every row may attend to every key" in text(f"{beside}.mask")
        assert "Here no cell is masked" in text(f"{beside}.masked_scores")
    assert "rows 1 to t" in text(f"{own}.mask")
    assert "Here no cell is masked" not in text(f"{own}.masked_scores")
    assert "Here no cell is masked" not in text(f"{source}.masked_scores", attention_window=1)
    assert "Here no cell is masked" in text("decoder.layers.0.cross_attention.masked_scores", attention_window=1)
    assert "trained without this mask" in text(f"{own}.mask", causal_training=False)
    assert "trained without" not in text(f"{own}.mask") + text(f"{source}.mask", causal_training=False)


@pytest.mark.parametrize(("page", "rate"), [("residual", "dropout"), ("positions", "embedding_dropout")])
def test_a_dropout_in_the_code_of_another_page_is_spoken_of_there(
    page: str, rate: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    write_checkpoint(tmp_path / "one.safetensors", Size(1, 1, 2), options={rate: 0.37})
    app = open_view(page, sentence="the cat", details="true")
    assert any("self.dropout(" in code.value for code in app.code)
    assert any("with probability 0.37 (section 5.4)" in text.value for text in app.markdown)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_words_of_a_station_are_in_every_language_with_what_the_checkpoint_fills_in(language: Language) -> None:
    table = tomllib.loads((Path(__file__).parents[2] / "app/views/steps/stations.toml").read_text(encoding="utf-8"))
    entries = [station for part in table.values() for station in part.values()]
    texts = [each[key] for each in entries for key in ("title", "section", "text", "training") if key in each]
    with speaking(language):
        for text in texts:
            assert set(Template(_(text)).get_identifiers()) == set(Template(text).get_identifiers()), text


def test_the_walk_of_each_visitor_is_in_their_language() -> None:
    config = ModelConfig(vocab_size=11, d_model=8, d_ff=16, heads=2, encoder_layers=1, decoder_layers=1)
    english = [(station.id, station.text) for station in stations(config)]
    with speaking("de"):
        german = [(station.id, station.text) for station in stations(config)]
        assert where(stations(config)[-1]) == "Ausgabe"
    assert [id for id, _text in english] == [id for id, _text in german]
    assert not {text for _id, text in english} & {text for _id, text in german}
    assert [(station.id, station.text) for station in stations(config)] == english

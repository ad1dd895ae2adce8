"""The cards of the page Models say what the files of the checkpoints say, and a button opens a checkpoint."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from app.figures.station_texts import feed_forward_parameters
from app.library.catalogue import card_facts, entry
from app.library.checkpoints import CheckpointFile, checkpoints
from app.library.families import read_families
from app.library.main_score import SHIPPED_TESTS, main_score
from app.views.models.cards_picture import cards_data, parts_text
from app.views.models.cards_section import PARTS
from tests.support.drawn import open_view, page_text
from tests.support.models_page import PRETRAINED, cards, opened
from transformer.analysis.inspection import parameters_of
from transformer.checkpoint.checkpoint_file import TrainedModel, save_checkpoint
from transformer.checkpoint.header import read_header
from transformer.config import ModelConfig
from transformer.decoding.translator import Translator
from transformer.model import Transformer


def test_every_checkpoint_has_a_card_and_a_file_that_is_none_says_why(shelf: Path) -> None:
    app = opened()
    text = page_text(app)
    drawn = cards(app)
    assert "2 + 3 layers" in drawn["en-de"]["size"]
    assert drawn["wrong"]["title"] == "This file cannot be opened"
    assert "is not a checkpoint" in drawn["wrong"]["measured"]
    assert "N = 2 + 3" in text
    assert "Unlike the paper's: pre-norm." in text
    assert "wrong.safetensors is not a checkpoint" in text
    assert str(shelf) not in text
    assert "English → German" in text


@pytest.mark.parametrize("page", ["models", "translate"])
def test_a_file_whose_name_is_not_utf_8_is_left_out_and_the_page_models_says_so(shelf: Path, page: str) -> None:
    os.rename(shelf / "family-heads-1.safetensors", os.fsencode(shelf) + b"/\xff.safetensors")
    os.symlink(os.fsencode(shelf) + b"/\xff.safetensors", shelf / "link.safetensors")
    assert list(checkpoints()) == ["en-de", "wrong"]
    notes = [line.value for line in open_view(page).text if "Not listed" in line.value]
    note = "Not listed, because the file name is not valid UTF-8: \\xff.safetensors, link.safetensors. "
    note += "Rename it to open it."
    assert notes == ([note] if page == "models" else [])


def test_a_recipe_with_a_lone_surrogate_breaks_no_page_and_is_reported_on_its_card(shelf: Path) -> None:
    translator = Translator.load(shelf / "en-de.safetensors")
    assert translator.checkpoint is not None
    recipe, half = {"data": {"source_language": "unknown"}}, shelf / "half.safetensors"
    save_checkpoint(half, TrainedModel(translator.model, translator.tokenizer, recipe))
    half.write_bytes(half.read_bytes().replace(b"unknown", rb"\\ud800"))
    assert "recipe.data.source_language = \\ud800: not valid Unicode" in page_text(opened())
    open_view("translate", checkpoint="half")


def test_the_cards_of_what_ships_say_what_their_files_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(PRETRAINED))
    found = {name: entry(file) for name, file in checkpoints().items()}
    for one in found.values():
        assert one.header is not None
        assert main_score(one, read_families(checkpoints()))
        assert {"Architecture", "Data"} <= one.facts.keys()
    assert found["en-de"].languages == ("en", "de")
    assert found["reverse"].is_toy
    assert {one.facts["Test"] for one in found.values() if "Test" in one.facts} == set(SHIPPED_TESTS)
    metrics = found["en-de"].header.metrics  # type: ignore[union-attr]
    drawn = cards(opened(checkpoint="reverse"))
    assert drawn["en-de"]["score"] == f"BLEU {metrics['test_bleu']:.1f}"
    assert drawn["en-de"]["measured"] == f"on {found['en-de'].facts['Test']}"
    assert "beam 4" in drawn["en-de"]["measured"]
    assert drawn["reverse"]["score"] == "100% right"
    assert drawn["reverse"]["measured"].endswith("of its validation text, greedy")
    assert [name for name, card in drawn.items() if card["open"]] == ["reverse"]


def test_a_member_of_a_family_has_the_score_of_its_family_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """While it was trained it was scored on fewer sentences, and greedily: that number is only among all its scores."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(PRETRAINED))
    app = opened(checkpoint="family-heads-1", family="heads")
    (heads, *_) = [one for one in read_families(checkpoints()) if one.name == "heads" and not one.text.is_toy]
    file = json.loads((PRETRAINED / "families.json").read_text())
    scored = file["members"]["heads-1"]["runs"][0]["beam_4"]
    card = cards(app)["family-heads-1"]
    assert card["score"] == f"BLEU {scored['bleu']:.1f}"
    assert card["measured"] == f"on {heads.text.measured_on}"
    assert f"{scored['sentences']:,} sentences" in card["measured"]
    tables = [table.value for table in app.table if "heads h" in table.value]
    assert f"{scored['bleu']:.1f}" in [table["BLEU"].iloc[0] for table in tables]
    header = entry(checkpoints()["family-heads-1"]).header
    assert header is not None
    assert f"{header.metrics['valid_bleu']:.1f}" not in page_text(app)


def test_a_button_opens_a_checkpoint_with_the_current_sentence(shelf: Path) -> None:
    shutil.copy(shelf / "family-heads-1.safetensors", shelf / "other.safetensors")
    app = opened(sentence="the cat sat", layer="3", head="4")
    (button,) = [each for each in app.button if str(each.key).startswith("open_card_") and each.label == "Open"][:1]
    button.click().run()
    assert not app.exception
    assert app.selectbox(key="checkpoint").value != "en-de"
    assert app.text_input(key="sentence").value == "the cat sat"


def test_the_parameters_of_each_part_add_up_to_those_of_the_file(shelf: Path) -> None:
    for name in ("en-de", "family-heads-1"):
        header = read_header(shelf / f"{name}.safetensors")
        counts = parameters_of(header.config)
        assert sum(counts.values()) == header.parameters
        assert counts.keys() <= set(PARTS)  # which are translated
        assert counts["encoder feed-forward"] == header.config.encoder_layers * feed_forward_parameters(header.config)


@pytest.mark.parametrize(
    "changed",
    [
        {"output_bias": True},
        {"shared_embeddings": False},
        {"positions": "learned"},
        {"positions": "none"},
        {"norm": "pre"},
    ],
)
def test_every_parameter_of_every_kind_of_model_has_a_part(changed: dict[str, Any]) -> None:
    config = ModelConfig(vocab_size=50, d_model=16, d_ff=32, heads=2, encoder_layers=2, decoder_layers=1, **changed)
    with torch.device("meta"):
        weights = {id(weight): weight.numel() for weight in Transformer(config).parameters()}
    counts = parameters_of(config)
    assert sum(counts.values()) == sum(weights.values())
    assert counts.keys() <= set(PARTS)
    assert parts_text(config)


def test_the_card_that_is_open_says_how_its_parameters_are_shared_out(shelf: Path) -> None:
    entries = [entry(checkpoints()[name]) for name in ("en-de", "family-heads-1")]
    cards = cards_data(entries, {}, "en-de")["cards"]
    assert [bool(card["parts"]) for card in cards] == [True, False]
    counted = 525_568, 263_168  # by hand: 2 * 256 * 1024 + 1024 + 256, and 4 * (256 * 256 + 256)
    text = parts_text(ModelConfig(vocab_size=8000, d_model=256, d_ff=1024, heads=8, encoder_layers=6, decoder_layers=6))
    assert text == "feed-forward 48% ({:,} a network), attention 36% ({:,} each), embeddings 16%".format(*counted)


def test_the_facts_of_a_card_are_those_of_its_first_table() -> None:
    card = (
        "# name\n\nwords\n\n|  |  |\n| --- | --- |\n| Data | mine |\n| Licence | MIT |\n\n## More\n\n| Data | other |\n"
    )
    assert card_facts(card) == {"Data": "mine", "Licence": "MIT"}
    assert card_facts("") == {}


def test_a_checkpoint_of_unknown_origin_is_an_entry_too(shelf: Path) -> None:
    one = entry(CheckpointFile.at(shelf / "wrong.safetensors"))
    assert one.header is None
    assert one.languages == ("", "")
    assert one.scores == ()

"""The page Models: cards, scores, families; what is drawn is what the files say, and a click opens a checkpoint."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
import torch
from streamlit.testing.v1 import AppTest

from app.compute.doctor_findings import findings
from app.compute.subject import Subject
from app.figures.family_plot import Place, family_alt, family_chart, family_table
from app.figures.station_texts import feed_forward_parameters
from app.languages import speaking
from app.library.catalogue import Score, card_facts, entry, scores_in
from app.library.checkpoints import CheckpointFile, checkpoints
from app.library.families import Member, Value, read_families, shipped_members
from app.library.main_score import SHIPPED_TESTS, MainScore, main_score, search_words, text_words
from app.library.published_scores import TEST_SETS
from app.library.tasks import Task
from app.views.models.cards_picture import cards_data, cards_table, parts_text
from app.views.models.cards_section import PARTS
from app.views.models.families_section import _clicked
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.app_families import REPORT, write_families
from tests.support.drawn import array, chart, charts, checked, components, open_view
from tests.support.unmarked_texts import bracketed
from transformer.analysis.inspection import parameters_of
from transformer.checkpoint.checkpoint_file import TrainedModel, save_checkpoint
from transformer.checkpoint.header import read_header
from transformer.config import ModelConfig
from transformer.decoding.translation import Translation
from transformer.decoding.translator import Translator
from transformer.model import Transformer
from transformer.training.metrics import read_metrics

LONG = f"beam {'9' * 5000}"
PRETRAINED = Path(__file__).resolve().parents[2] / "pretrained"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of checkpoints of one's own: `en-de`, a member of a family that ships, and a file that is none."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    write_checkpoint(folder / "en-de.safetensors")
    write_checkpoint(folder / "family-heads-1.safetensors", Size(1, 2, 1), options={"norm": "pre"})
    (folder / "wrong.safetensors").write_bytes(b"no checkpoint")
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
    st.cache_data.clear()
    return folder


def opened(**address: str) -> AppTest:
    """The page with its details open."""
    return open_view("models", details="true", **address)


def cards(app: AppTest) -> dict[str, dict[str, Any]]:
    """The cards of the picture by the name of the checkpoint."""
    (found,) = components(app, "model_cards")
    return {card["name"]: card for card in found["cards"]}


def page_text(app: AppTest) -> str:
    found = [*app.text, *app.caption, *app.info, *app.markdown, *app.header, *app.subheader]
    return "\n".join(str(each.value) for each in found)


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


def test_scores_in_a_file_beside_a_checkpoint_are_shown_beside_the_published_ones(shelf: Path) -> None:
    scores = {
        "data": "texts/test_2016_flickr.tsv.gz",
        "bleu": 39.87,
        "bleu_signature": "nrefs:1|tok:13a",
        "chrf": 60.0,
        "exact_match": 0.024,
        "sentences": 1000,
    }
    lines = [
        scores | {"decoding": {"method": "beam", "beam": 4}, "date": "2026-11-22"},
        {"bleu": "x"},
        [1],
        {"chrf": None},
        scores | {"bleu": 99.0, "date": "\ud800"},
    ]
    path = shelf / "en-de.scores.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n{rubbish", encoding="utf-8")
    found = entry(checkpoints()["en-de"])
    assert [(score.text, score.measure, score.value) for score in found.scores if score.text != "validation"] == [
        ("test_2016_flickr", "BLEU", 39.87),
        ("test_2016_flickr", "chrF", 60.0),
        ("test_2016_flickr", "exact match", pytest.approx(2.4)),
    ]
    app = opened()
    assert cards(app)["en-de"]["score"] == "BLEU 39.9"
    assert cards(app)["en-de"]["measured"] == "on 1,000 pairs of test_2016_flickr, beam 4"
    tables = [table.value for table in app.table]
    first = next(table for table in tables if "Transformer-tiny" in " ".join(map(str, table["system"])))
    assert list(first["BLEU"]) == ["39.9", *(f"{other.bleu:.1f}" for other in TEST_SETS[0].published)]
    assert first["source"].iloc[0] == "the files of this checkpoint: beam 4, `nrefs:1|tok:13a`"
    others = [table for table in tables if "system" in table and table is not first]
    assert {table["BLEU"].iloc[0] for table in others} == {"not measured here"}
    assert {table["source"].iloc[0] for table in others} == {"`python -m transformer evaluate` measures it"}
    assert first["source"].iloc[1] == "reported for a paper of EMNLP 2023; not checked against the paper"


def test_what_a_run_measured_is_drawn_beside_its_checkpoint(shelf: Path, finished_run: Path) -> None:
    assert "There is no run of these checkpoints" in page_text(opened())
    shutil.copy(finished_run / "metrics.jsonl", shelf / "en-de.metrics.jsonl")
    lines = [line for line in read_metrics(finished_run / "metrics.jsonl") if line["kind"] == "valid"]
    line = chart(opened(), "Validation loss")["data"][0]
    assert line["name"] == "en-de"
    assert array(line["x"]).tolist() == [each["update"] for each in lines]
    assert array(line["y"]).tolist() == [each["loss"] for each in lines]


def test_models_whose_run_is_not_drawn_are_counted(shelf: Path, finished_run: Path) -> None:
    for number in range(9):
        shutil.copy(shelf / "en-de.safetensors", shelf / f"copy-{number}.safetensors")
        shutil.copy(finished_run / "metrics.jsonl", shelf / f"copy-{number}.metrics.jsonl")
    app = opened()
    assert len(chart(app, "Validation loss")["data"]) == 8
    assert "The first 8 of 9 models with a run are drawn." in page_text(app)


def test_brackets_are_explained_only_where_there_are_some(shelf: Path) -> None:
    for most, is_explained in ((3, True), (1, False)):
        members = {name: one | {"runs": one["runs"][:most]} for name, one in REPORT["members"].items()}
        (shelf / "families.json").write_text(json.dumps(REPORT | {"members": members}), encoding="utf-8")
        assert ("in brackets the lowest" in page_text(opened(family="heads"))) == is_explained


def test_a_family_is_drawn_as_its_file_says(shelf: Path) -> None:
    write_families(shelf)
    app = opened(family="heads")
    points = chart(app, "BLEU over heads h")["data"][0]
    members, heads = REPORT["members"], REPORT["families"][0]["members"]
    ours = [members[member["member"]] for member in heads]
    means = [one["mean"]["bleu"] if one["runs"] else np.nan for one in ours]  # no number: no point
    assert array(points["y"]).tolist() == pytest.approx(means, abs=0, nan_ok=True)
    bleus = [[run["beam_4"]["bleu"] for run in one["runs"]] or [np.nan] for one in ours]
    bar = points["error_y"]
    assert array(bar["array"]).tolist() == pytest.approx([max(b) - np.mean(b) for b in bleus], nan_ok=True)
    assert array(bar["arrayminus"]).tolist() == pytest.approx([np.mean(b) - min(b) for b in bleus], nan_ok=True)
    assert "1 to 3 runs each: differences may be chance" in page_text(app)
    figure = chart(app, "BLEU over heads h")
    assert figure["layout"]["xaxis"]["ticktext"] == ["1", "4", "8", "16"]
    assert [(mark["x"], mark["text"]) for mark in figure["layout"]["annotations"]] == [(3, "not trained")]
    papers = chart(app, "The paper, table 3: BLEU")
    assert array(papers["data"][0]["y"]).tolist() == [member["paper"]["bleu"] for member in heads]
    table = next(table.value for table in app.table if "heads h" in table.value)
    assert list(table["BLEU"]) == ["29.5 (29.2 to 29.8)", "31.2", "31.5 (31.0 to 31.9)", "not trained"]
    assert list(table["BLEU, the paper"]) == ["24.9", "25.5", "25.8", "25.8"]
    assert any("<b>25.5</b>" in text.value for text in app.text)  # as text, and nowhere as markup
    assert not any("<b>" in each.value for each in (*app.markdown, *app.caption))


def test_a_point_and_a_button_open_the_member_that_ships(shelf: Path) -> None:
    write_families(shelf)
    app = opened(family="heads", sentence="the cat sat")
    fills = chart(app, "BLEU over heads h")["data"][0]["marker"]["color"]
    assert len(set(fills)) == 2  # one ships, the others do not
    assert fills[1] == fills[2] != fills[0]
    app.button(key="open_0_heads_family-heads-1").click().run()
    assert app.selectbox(key="checkpoint").value == "family-heads-1"
    assert app.text_input(key="sentence").value == "the cat sat"
    assert chart(app, "BLEU over heads h")["layout"]["xaxis"]["ticktext"][0] == "<b>1</b>"
    assert app.button(key="open_0_heads_family-heads-1").disabled


def test_a_click_on_a_point_that_does_not_ship_opens_nothing(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_families(shelf)
    opened: list[str] = []
    monkeypatch.setattr("app.views.models.families_section.open_checkpoint", opened.append)
    family = read_families(checkpoints())[0]
    for place in (0, 1, 3, 99, -1, None, "0"):
        _clicked(family, place)
    assert opened == ["family-heads-1"]


def test_the_family_and_the_score_are_in_the_address(shelf: Path) -> None:
    write_families(shelf)
    app = opened(family="window", measure="perplexity")
    figure = chart(app, "Perplexity over attention window r")
    assert figure["layout"]["xaxis"]["ticktext"] == ["1", "unlimited"]
    assert [mark["text"] for mark in chart(app, "The paper, table 3")["layout"]["annotations"]] == ["not in the paper"]
    assert chart(opened(family="none of these"), "over heads h")


def test_families_with_several_runs_are_drawn_and_those_with_one_run_are_tables_that_say_so(
    shelf: Path, finished_toys: dict[str, Any]
) -> None:
    write_families(shelf)
    (shelf / "toy-families.json").write_text(json.dumps(finished_toys), encoding="utf-8")
    app = opened()
    assert app.selectbox(key="family").options == ["What differs: heads"]
    (drawn,) = [figure for figure in charts(app) if "Exact matches" in json.dumps(figure["layout"]["title"])]
    assert array(drawn["data"][0]["y"]).tolist() == pytest.approx([80.0, 90.0, 70.0])
    assert array(drawn["data"][0]["error_y"]["array"]).tolist() == pytest.approx([5.0] * 3)
    text = page_text(app)
    assert "2 runs each: the bar goes from the lowest to the highest" in text
    assert "Here the order differs (Exact matches): the mean of 4 heads is above that of 8 heads." in text
    assert "Heads, translating: 1 to 3 runs each" in text
    assert "Differences may be chance" in text


def test_a_member_is_compared_with_those_of_its_own_task(shelf: Path, finished_toys: dict[str, Any]) -> None:
    write_families(shelf)
    letters: dict[str, Any] = {"toy": "reverse", "source_language": "letters", "target_language": "letters reversed"}
    for name in ("reverse-heads-1", "reverse-base"):
        write_checkpoint(shelf / f"{name}.safetensors", Size(1, 1, 1), **letters)
    (shelf / "toy-families.json").write_text(json.dumps(finished_toys), encoding="utf-8")

    def names(task: Task | None) -> dict[Value, str]:
        return {value: file.name for value, file in shipped_members("model.heads", task).items()}

    own = entry(checkpoints()["reverse-base"]).task
    assert names(own) == {1: "reverse-heads-1", 8: "reverse-base"}
    assert names(None) == names(replace(own, source="Latin")) == {1: "family-heads-1"}


def test_the_page_heads_leads_to_the_plot_over_heads_where_there_is_one(
    shelf: Path, finished_toys: dict[str, Any]
) -> None:
    def links() -> list[str]:
        found = [element.proto for element in open_view("multihead").get("page_link")]
        return [link.query_string for link in found if "one head" in link.label]

    assert links() == []
    (shelf / "toy-families.json").write_text(json.dumps(finished_toys), encoding="utf-8")
    assert links() == ["family=heads"]


def test_families_of_one_name_from_several_toy_tasks_are_listed_with_their_tasks(
    shelf: Path, finished_toys: dict[str, Any]
) -> None:
    for task in ("copy", "reverse", "sort"):
        report = finished_toys | {"scored_on": f"toy:{task}"}
        (shelf / f"{task}-families.json").write_text(json.dumps(report), encoding="utf-8")
    app = opened(family="heads")
    assert "their task is copy" in page_text(app)
    assert [header.value for header in app.header if "2 runs each" in header.value] == [
        "Heads, reversing letters: 2 runs each",
        "Heads, sort: 2 runs each",
    ]


@pytest.fixture
def finished_toys() -> dict[str, Any]:
    """A report of toys: three members with two runs each, of which one is in another order than in the paper."""
    heads = REPORT["families"][0]["members"][:3]
    runs = {
        member["member"]: {"runs": [{"beam_4": {"exact_match": share + plus}} for plus in (-0.05, 0.05)]}
        for member, share in zip(heads, (0.8, 0.9, 0.7), strict=True)
    }
    family = {"name": "heads", "option": "model.heads", "members": heads}
    return {"scored_on": "toy:reverse", "prefix": "reverse", "members": runs, "families": [family]}


@pytest.mark.parametrize(
    ("text", "families"),
    [
        ("", []),
        ("[]", []),
        ("{", []),
        ('{"families": 5}', []),
        ('{"families": [5, {"name": 3}, {"name": "heads", "members": [7]}]}', ["heads"]),
        (
            '{"families": [{"name": "x", "option": "y", "members": [{"member": "a", "value": [1]}]}], "members": {"a": '
            '{"mean": {"bleu": NaN, "perplexity": "2"}, "runs": 5}}, "disagreements": [4]}',
            ["x"],
        ),
        ('{"families": [{"name": "x", "members": [{"member": "\\ud800"}]}], "members": {}}', []),
    ],
)
def test_a_file_of_families_that_is_none_breaks_nothing(shelf: Path, text: str, families: list[str]) -> None:
    (shelf / "families.json").write_text(text, encoding="utf-8")
    app = opened()
    found = read_families(checkpoints())
    assert [family.name for family in found] == families
    assert not any(member.ours for family in found for member in family.members)
    assert ("Not trained here. `python -m transformer queue families`" in page_text(app)) == (not families)
    assert ('"text": "not trained"' in json.dumps(charts(app))) == bool(families)


def test_the_figure_of_a_family_begins_at_0_and_has_no_point_for_what_was_not_run() -> None:
    places = [Place("1", 20.0, (19.5, 20.4), 3, True), Place("2", None), Place("unlimited", 25.0, None, 1)]
    figure = family_chart(places, title="t", varies="r", unit="BLEU")
    drawn = checked(figure)
    assert list(drawn.data[0].text) == ["  20.0", "", "  25.0"]
    assert np.isnan(array(figure.data[0]["y"])[1])
    low, high = figure.layout["yaxis"]["range"]
    assert low < 0.0  # so that a small difference looks small
    assert high > 25.0
    assert "20.00 (3 runs from 19.50 to 20.40), 2 not trained" in family_alt(places, "t")
    assert list(family_table(places, "r", "BLEU")["BLEU"]) == [20.0, "not trained", 25.0]
    words = family_chart([Place("sinusoidal", 20.0), Place("<b>", 25.0)], title="t", varies="r", unit="BLEU")
    assert words.layout["xaxis"]["ticktext"][1] == "&lt;b&gt;"
    assert np.isfinite(
        checked(family_chart([Place("1", None)], title="t", varies="r", unit="u")).layout.yaxis.range
    ).all()


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


def test_a_search_in_a_file_of_scores_is_said_in_words_whatever_the_file_has() -> None:
    with speaking("de"):
        texts = [search_words(Score("test", "BLEU", 1.0, search)) for search in ("beam 4", "greedy", "", "<b>", LONG)]
    assert texts == ["Beam 4", "greedy", "", "<b>", LONG]


def test_text_and_measure_of_a_score_are_said_in_words() -> None:
    scores = [Score(text, "BLEU", 1.0) for text in ("test", "validation", "news-test")]
    with bracketed():
        assert [text_words(score) for score in scores] == ["⟦test text⟧", "⟦validation text⟧", "news-test"]
    file = checkpoints()["reverse"]
    with speaking("de"):
        table = cards_table([entry(file)], {file.name: MainScore("exact match", 99.6, "", "")})
    assert table["Maß"] == ["exakt richtig"]


def test_exact_matches_read_100_only_where_all_are_right() -> None:
    values = (0.2, 2.4, 99.6, 100.0)
    texts = [str(MainScore("exact match", value, "", "")) for value in values]
    assert texts == ["<1% right", "2% right", "99.6% right", "100% right"]
    figure = family_chart([Place(str(value), value) for value in values[2:]], title="t", varies="r", unit="right, %")
    assert figure.data[0]["text"] == ["  99.6", "  100.0"]


def test_the_value_of_a_member_is_written_in_the_language_of_the_visitor() -> None:
    member = Member("smooth", 0.1, {}, {}, 0, "", None)
    with speaking("de"):
        assert member.label == "0,1"


def test_the_facts_of_a_card_are_those_of_its_first_table() -> None:
    card = (
        "# name\n\nwords\n\n|  |  |\n| --- | --- |\n| Data | mine |\n| Licence | MIT |\n\n## More\n\n| Data | other |\n"
    )
    assert card_facts(card) == {"Data": "mine", "Licence": "MIT"}
    assert card_facts("") == {}


def test_scores_of_a_checkpoint_that_are_not_numbers_are_left_out() -> None:
    metrics: dict[str, Any] = {"test_bleu": "9", "valid_bleu": None, "valid_chrf": True, "valid_exact_match": 0.5}
    assert [(score.measure, score.value, score.text) for score in scores_in(metrics)] == [
        ("exact match", 50.0, "validation")
    ]


def test_a_checkpoint_of_unknown_origin_is_an_entry_too(shelf: Path) -> None:
    one = entry(CheckpointFile.at(shelf / "wrong.safetensors"))
    assert one.header is None
    assert one.languages == ("", "")
    assert one.scores == ()


# The doctor's line


def test_the_doctor_finds_nothing_where_nothing_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(PRETRAINED))
    for page in ("translate", "masks"):
        app = open_view(page, checkpoint="reverse")
        assert not [each for each in app.get("popover") if each.proto.popover.label == "Why?"]


def test_the_doctor_says_what_is_wrong_in_one_line_and_leads_to_the_head(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    translator = Translator.load(PRETRAINED / "reverse.safetensors")
    attention = translator.model.encoder.layers[1].self_attention
    attention.query.weight.data[: translator.model.config.d_k] = 0
    kept = translator.checkpoint
    assert kept is not None
    save_checkpoint(tmp_path / "sick.safetensors", TrainedModel(kept.model, kept.tokenizer, kept.recipe))
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    app = open_view("translate", sentence="a <b> H c")
    assert "The vocabulary lacks letters of this sentence" in [text.value for text in app.text]
    assert any("“<”" in text.value for text in app.text)
    app.button(key="doctor_1_same_head").click().run()
    assert not app.exception
    assert (app.session_state["kind"], app.session_state["layer"], app.session_state["head"]) == ("encoder", 2, 1)


def test_the_doctor_runs_once_with_or_without_a_search_tree(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Translation] = []

    def examine(translator: Translator, known: object, translation: Translation, *rest: object) -> tuple[()]:
        asked.append(translation)
        return ()

    monkeypatch.setattr("app.compute.doctor_findings.doctor.examine", examine)
    st.cache_data.clear()
    file = CheckpointFile.at(folder / "en-de.safetensors")
    for keep_tree in (True, False):
        (translation,) = Translator.load(file.path).translate_sentences(["the cat"], keep_tree=keep_tree)
        assert bool(translation.tree) == keep_tree
        assert findings(Subject(file), translation, translation.hypotheses[0]) == ()
    assert [each.tree for each in asked] == [()]

"""The scores of the page Models are those of the files beside the checkpoints, written in words."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from app.figures.family_plot import Place, family_chart
from app.languages import speaking
from app.library.catalogue import Score, entry, scores_in
from app.library.checkpoints import checkpoints
from app.library.main_score import MainScore, search_words, text_words
from app.library.published_scores import TEST_SETS
from app.views.models.cards_picture import cards_table
from tests.support.drawn import array, chart, page_text
from tests.support.models_page import cards, opened
from tests.support.unmarked_texts import bracketed
from transformer.training.metrics import read_metrics

LONG = f"beam {'9' * 5000}"


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
    assert table["Maß"] == ["exakte Treffer"]


def test_exact_matches_read_100_only_where_all_are_right() -> None:
    values = (0.2, 2.4, 99.6, 100.0)
    texts = [str(MainScore("exact match", value, "", "")) for value in values]
    assert texts == ["<1% right", "2% right", "99.6% right", "100% right"]
    figure = family_chart([Place(str(value), value) for value in values[2:]], title="t", varies="r", unit="right, %")
    assert figure.data[0]["text"] == ["  99.6", "  100.0"]


def test_scores_of_a_checkpoint_that_are_not_numbers_are_left_out() -> None:
    metrics: dict[str, Any] = {"test_bleu": "9", "valid_bleu": None, "valid_chrf": True, "valid_exact_match": 0.5}
    assert [(score.measure, score.value, score.text) for score in scores_in(metrics)] == [
        ("exact match", 50.0, "validation")
    ]

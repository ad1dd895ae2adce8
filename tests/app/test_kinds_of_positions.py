"""Positions, "Sine or learned?": scores, translations and how alike positions are, of models trained alike."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.figures.theme import fixed
from app.state.choices import SENTENCE
from app.views.positions.likeness import likeness, likeness_table
from tests.support.app_checkpoints import write_checkpoint
from tests.support.drawn import array, chart, components, open_view, page_text, title
from tests.support.in_advance import compute_in_advance
from transformer.decoding.translator import Translator

WORDS = "the cat sat on the mat"
KINDS = {"sinusoidal": "family-base", "learned": "family-positions-learned", "none": "family-positions-none"}


def report(*runs: dict[str, float]) -> dict[str, Any]:
    """A report of a queue: the BLEU of each run of each kind."""
    stems = {kind: stem.removeprefix("family-") for kind, stem in KINDS.items()}
    papers = {"sinusoidal": {"bleu": 25.8}, "learned": {"bleu": 25.7}, "none": None}
    members = [{"member": stem, "value": kind, "paper": papers[kind]} for kind, stem in stems.items()]
    found = {
        stem: {
            "runs": [{"seed": seed, "parameters": 9, "beam_4": {"bleu": run[kind]}} for seed, run in enumerate(runs)],
            "mean": {"bleu": float(np.mean([run[kind] for run in runs]))},
        }
        for kind, stem in stems.items()
    }
    family = {"name": "positions", "option": "model.positions", "members": members}
    return {"queue": "families", "scored_on": "valid.tsv.gz", "members": found, "families": [family]}


def test_the_table_of_likeness_has_all_distances_of_the_longest_kind() -> None:
    short, long = likeness(np.eye(3)), likeness(np.eye(5))
    columns = likeness_table({"short": short, "long": long})
    assert len(columns["distance k"]) == len(columns["short: mean"]) == len(long.mean) > len(short.mean)
    np.testing.assert_array_equal(columns["long: mean"], long.mean)
    np.testing.assert_array_equal(columns["short: mean"][: len(short.mean)], short.mean)
    assert np.isnan(columns["short: mean"][len(short.mean) :]).all()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for seed, (kind, stem) in enumerate(KINDS.items()):
        write_checkpoint(tmp_path / f"{stem}.safetensors", seed=seed, options={"positions": kind}, max_length=39)
    (tmp_path / "families.json").write_text(json.dumps(report({"sinusoidal": 22.04, "learned": 24.0, "none": 20.9})))
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    return tmp_path


def opened(**address: str) -> AppTest:
    return open_view("positions", **{SENTENCE.key: WORDS, "checkpoint": "family-base", "picture": "kinds", **address})


def test_what_the_models_write_is_computed_before_the_next_scene_of_a_lesson_opens(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {SENTENCE.key: WORDS, "checkpoint": "family-base", "picture": "kinds"}
    compute_in_advance("positions", "family-base", texts)
    monkeypatch.setattr(Translator, "translate_sentences", None)
    app = opened()
    assert not app.exception
    assert components(app, "comparison")


def test_a_model_whose_file_is_damaged_is_left_out(folder: Path) -> None:
    damaged = folder / "family-positions-none.safetensors"
    damaged.write_bytes(damaged.read_bytes()[:-100])
    app = opened()
    assert not app.exception
    (drawn,) = components(app, "comparison")
    assert len(drawn["columns"]) == 2
    for path in folder.glob("family-*.safetensors"):
        path.write_bytes(path.read_bytes()[:-100])
    write_checkpoint(folder / "own.safetensors")
    app = open_view("positions", **{SENTENCE.key: WORDS, "checkpoint": "own", "picture": "kinds"})
    assert not app.exception
    assert "The small models cannot be opened." in page_text(app)


def test_the_scores_are_written_on_their_points_and_the_number_of_runs_is_in_the_title(folder: Path) -> None:
    drawn = chart(opened(), "BLEU")
    assert title(drawn) == "BLEU: one run each"
    (points,) = drawn["data"]
    assert [text.strip() for text in points["text"]] == ["22.0", "24.0", "20.9"]
    assert drawn["layout"]["xaxis"]["ticktext"][1:] == ["Learned", "None"]
    shown = page_text(opened())
    assert "24.0 against 22.0 BLEU (one run each: the difference may be chance)" in shown
    assert "“nearly identical results”, 25.7 against 25.8 BLEU" in shown
    assert "“may allow the model to extrapolate” to longer sequences" in shown
    assert "attention needs no more than that. Sinusoidal positions that are near each other are alike" in shown
    sine, learned = (
        [fixed(one, 2) for one in array(line["y"])[[1, 10]]]
        for line in (chart(opened(), "How alike")["data"][i] for i in (1, 3))
    )
    assert (
        f"of the first 20 positions: sine and cosine {sine[0]} and {sine[1]}; learned {learned[0]} and {learned[1]}"
        in shown
    )
    assert "hardly more alike than others" in shown  # of random models


def test_without_the_learned_ones_the_page_says_what_is_true_of_both(folder: Path) -> None:
    (folder / "family-positions-learned.safetensors").unlink()
    shown = page_text(opened())
    assert "are alike before any training; learned positions begin at random." in shown


def test_training_has_made_learned_positions_alike_that_are_near_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The models that ship: what the page and the lessons say about them."""
    monkeypatch.delenv("HEADLIGHT_CHECKPOINTS", raising=False)
    for checkpoint, words in (("en-de", WORDS), ("reverse", "k f a z k")):
        assert "training has made near ones alike" in page_text(opened(checkpoint=checkpoint, sentence=words))


def test_of_short_sentences_the_cosine_at_the_longest_distance_is_named(folder: Path) -> None:
    for seed, (kind, stem) in enumerate(KINDS.items()):
        write_checkpoint(folder / f"{stem}.safetensors", seed=seed, options={"positions": kind}, max_length=10)
    assert "cosine at distance 1 and 5, of the first 11 positions: sine and cosine" in page_text(opened())


def test_more_runs_appear_by_themselves(folder: Path) -> None:
    runs = [{"sinusoidal": 22.0 + more, "learned": 24.0 + more, "none": 20.0 + more} for more in (0, 1, 2)]
    (folder / "families.json").write_text(json.dumps(report(*runs)))
    app = opened()
    assert title(chart(app, "BLEU")) == "BLEU: 3 runs each"
    assert "25.0 against 23.0 BLEU (3 runs each)" in page_text(app)


def test_how_alike_positions_are_is_the_cosine_of_the_rows_of_the_tables(folder: Path) -> None:
    drawn = chart(opened(), "How alike")
    for kind, line in (("sinusoidal", drawn["data"][1]), ("learned", drawn["data"][3])):
        model = Translator.load(folder / f"{KINDS[kind]}.safetensors").model
        table = model.encoder.embedding.positions(20).detach().double().numpy()
        table = table / np.linalg.norm(table, axis=1, keepdims=True)
        wanted = [np.mean([table[p] @ table[p + k] for p in range(20 - k)]) for k in range(11)]
        np.testing.assert_allclose(array(line["y"]), wanted, atol=1e-5)


def test_the_band_is_from_the_smallest_to_the_largest() -> None:
    found = likeness(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0], [0.0, 0.0]]))
    np.testing.assert_allclose(found.least, [0, 0, 0])
    np.testing.assert_allclose(found.most, [1, 1, 0])
    np.testing.assert_allclose(found.mean, [0.75, 1 / 3, 0])


@pytest.mark.parametrize("words", [WORDS, "cat", "</script><b>the</b> the the"])
def test_every_model_translates_the_sentence_of_the_visitor(folder: Path, words: str) -> None:
    (found,) = components(opened(**{SENTENCE.key: words}), "comparison")
    assert found["columns"] == ["Sine and cosine", "Learned", "None"]
    (row,) = found["rows"]
    for stem, cell in zip(KINDS.values(), row["cells"], strict=True):
        wanted = Translator.load(folder / f"{stem}.safetensors").translate(words).text
        assert cell["text"] == (wanted or "(nothing)")


def test_the_page_opens_with_the_shuffled_words_and_without_such_models_there_is_no_choice(folder: Path) -> None:
    (found,) = components(opened(picture="order"), "word_order")
    assert found["tokens"]
    for stem in ("family-positions-learned", "family-positions-none"):
        (folder / f"{stem}.safetensors").unlink()
    app = opened()
    assert len(components(app, "word_order")) == 1
    assert "Picture" not in [each.proto.label for each in app.get("button_group")]


def test_the_page_models_leads_there(folder: Path) -> None:
    app = open_view("models", checkpoint="family-base", **{SENTENCE.key: WORDS})
    links = [each.proto for each in app.get("page_link")]
    assert any("positions" in link.page and "picture=kinds" in link.query_string for link in links)

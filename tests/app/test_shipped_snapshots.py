"""The snapshots that ship: with them the slider of the Training page works on a new installation."""

import re

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.library.runs import read_curves, read_run
from app.library.snapshots import run_names, shipped_folder, snapshots
from tests.support.drawn import components
from tests.support.pages import MAIN, switch_page
from tests.support.patience import PATIENCE
from transformer.checkpoint.header import read_header
from transformer.decoding.translator import Translator

RUNS = [
    ("en-de-small", "Where is the nearest train station?", "Wo ist der nächste Bahnhof?"),
    ("numbers", "forty-two", "zweiundvierzig"),
    ("reverse", "k f a z", "z a f k"),
]


@pytest.fixture(autouse=True)
def shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the runs that ship."""
    monkeypatch.delenv("HEADLIGHT_CHECKPOINTS", raising=False)
    st.cache_data.clear()


@pytest.mark.parametrize(("name", "source", "target"), RUNS)
def test_a_shipped_run_begins_untrained_and_ends_right(name: str, source: str, target: str) -> None:
    run = read_run(name)
    assert run is not None
    assert run.state == "finished"
    kept = snapshots(name)
    assert len(kept) == 12
    assert min(kept) == 0
    assert max(kept) == run.updates
    assert ("train", "loss") in read_curves(run.folder)
    first, last = (Translator.load(kept[update].path).translate(source).text for update in (0, run.updates))
    assert first != target
    assert last == target
    assert all(read_header(file.path).half for file in kept.values())  # of twelve, as above


def test_shipped_runs_are_small_and_contain_no_path() -> None:
    files = [path for path in shipped_folder().rglob("*") if path.is_file()]
    assert 100_000 < sum(path.stat().st_size for path in files) < 40_000_000
    for path in files:
        assert not re.search(rb"/(home|root|Users|tmp|work)/", path.read_bytes()), path.name


def test_where_bleu_can_only_be_0_the_page_says_why() -> None:
    """Numbers in words are one word each, and BLEU counts runs of four."""
    for name, is_explained in (("numbers", True), ("reverse", False)):
        page = switch_page(AppTest.from_file(str(MAIN), default_timeout=PATIENCE), "training")
        page.query_params.update({"run": name, "details": "true"})
        page.run()
        assert any("BLEU counts" in caption.value for caption in page.caption) == is_explained, name


def test_a_fresh_training_page_opens_with_a_translation_that_begins_as_nonsense(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.views.training.snapshot_sweep.SECONDS_AT_ONCE", PATIENCE)  # all snapshots at once
    assert run_names() == [name for name, _, _ in RUNS]
    page = switch_page(AppTest.from_file(str(MAIN), default_timeout=PATIENCE), "training").run()
    assert not page.exception
    (machine,) = components(page, "time_machine")
    written = ["".join(word for word, _ in row["words"]) for row in machine["rows"]]
    assert machine["run"] == "en-de-small"
    assert machine["model"] == "“en-de-small” (a smaller model than the one at the top of the page)"
    assert machine["news"] == ""
    assert written[0].startswith("nananana")
    assert written[-1].endswith("meine Brille gesucht.")  # of a small model: not all of it is right
    assert machine["rows"][0]["share"] < 0.01 < 0.1 < machine["rows"][-1]["share"]


def test_the_training_page_says_that_the_sentence_is_in_another_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.views.training.snapshot_sweep.SECONDS_AT_ONCE", PATIENCE)
    page = switch_page(AppTest.from_file(str(MAIN), default_timeout=PATIENCE), "training")
    page.query_params["sentence"] = "Ich habe meine Brille gesucht."
    (machine,) = components(page.run(), "time_machine")
    assert machine["news"] == "Your sentence looks like German"

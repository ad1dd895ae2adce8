"""Checkpoints have names that say what distinguishes them."""

from pathlib import Path

import pytest
import streamlit as st

from app.library.catalogue import entry
from app.library.checkpoints import CheckpointFile, checkpoints
from app.library.names import BASE, display_name, member_names, short_name
from app.library.uploads import upload_name
from app.views.models.cards_picture import cards_data
from tests.support.unmarked_texts import bracketed

SHIPPED = {
    "family-base": BASE,
    "family-heads-1": "one head",
    "family-no-mask": "no causal mask",
    "family-positions-learned": "learned positions",
    "family-positions-none": "no positions",
    "family-window-1": "attention window 1",
    "family-window-4": "attention window 4",
}


@pytest.fixture(autouse=True)
def shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADLIGHT_CHECKPOINTS", raising=False)
    st.cache_data.clear()


def test_each_member_of_a_family_is_called_by_what_it_has() -> None:
    files = checkpoints()
    assert {name: short_name(file) for name, file in files.items() if name.startswith("family-")} == SHIPPED
    assert display_name(files["reverse-one-head"]) == "one head (reversing letters)"
    assert short_name(files["reverse-no-mask"]) == "no causal mask (reversing letters)"
    assert display_name(files["family-heads-1"]) == "one head (English → German)"
    assert display_name(files["en-de"]) == "English → German"
    assert len(set(member_names().values())) == len(member_names())  # two members never have the same name


def test_a_snapshot_is_called_by_its_update() -> None:
    assert short_name(CheckpointFile("reverse-1, update 1200", "x", 0, 0)) == "update 1,200 of reverse-1"


def test_a_best_checkpoint_is_not_called_like_the_checkpoint_that_has_the_name_of_its_run() -> None:
    assert short_name(CheckpointFile("reverse, best", "x", 0, 0)) == "best of reverse"


def test_an_upload_is_marked_in_the_language_of_the_visitor() -> None:
    with bracketed():
        assert short_name(CheckpointFile(upload_name("mine.safetensors"), "x", 0, 0)) == "⟦mine (yours)⟧"


def test_a_card_has_the_name_and_opens_the_file() -> None:
    file = checkpoints()["family-no-mask"]
    (card,) = cards_data([entry(file)], {}, "")["cards"]
    assert (card["called"], card["name"]) == ("no causal mask", "family-no-mask")


def test_without_families_a_file_keeps_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    assert short_name(CheckpointFile("family-heads-1", "x", 0, 0)) == "family-heads-1"

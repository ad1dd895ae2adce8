"""What if, "Switch parts off": the numbers are those of models with a single edit; edits of one visitor stay theirs."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.compute.outcomes import outcome
from app.compute.subject import Subject
from app.library.checkpoints import CheckpointFile
from app.state.choices import MOST_EDITS
from tests.support.drawn import components
from tests.support.pages import PAGES
from transformer.analysis.edits import parse_edit
from transformer.decoding.translator import Translator

Open = Callable[..., AppTest]
SENTENCE = "the cat sat on the mat"
EDITS = "off=cross.1.2;off=encoder.2.1;skip=decoder.2.feed_forward"


def grid(app: AppTest) -> dict[str, Any]:
    (found,) = components(app, "head_switches")
    return found


def texts(app: AppTest) -> str:
    return " ".join(each.value for each in app.text)


def test_what_each_part_costs_is_what_a_model_with_that_edit_alone_loses(open_app: Open, folder: Path) -> None:
    found = grid(open_app("whatif", sentence=SENTENCE, ranked="true"))
    subject = Subject(CheckpointFile.at(folder / "en-de.safetensors"))
    assert len(found["change"]) == 4 * (2 + 3 + 3) + 2 * 2 + 3 * 3
    settings = Translator.load(folder / "en-de.safetensors").settings
    for text in ("off=cross.1.2", "off=encoder.2.4", "off=decoder.3.1", "skip=encoder.1.feed_forward"):
        lost = sum(outcome(subject.edited(parse_edit(text)), SENTENCE, settings).lost)
        assert found["change"][text] == pytest.approx(-lost, abs=2e-5)
    heads = {text: value for text, value in found["change"].items() if text.startswith("off=")}
    assert found["strongest"][0] == min(heads, key=heads.__getitem__)


def test_the_ranking_is_of_the_original_model_and_waits_until_it_is_asked_for(open_app: Open) -> None:
    whole = grid(open_app("whatif", sentence=SENTENCE, ranked="true"))["change"]
    assert grid(open_app("whatif", sentence=SENTENCE, ranked="true", edits=EDITS))["change"] == whole
    app = open_app("whatif", sentence=SENTENCE, ranked="false")
    assert "change" not in grid(app)
    next(button for button in app.button if button.label == "Rank all heads").click().run()
    assert grid(app)["change"] == whole


def test_the_button_switches_the_most_important_head_off(open_app: Open) -> None:
    app = open_app("whatif", sentence=SENTENCE)
    strongest = grid(app)["strongest"][0]
    next(button for button in app.button if button.label == "Switch it off").click().run()
    assert grid(app)["off"] == [strongest]
    assert app.query_params["edits"] in (strongest, [strongest])


def test_the_link_restores_every_edit(open_app: Open) -> None:
    app = open_app("whatif", sentence=SENTENCE, edits=EDITS)
    assert grid(app)["off"] == EDITS.split(";")
    assert "Edited model:" in texts(app)


@pytest.mark.parametrize(
    "edits", ["off=cross.99.1", "<script>alert(1)</script>", "off=cross.1.1.1.1;;=;skip=", "off=" + "9" * 3000]
)
def test_a_hostile_link_gets_a_sentence_and_the_page_works(open_app: Open, edits: str) -> None:
    app = open_app("whatif", sentence=SENTENCE, edits=edits)
    assert not app.exception
    assert "An edit in the link was ignored" in texts(app)
    assert len(grid(app)["panels"]) == 3


def test_all_heads_of_a_layer_are_one_edit_and_the_same_as_each_of_them(open_app: Open, folder: Path) -> None:
    app = open_app("whatif", sentence=SENTENCE, edits="off=cross.1.all;mask=causal")
    each = [f"off=cross.1.{head}" for head in range(1, 5)]
    assert grid(app)["off"] == each
    assert "all heads off" in " ".join(button.label for button in app.button)
    subject = Subject(CheckpointFile.at(folder / "en-de.safetensors"))
    settings = Translator.load(folder / "en-de.safetensors").settings
    lost = outcome(subject.edited(parse_edit("off=cross.1.all")), SENTENCE, settings).lost
    assert outcome(subject.edited(*map(parse_edit, each)), SENTENCE, settings).lost == pytest.approx(lost, abs=1e-5)


def test_an_edit_that_a_link_has_twice_is_made_once_and_can_be_taken_back(open_app: Open) -> None:
    app = open_app("whatif", sentence=SENTENCE, edits="off=cross.1.2;off=cross.01.2")
    assert not app.exception
    next(button for button in app.button if button.label.endswith("✕")).click().run()
    assert grid(app)["off"] == []
    assert "Original model: nothing is edited." in texts(app)


def test_at_the_limit_nothing_is_dropped_and_the_page_says_so(open_app: Open) -> None:
    full = [f"temperature=cross.1.1.{number}" for number in range(1, MOST_EDITS)] + ["off=cross.1.2"]
    app = open_app("whatif", sentence=SENTENCE, edits=";".join(full))
    assert "cannot have more at once" in texts(app)
    next(button for button in app.button if button.label == "Switch it off").click().run()
    assert app.session_state["edits"] == tuple(full)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_with_an_edited_model(open_app: Open, page: str) -> None:
    app = open_app(page, sentence=SENTENCE, edits=EDITS)
    assert not app.exception
    assert "Edited model:" in texts(app)


def test_a_model_of_one_layer_and_one_head_has_its_switches(open_app: Open) -> None:
    found = grid(open_app("whatif", checkpoint="small", sentence="a b c"))
    assert [len(panel["rows"]) for panel in found["panels"]] == [1, 1, 1]
    assert [panel["heads"] for panel in found["panels"]] == [1, 1, 1]


def test_eight_visitors_with_other_edits_at_once_never_meet(folder: Path) -> None:
    subject = Subject(CheckpointFile.at(folder / "en-de.safetensors"))
    settings = Translator.load(folder / "en-de.safetensors").settings
    places = [(kind, layer, head) for kind in ("cross", "decoder") for layer in (1, 3) for head in (1, 4)]
    edits = [parse_edit(f"off={kind}.{layer}.{head}") for kind, layer, head in places]
    alone = [outcome(subject.edited(edit), SENTENCE, settings).lost for edit in edits]
    assert len(set(alone)) == len(edits)
    st.cache_data.clear()
    found: list[list[tuple[float, ...]]] = [[] for _ in edits]
    begin = threading.Barrier(len(edits))

    def visit(number: int) -> None:
        begin.wait()
        for turn in range(5):  # other sentences: nothing is in a cache
            words = SENTENCE + " the cat" * turn
            found[number].append(outcome(subject.edited(edits[number]), words, settings).lost)

    visitors = [threading.Thread(target=visit, args=(number,)) for number in range(len(edits))]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    assert [turns[0] for turns in found] == alone
    st.cache_data.clear()
    for edit, turns in zip(edits, found, strict=True):
        assert outcome(subject.edited(edit), SENTENCE + " the cat" * 4, settings).lost == turns[4]

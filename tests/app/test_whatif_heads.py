"""What if, "Switch parts off": its switches and links make edits; edits of one visitor stay theirs."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from app.compute.outcomes import outcome
from app.compute.subject import Subject
from app.library.checkpoints import CheckpointFile
from app.state.choices import MOST_EDITS
from tests.support.drawn import components, page_text
from tests.support.pages import PAGES
from transformer.analysis.edits import parse_edit
from transformer.decoding.translator import Translator

Open = Callable[..., AppTest]
SENTENCE = "the cat sat on the mat"
EDITS = "off=cross.1.2;off=encoder.2.1;skip=decoder.2.feed_forward"


def grid(app: AppTest) -> dict[str, Any]:
    (found,) = components(app, "head_switches")
    return found


def suggested(app: AppTest) -> list[Button]:
    """The buttons that switch off what the page names."""
    return [button for button in app.button if (button.key or "").startswith("switch ")]


def test_feed_forward_networks_have_a_place_of_their_own(open_app: Open) -> None:
    *attention, last = grid(open_app("whatif", sentence=SENTENCE))["panels"]
    texts = [[part and part["edit"] for part in row] for row in last["rows"]]
    assert texts == [
        ["skip=encoder.1.feed_forward", "skip=decoder.1.feed_forward"],
        ["skip=encoder.2.feed_forward", "skip=decoder.2.feed_forward"],
        [None, "skip=decoder.3.feed_forward"],
    ]
    assert not any("feed" in part["edit"] for panel in attention for row in panel["rows"] for part in row)


def test_the_round_switches_take_the_sub_layer_away_or_the_residual_connection(open_app: Open) -> None:
    edits = "skip=encoder.1.feed_forward;noresidual=encoder.all.self_attention"
    each = [f"noresidual=encoder.{layer}.self_attention" for layer in (1, 2)]
    found = {
        taken: grid(open_app("whatif", sentence=SENTENCE, edits=edits, taken=taken))
        for taken in ("sublayer", "residual")
    }
    for one in found.values():
        assert one["off"] == ["skip=encoder.1.feed_forward", *each]
    cells = {taken: one["panels"][0]["rows"][1][-1] for taken, one in found.items()}
    assert (cells["sublayer"]["edit"], cells["sublayer"]["other"]) == ("skip=encoder.2.self_attention", each[1])
    assert (cells["residual"]["edit"], cells["residual"]["other"]) == (each[1], "skip=encoder.2.self_attention")
    largest = max(abs(value) for text, value in found["residual"]["change"].items() if text.startswith("noresidual="))
    assert largest <= found["residual"]["largest"]["whole"] + 1e-5 <= 1.1 * largest + 2e-5


def test_the_link_restores_every_edit(open_app: Open) -> None:
    app = open_app("whatif", sentence=SENTENCE, edits=EDITS)
    assert grid(app)["off"] == EDITS.split(";")
    assert "Edited model:" in page_text(app)


@pytest.mark.parametrize(
    "edits", ["off=cross.99.1", "<script>alert(1)</script>", "off=cross.1.1.1.1;;=;skip=", "off=" + "9" * 3000]
)
def test_a_hostile_link_gets_an_error_message_and_the_page_works(open_app: Open, edits: str) -> None:
    app = open_app("whatif", sentence=SENTENCE, edits=edits)
    assert not app.exception
    assert "An edit in the link was ignored" in page_text(app)
    assert len(grid(app)["panels"]) == 4


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
    assert "Original model: nothing is edited." in page_text(app)


def test_at_the_limit_nothing_is_dropped_and_the_page_says_so(open_app: Open) -> None:
    full = [f"temperature=cross.1.1.{number}" for number in range(1, MOST_EDITS)] + ["off=cross.1.2"]
    app = open_app("whatif", sentence=SENTENCE, edits=";".join(full))
    assert f"{MOST_EDITS} edits is the most" in page_text(app)
    next(button for button in suggested(app) if not button.disabled).click().run()
    assert app.session_state["edits"] == tuple(full)


def test_at_the_limit_the_edit_of_a_link_is_not_added(open_app: Open) -> None:
    full = [f"temperature=cross.1.1.{number}" for number in range(1, MOST_EDITS + 1)]
    app = open_app("whatif", sentence=SENTENCE, edits=";".join(full), edit="off=cross.1.2")
    assert app.session_state["edits"] == tuple(full)
    assert f"{MOST_EDITS} edits is the most" in page_text(app)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_with_an_edited_model(open_app: Open, page: str) -> None:
    app = open_app(page, sentence=SENTENCE, edits=EDITS)
    assert not app.exception
    assert "Edited model:" in page_text(app)


def test_a_model_of_one_layer_and_one_head_has_its_switches(open_app: Open) -> None:
    found = grid(open_app("whatif", checkpoint="small", sentence="a b c"))
    assert [len(panel["rows"]) for panel in found["panels"]] == [1, 1, 1, 1]
    assert [panel["heads"] for panel in found["panels"]] == [1, 1, 1, 0]


def test_eight_visitors_with_different_edits_do_not_affect_each_other(folder: Path) -> None:
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


def test_a_head_is_marked_only_if_it_was_chosen_and_as_the_other_pages_show_it(open_app: Open) -> None:
    assert grid(open_app("whatif", sentence=SENTENCE, ranked="false"))["chosen"] == ""
    app = open_app("whatif", sentence=SENTENCE, ranked="false", kind="encoder", layer="2", head="4")
    assert grid(app)["chosen"] == "off=encoder.2.4"
    app = open_app("whatif", sentence=SENTENCE, ranked="false", kind="decoder", layer="99", head="2")
    assert grid(app)["chosen"].startswith("off=decoder.")

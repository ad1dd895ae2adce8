"""Choices: what resets them, which are in a link, and with which a page opens."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app import components as pictures
from app.library.tasks import EXAMPLES
from app.state.choices import CHOICES
from app.state.events import happened
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import components, copied_link
from tests.support.pages import PAGES, choose, switch_page

Open = Callable[..., AppTest]
SENTENCE = "the cat sat on the mat"
OWN = "Das Tier war müde"


def test_every_choice_has_its_own_name_and_its_text_is_read_back() -> None:
    assert len({choice.key for choice in CHOICES}) == len(CHOICES)
    assert {choice.page for choice in CHOICES} - {None} <= set(PAGES)
    for choice in CHOICES:
        if choice.written != "session" and choice.default not in ([], (), (-1, -1), -1, False, 0):
            assert choice.read(choice.write(choice.default)) == choice.default, choice.key


def test_no_picture_has_the_key_of_a_choice() -> None:
    """It would be stored in its place in the session: the choice would have the state of the picture as its value."""
    keys = {choice.key for choice in CHOICES}
    drawn = set(vars(pictures)) | {"placed"}
    for path in Path("app").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func).removeprefix("components.") in drawn:
                found = {
                    word.value.value
                    for word in call.keywords
                    if isinstance(word.value, ast.Constant) and word.arg == "key"
                }
                assert not found & keys, (path, call.lineno)


def test_a_sentence_that_was_typed_stays_though_it_is_the_example_of_another_checkpoint(
    open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    write_checkpoint(tmp_path / "en-de.safetensors", Size(1, 1, 1), source_language="en", target_language="de")
    write_checkpoint(tmp_path / "de-en.safetensors", Size(1, 1, 1), source_language="de", target_language="en")
    app = open_app(checkpoint="en-de")
    box = app.text_input(key="sentence")
    assert box.value == EXAMPLES["en"][0]
    app.selectbox(key="checkpoint").set_value("de-en").run()
    assert app.text_input(key="sentence").value == EXAMPLES["de"][0]  # nothing was typed
    app.selectbox(key="checkpoint").set_value("en-de").run()
    for typed in (EXAMPLES["de"][0], "the cat"):
        app.text_input(key="sentence").set_value(typed).run()
        assert not app.exception
        assert app.text_input(key="sentence").value == typed
        app.selectbox(key="checkpoint").set_value("de-en").run()
        assert app.text_input(key="sentence").value == typed
        app.selectbox(key="checkpoint").set_value("en-de").run()
    app.button(key="example_1").click().run()
    assert app.text_input(key="sentence").value == EXAMPLES["en"][1]


def test_a_forced_translation_stays_when_a_search_setting_changes(open_app: Open) -> None:
    app = open_app(sentence=SENTENCE, details="true")
    app.text_input(key="given").set_value(OWN).run()
    for change in (
        lambda: app.slider(key="beam").set_value(2),
        lambda: app.slider(key="alpha").set_value(1.5),
        lambda: app.button_group(key="method").set_value("greedy"),
    ):
        change().run()
        assert not app.exception
        rows = components(app, "choice_list")[0]
        assert rows["rows"][-1]["text"] == OWN
        assert rows["chosen"] == len(rows["rows"]) - 1
        assert app.text_input(key="given").value == OWN


def test_a_copied_link_of_decoding_has_the_search_the_node_the_prefix_and_the_reference(open_app: Open) -> None:
    app = open_app("decoding", sentence=SENTENCE, details="true", part="tree", alpha="1.5", t="3")
    choose(app, node=(2, 5), beginning=(7, 8, 9), continued_node=4, reference="Die Katze").run()
    copied = copied_link(app)
    assert {name: copied[name] for name in ("part", "alpha", "node", "beginning", "continued_node", "reference")} == {
        "part": "tree", "alpha": "1.5", "node": "2-5", "beginning": "7-8-9", "continued_node": "4",
        "reference": "Die Katze",
    }  # fmt: skip
    opened = open_app("decoding", **copied)
    assert not opened.exception
    assert not {"sentence", "beginning", "reference"} & set(opened.query_params)  # private
    state = opened.session_state
    assert (state["node"], state["beginning"], state["continued_node"]) == ((2, 5), (7, 8, 9), 4)
    assert opened.slider(key="alpha").value == 1.5
    choose(opened, part="reference").run()
    assert opened.text_input(key="reference").value == "Die Katze"


def test_a_copied_link_has_the_heads_of_the_alignment(open_app: Open) -> None:
    app = open_app("attention", sentence=SENTENCE, details="true", more="alignment")
    app.multiselect(key="alignment_heads").set_value([(1, 2), (0, 3)]).run()
    assert copied_link(app)["alignment_heads"] == "2.3,1.4"
    again = open_app("attention", **copied_link(app))
    assert again.multiselect(key="alignment_heads").value == [(1, 2), (0, 3)]


def test_a_copied_link_has_the_heads_that_are_drawn_together(open_app: Open) -> None:
    app = open_app("attention", sentence=SENTENCE, details="true", layer="1", head="2")
    assert components(app, "attention_lines")[0]["on"] == [1]
    choose(app, lines_on=(2, 1, 2)).run()
    again = open_app("attention", **copied_link(app))
    assert components(again, "attention_lines")[0]["on"] == [0, 1]
    choose(again, head=1).run()  # another head is chosen
    assert components(again, "attention_lines")[0]["on"] == [0]


def test_a_copied_link_has_the_sentence_of_training_and_its_translation(open_app: Open) -> None:
    app = open_app("training", details="true")
    choose(app, run_sentence="a b", run_right="b a").run()
    copied = copied_link(app)
    assert (copied["run_sentence"], copied["run_right"]) == ("a b", "b a")
    assert not {"run_sentence", "run_right"} & set(app.query_params)  # private
    assert open_app("training", **copied).session_state["run_sentence"] == "a b"


def test_a_copied_link_of_masks_that_are_edited_has_the_head_that_is_shown(open_app: Open) -> None:
    app = open_app("whatif", experiment="masks", edits="mask=causal", sentence=SENTENCE)
    (shown,) = components(app, "causal_matrix")
    other = ((shown["layer"] + 1) % shown["layers"], (shown["head"] + 1) % shown["heads"])
    choose(app, mask_head=other).run()
    (received,) = components(open_app("whatif", **copied_link(app)), "causal_matrix")
    assert (received["layer"], received["head"]) == other


def test_a_copied_link_has_the_head_that_was_kept_when_another_sentence_was_typed(open_app: Open) -> None:
    def shown(app: AppTest) -> dict[str, Any]:
        return dict(components(app, "canvas_channel")[0]["chosen"])

    app, different = open_app("attention", sentence=SENTENCE), 0
    first = shown(app)
    for typed in ("the old cat", "mat on the sat", "a cat sat on the old mat"):
        app.text_input(key="sentence").set_value(typed).run()
        assert shown(app) == first
        assert shown(open_app("attention", **copied_link(app))) == first
        different += shown(open_app("attention", sentence=typed)) != first
    assert different


PLACE = ("kind", "layer", "head", "t", "s", "k")


@pytest.mark.parametrize("page", ["translate", "attention", "hand", "steps"])
def test_what_a_page_opens_with_is_not_in_the_address_and_what_is_chosen_is(open_app: Open, page: str) -> None:
    app = open_app(page, sentence=SENTENCE)
    opened = {name: app.session_state[name] for name in PLACE if name in app.session_state}
    assert opened
    assert not set(PLACE) & set(app.query_params)  # else a reload would make choices of them
    assert not set(PLACE) & set(copied_link(app))
    chosen = {name: opened[name] for name in ("kind", "layer", "head") if name in opened}
    choose(app, **chosen).run()  # the same, but chosen
    assert set(PLACE) & set(app.query_params) == set(chosen)


@pytest.mark.parametrize("nonsense", ["x", "1.1", "99.99", "0.0", "1.1,", "1.1.1", "-1.2"])
def test_nonsense_for_heads_chooses_nothing(open_app: Open, nonsense: str) -> None:
    app = open_app(
        "attention", sentence=SENTENCE, details="true", more="alignment", alignment_heads=nonsense, run_head=nonsense
    )
    assert not app.exception
    assert app.multiselect(key="alignment_heads").value


@pytest.mark.parametrize("name", ["node", "beginning", "continued_node", "given_ids", "at_update"])
@pytest.mark.parametrize("nonsense", ["", "x", "99999", "1-99999-3", "-1", "1-2-3-4-5-6"])
def test_nonsense_for_numbers_gets_a_page(open_app: Open, name: str, nonsense: str) -> None:
    app = open_app("decoding", **{"sentence": SENTENCE, "part": "tree", "given": OWN, name: nonsense})
    assert not app.exception


def test_masks_opens_with_the_causal_mask_and_leaves_the_kind_of_other_pages(open_app: Open) -> None:
    app = open_app("masks", sentence=SENTENCE, details="true")
    assert app.session_state["kind"] == "decoder"
    switch_page(app, "attention").run()
    assert app.session_state["kind"] == "encoder"
    switch_page(app, "translate").run()
    assert app.session_state["kind"] == "cross"
    choose(app, kind="encoder").run()
    switch_page(app, "masks").run()
    assert app.session_state["kind"] == "encoder"


def test_step_by_step_opens_at_its_first_station_and_chooses_no_layer(open_app: Open) -> None:
    app = open_app("attention", sentence=SENTENCE)
    before = {name: app.session_state[name] for name in ("kind", "layer", "head")}
    switch_page(app, "steps").run()
    assert components(app, "model_walk")[0]["at"] == "characters"
    switch_page(app, "attention").run()
    assert {name: app.session_state[name] for name in before} == before


def test_each_event_resets_what_the_table_says(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, Any] = {}
    monkeypatch.setattr("streamlit.session_state", state)
    for event in ("sentence", "search", "checkpoint"):
        state.update({choice.key: "chosen" for choice in CHOICES})
        happened(event)
        gone = {choice.key for choice in CHOICES if choice.key not in state}
        assert gone == {choice.key for choice in CHOICES if event in choice.reset_by}
        assert gone


def test_the_address_with_which_another_page_is_opened_chooses_what_belongs_to_that_page_alone(open_app: Open) -> None:
    app = open_app(sentence=SENTENCE, beam="2")
    for taken in (True, False):
        switch_page(app, "masks")
        app.query_params["mask_taken"], app.query_params["beam"] = str(taken).lower(), "3"
        app.run()
        assert components(app, "causal_matrix")[0]["shown"] == int(taken)
        assert app.query_params["beam"] == "2"
        switch_page(app, "hand").run()


def test_a_checkpoint_that_is_gone_is_named_and_nothing_of_it_is_used(open_app: Open) -> None:
    gone = {"checkpoint": "gone", "edits": "mask=causal", "layer": "1", "given": OWN, "alternative": "given"}
    app = open_app("attention", sentence=SENTENCE, **gone)
    (said,) = [text.value for text in app.text if "is not here" in text.value]
    assert "“gone”" in said
    assert app.selectbox(key="checkpoint").value == "en-de"
    assert not {"edits", "layer", "alternative", "given"} & set(app.query_params)
    assert app.session_state["sentence"] == SENTENCE
    assert [text.value for text in app.run().text if "is not here" in text.value] == [said]
    app.selectbox(key="checkpoint").set_value("small").run()
    assert not app.exception
    assert not [text.value for text in app.text if "is not here" in text.value]

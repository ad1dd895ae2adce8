"""Query, key, value, run without a browser: the scene gets the tensors, what is written and drawn are the tensors, and
the snippet prints them."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.views.hand.latex import digits
from app.views.hand.scene_message import TENSORS, reasons_of
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import array, charts, components, open_view, title
from tests.support.head_by_hand import printed
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator
from transformer.model.attention_kinds import KINDS

Open = Callable[..., AppTest]
SENTENCE = "the cat sat on the mat"
SITES = {
    "cross": "decoder.layers.{}.cross_attention",
    "encoder": "encoder.layers.{}.self_attention",
    "decoder": "decoder.layers.{}.self_attention",
}
NAMES = ("query", "key", "value", "products", "scores", "mask", "masked_scores", "weights", "context")
HOSTILE = "</script><img src=x onerror=alert(1)> _a_ $x$ :red[b]"


@pytest.fixture
def open_hand(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens the page with its details and all their steps; query and key are chosen by their place in the address: t,
    s, k, from 1."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))

    def opened(sentence: str = SENTENCE, **address: str) -> AppTest:
        return open_view("hand", **{"sentence": sentence, "details": "true", "written": "all", **address})

    return opened


def expected(folder: Path, kind: str, layer: int, head: int, sentence: str = SENTENCE) -> dict[str, np.ndarray]:
    """The tensors of one head, computed beside the app."""
    translator = Translator.load(folder / "en-de.safetensors")
    found = translator.translate(sentence, n_best=3).sentences[0]
    site = SITES[kind].format(layer)
    watch = [f"{site}.{name}" for name in NAMES]
    arrays = trace(translator.model, found.source_ids, found.hypotheses[0].ids, watch).arrays
    return {name: arrays[f"{site}.{name}"][head] for name in NAMES}


def by_title(app: AppTest) -> dict[str, dict[str, Any]]:
    """All charts by their title, which begins with kind, layer and head."""
    return {title(figure).partition(": ")[2]: figure for figure in charts(app)}


def formulas(app: AppTest) -> str:
    return " ".join(latex.value for latex in app.latex)


def message_of(app: AppTest) -> dict[str, Any]:
    """What goes to the browser for the scene."""
    (found,) = (
        each.proto for each in app.get("bidi_component") if each.proto.component_name == "headlight_query_scene"
    )
    return dict(json.loads(found.bytes))


def unpacked(packed: dict[str, str]) -> np.ndarray:
    values = np.frombuffer(base64.b64decode(packed["bdata"]), dtype=packed["dtype"])
    return values.reshape([int(side) for side in packed["shape"].split(", ")])


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_scene_gets_the_tensors_of_the_head(open_hand: Open, folder: Path, kind: str) -> None:
    message = message_of(open_hand(kind=kind, layer="2", head="3", details="false"))
    tensors = expected(folder, kind, 1, 2)
    for name in TENSORS:
        np.testing.assert_array_equal(unpacked(message["arrays"][name]), tensors[name])
    assert np.array_equal(unpacked(message["arrays"]["reasons"]) == 0, tensors["mask"])
    queries, keys = tensors["weights"].shape
    assert (len(message["queries"]), len(message["keys"])) == (queries, keys)
    assert len(message["predicts"]) == (0 if kind == "encoder" else queries)
    assert message["d_k"] == tensors["query"].shape[1]


def test_a_forbidden_key_has_the_reason_of_the_mask() -> None:
    causal = np.tril(np.ones((4, 4), dtype=bool))
    window = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) <= 1
    edited = causal & window
    edited[1, 1] = False
    reasons, texts = reasons_of(edited, {"causal": causal, "window": window})
    cell_texts = [[texts[number] for number in row] for row in reasons]
    assert cell_texts[0] == ["", "later word", "later word", "later word"]
    assert cell_texts[1] == ["", "by an edit", "later word", "later word"]
    assert cell_texts[3] == ["too far", "too far", "", ""]


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        ("uniform=cross.2.3", "after its scores"),
        ("temperature=cross.2.3.0.5", "after its scores"),
        ("off=cross.2.3", "the context of this head"),
        ("off=cross.1.1", ""),  # the calculation is that of the edited model
        ("forbid=cross.2.3.2.2", ""),
    ],
)
def test_a_calculation_that_is_not_that_of_the_edited_model_says_so(open_hand: Open, edit: str, says: str) -> None:
    app = open_hand(kind="cross", layer="2", head="3", t="2", s="3", edits=edit)
    notes = [each.value for each in app.info if "without the edit" in each.value]
    assert [says in note for note in notes] == ([True] if says else [])
    assert any("what differs is rounding" in each.value for each in app.markdown) == (not says)


@pytest.mark.parametrize(
    ("edit", "edited"), [("temperature=cross.2.3.0.5", True), ("uniform=cross.2.3", True), ("off=cross.1.1", False)]
)
def test_the_scene_knows_whether_an_edit_changes_the_scores_before_the_softmax(
    open_hand: Open, edit: str, edited: bool
) -> None:
    assert set(message_of(open_hand(kind="cross", layer="2", head="3", edits=edit))["edited"]) == {edited}


def test_a_key_that_an_edit_forbids_is_not_said_to_be_allowed(open_hand: Open) -> None:
    app = open_hand(kind="decoder", layer="2", head="3", t="3", k="2", edits="forbid=decoder.all.all.3.2")
    assert any(each.value.endswith("An edit forbids it.") for each in app.text)


def test_the_details_are_drawn_only_while_they_are_open(open_hand: Open) -> None:
    app = open_hand(details="false")
    assert not app.latex
    assert not charts(app)


@pytest.mark.parametrize(
    ("kind", "place", "query", "key"),
    [
        ("cross", {"t": "2", "s": "3"}, 1, 2),
        ("encoder", {"s": "4", "k": "1"}, 3, 0),
        ("decoder", {"t": "3", "k": "2"}, 2, 1),
        ("decoder", {"t": "2", "k": "5"}, 1, 4),  # the future
    ],
)
def test_what_is_written_drawn_and_printed_are_the_tensors(
    open_hand: Open, folder: Path, kind: str, place: dict[str, str], query: int, key: int
) -> None:
    app = open_hand(kind=kind, layer="2", head="3", **place)
    tensors = expected(folder, kind, 1, 2)
    written, drawn = formulas(app), by_title(app)
    for name in ("products", "scores", "weights"):
        value = float(tensors[name][query, key])
        assert any(digits(near) in written for near in (value, value * (1 + 1e-6), value * (1 - 1e-6))), name
    allowed = tensors["mask"][query]
    assert (r"\text{forbidden}" in written) == (not allowed[key])
    # The products, the largest first, and their sum.
    terms = drawn["q·k term by term"]["data"]
    products = tensors["query"][query].astype(np.float64) * tensors["key"][key]
    assert array(terms[2]["y"]) == pytest.approx(np.array(sorted(products, key=lambda p: -abs(p))), rel=1e-5)
    assert array(terms[3]["y"])[-1] == pytest.approx(float(tensors["products"][query, key]), rel=1e-4, abs=1e-5)
    # The weighted values, and the context below them.
    values = array(drawn["weights times values"]["data"][0]["z"])
    np.testing.assert_allclose(values[-1], tensors["context"][query], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(values[:-1], tensors["weights"][query][:, None] * tensors["value"], rtol=1e-4, atol=1e-6)


def test_the_button_copies_what_prints_the_numbers_of_the_page(open_hand: Open, folder: Path) -> None:
    app = open_hand(kind="cross", layer="2", head="3", t="2", s="3")
    (button,) = components(app, "copy_button")
    found = printed(button["text"])
    for name, site in (("weight", "weights"), ("score", "scores"), ("q·k", "products")):
        value = float(found[name].replace(",", ""))
        assert value == pytest.approx(float(expected(folder, "cross", 1, 2)[site][1, 2]), rel=6e-4)
        assert digits(value) in formulas(app)
    app.session_state["hand_numpy"] = True
    app.run()
    assert button["text"].rstrip() in [block.value.rstrip() for block in app.code]


def test_each_step_by_hand_equals_the_tensor_up_to_rounding(open_hand: Open, folder: Path) -> None:
    app = open_hand(kind="encoder", layer="1", head="2", s="2", k="4")
    table = next(frame.value for frame in app.dataframe if "by hand" in frame.value)
    tensors = expected(folder, "encoder", 0, 1)
    found = dict(zip(table["site"], table["tensor"], strict=True))
    for name in ("products", "scores", "masked_scores", "weights"):
        assert found[name] == pytest.approx(float(tensors[name][1, 3]))
    assert table["largest difference in the row"].max() < 1e-4


def test_it_opens_with_the_key_that_has_the_largest_weight(open_hand: Open, folder: Path) -> None:
    app = open_hand(kind="cross", layer="3", head="1", t="3")
    strongest = int(expected(folder, "cross", 2, 0)["weights"][2].argmax())
    assert app.session_state["s"] == strongest


@pytest.mark.parametrize(
    ("step", "says", "pictures"),
    [
        ("projections", "Where q, k and v come from", 0),
        ("product", "1. The dot product q·k", 1),
        ("scale", r"2. Divided by $\sqrt{d_k}$", 0),
        ("mask", "3. The mask", 0),
        ("softmax", "4. The softmax of the row", 0),
        ("values", "5. The weighted sum of the values", 1),
        ("check", "Is it the model's number?", 0),
    ],
)
def test_one_step_is_written_out_at_a_time(open_hand: Open, step: str, says: str, pictures: int) -> None:
    app = open_hand(written=step)
    assert [header.value for header in app.header] == [says]
    assert len(by_title(app)) == pictures
    assert app.query_params.get("written", "product") in (step, [step])
    app.button_group(key="written").set_value("all").run()
    assert len(app.header) == 7


def test_all_terms_are_written_out_on_request(open_hand: Open) -> None:
    app = open_hand()
    assert "more, together" in formulas(app)
    app.toggle(key="all_terms").set_value(True).run()
    assert "more, together" not in formulas(app)


@pytest.mark.parametrize("kind", ["cross", "decoder"])
def test_a_reason_is_given_for_what_the_mask_says(open_hand: Open, kind: str) -> None:
    shown_text = " ".join(text.value for text in open_hand(kind=kind, t="2", s="4", k="4").text)
    assert ("comes later" in shown_text) == (kind == "decoder")
    assert ("may attend to" in shown_text) == (kind == "cross")


@pytest.mark.parametrize("sentence", [HOSTILE, "a", "the the the the", "🙂"])
def test_odd_words_are_calculated_with_and_stay_text(open_hand: Open, sentence: str) -> None:
    app = open_hand(sentence, kind="encoder")
    assert len(by_title(app)) == 2
    for element in (*app.markdown, *app.caption, *app.latex):
        assert "alert(1)" not in element.value
        assert ":red[b]" not in element.value


@pytest.mark.parametrize(
    ("size", "options"),
    [
        (Size(1, 3, 1), {"norm": "pre"}),
        (Size(3, 1, 2), {"positions": "learned", "attention_window": 1, "shared_embeddings": False}),
        (Size(1, 1, 4), {"positions": "none", "d_model": 4}),  # one dimension a head
    ],
)
def test_it_opens_with_other_architectures(open_hand: Open, folder: Path, size: Size, options: dict[str, Any]) -> None:
    path = folder / "other.safetensors"
    write_checkpoint(path, size, options=options)
    try:
        for kind in KINDS:
            assert len(by_title(open_hand(checkpoint="other", kind=kind, t="3", s="6", k="1"))) == 2
    finally:
        path.unlink()

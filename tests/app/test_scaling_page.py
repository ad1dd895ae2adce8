"""The page Scaling and softmax: its numbers are those of the formulas, and its pictures those of the tensors."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.figures.softmax import softmax
from app.figures.theme import number
from app.stage.heads import SHORT
from app.views.scaling.additive import additive_scores
from app.views.scaling.large_scores import random_sharpness
from app.views.scaling.scaling_charts import WITH, WITHOUT
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import array, chart, charts, open_view
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator
from transformer.model.attention_kinds import Kind

SENTENCE = "the cat sat on the mat"
Open = Callable[..., AppTest]


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scaling")
    write_checkpoint(path / "usual.safetensors")
    write_checkpoint(path / "one.safetensors", Size(1, 1, 1), options={"positions": "none", "norm": "pre"})
    few = {"d_model": 36, "attention_window": 1, "shared_embeddings": False, "positions": "learned"}
    write_checkpoint(path / "window.safetensors", Size(3, 1, 3), options=few)
    return path


@pytest.fixture
def open_page(odd: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(odd))
    st.cache_data.clear()

    def opened(**address: str) -> AppTest:
        return open_view("scaling", **{"details": "true", **address})

    return opened


def tensors(folder: Path, site: str, name: str = "usual") -> dict[str, np.ndarray]:
    translator = Translator.load(folder / f"{name}.safetensors")
    found = translator.translate(SENTENCE, n_best=3).sentences[0]
    return trace(translator.model, found.source_ids, found.hypotheses[0].ids, [f"{site}.*"]).arrays


SITES = {
    "cross": "decoder.layers.1.cross_attention",
    "encoder": "encoder.layers.1.self_attention",
    "decoder": "decoder.layers.1.self_attention",
}


@pytest.mark.parametrize("kind", list(SITES))
def test_the_chosen_head_s_scores_and_weights_are_the_tensors(open_page: Open, odd: Path, kind: Kind) -> None:
    app = open_page(checkpoint="usual", sentence=SENTENCE, kind=kind, layer="2", head="3")
    site, arrays = SITES[kind], tensors(odd, SITES[kind])
    products, scores, mask, weights = (arrays[f"{site}.{n}"][2] for n in ("products", "scores", "mask", "weights"))
    short = f"{SHORT[kind].lower()}, layer 2, head 3"
    names = [bar["name"] for bar in chart(app, f"Scores, {short}")["data"]]
    assert names == [
        f"{WITHOUT}: variance {number(float(products[mask].var(dtype=np.float64)))}",
        f"{WITH}: variance {number(float(scores[mask].var(dtype=np.float64)))}",
    ]
    without, divided = (array(bar["y"]) for bar in chart(app, f"Largest of each row, {short}")["data"])
    assert np.array_equal(divided, weights.max(axis=-1))
    assert np.allclose(softmax(scores, mask), weights, atol=1e-6)  # what the page does without is what the model does
    assert np.allclose(without, softmax(products, mask).max(axis=-1), atol=1e-6)
    drawn, other = (array(chart(app, title)["data"][0]["z"]) for title in ("Dot product, as", "Additive, random"))
    assert np.array_equal(drawn[mask], weights[mask])
    assert np.isnan(drawn[~mask]).all()
    query, key = arrays[f"{site}.query"][2], arrays[f"{site}.key"][2]
    additive = softmax(additive_scores(query, key, mask, float(scores[mask].var(dtype=np.float64))), mask)
    assert np.allclose(other[mask], additive[mask], atol=1e-6)


def test_the_width_of_the_address_is_the_width_of_the_experiment(open_page: Open) -> None:
    app = open_page(checkpoint="usual", sentence=SENTENCE, d_k="256")
    assert (
        chart(app, "d_k = 256")["data"][0]["name"] == f"{WITHOUT}: variance {number(random_sharpness(256)[0].variance)}"
    )
    assert chart(app, "Gradient of the softmax")["data"][1]["x"] == [256]


def test_the_count_is_that_of_this_sentence_over_all_heads(open_page: Open, odd: Path) -> None:
    app = open_page(checkpoint="usual", sentence=SENTENCE, counts_above="0.05")
    translator = Translator.load(odd / "usual.safetensors")
    found = translator.translate(SENTENCE, n_best=3).sentences[0]
    arrays = trace(translator.model, found.source_ids, found.hypotheses[0].ids, ["*attention.weights", "*.mask"]).arrays
    cells = sum(v.size for name, v in arrays.items() if name.endswith("weights"))
    allowed = sum(int(v.sum()) for name, v in arrays.items() if name.endswith("mask"))
    above = sum(int((v > 0.05).sum()) for name, v in arrays.items() if name.endswith("weights"))
    text = " ".join(m.value for m in app.markdown)
    assert f"**{cells:,} comparisons**" in text
    assert f"{allowed:,} of them allowed" in text
    assert f"**{above:,} cells" in text
    assert f"{4 * cells:,}" in text


def test_cells_that_an_edit_forbids_in_one_head_are_counted_there_alone(open_page: Open, odd: Path) -> None:
    edits = [f"forbid=encoder.1.1.{query}.{key}" for query in (1, 2) for key in range(1, 30)]
    app = open_page(checkpoint="usual", sentence=SENTENCE, edits=";".join(edits))
    arrays = tensors(odd, "encoder.layers.*.self_attention")
    cells = sum(mask.size for name, mask in arrays.items() if name.endswith("mask"))
    keys = arrays["encoder.layers.0.self_attention.mask"].shape[-1]
    (table,) = (each.value for each in app.table if "allowed by the mask" in each.value)
    (row,) = (i for i, name in enumerate(table.iloc[:, 0]) if name == "encoder self-attention")
    assert table["allowed by the mask"].iloc[row] == str(cells - 2 * keys)


UNIFORM = "uniform=decoder.2.3"


def test_weights_that_an_edit_changes_after_the_division_are_not_called_divided(open_page: Open, odd: Path) -> None:
    address = {"checkpoint": "usual", "sentence": SENTENCE, "kind": "decoder", "layer": "2", "head": "3"}
    app, said = open_page(edits=UNIFORM, **address), "An edit changes the weights of this head after the division"
    assert said in " ".join(each.value for each in app.text)
    assert said in " ".join(each.value for each in app.caption)
    edited = open_page(edits=UNIFORM, **address | {"head": "2"})
    assert said not in " ".join(each.value for each in (*edited.text, *edited.caption))
    head = message_of(app)["head"]
    products, mask = array(head["products"]), array(head["mask"]).astype(bool)
    wanted = softmax(products / np.sqrt(8), mask)
    _without, divided = (array(bar["y"]) for bar in chart(app, "Largest of each row")["data"])
    assert np.allclose(divided, wanted.max(axis=-1), atol=1e-5)
    drawn = array(chart(app, "Dot product, without the edit")["data"][0]["z"])
    assert np.allclose(drawn[mask], wanted[mask], atol=1e-5)


def test_a_head_that_an_edit_lets_attend_to_nothing_opens(open_page: Open) -> None:
    edits = [f"forbid=encoder.all.all.{query}.{key}" for query in range(1, 4) for key in range(1, 4)]
    app = open_page(checkpoint="usual", sentence="a", kind="encoder", edits=";".join(edits))
    assert {bar["name"].rsplit(" ", 1)[-1] for bar in chart(app, "Scores, ")["data"]} == {"0"}


@pytest.mark.parametrize("sentence", ["a", "</script><img src=x onerror=alert(1)> _a_ $x$ :red[b]"])
@pytest.mark.parametrize("kind", list(SITES))
@pytest.mark.parametrize("name", ["one", "window"])
def test_odd_checkpoints_and_odd_words_open(open_page: Open, name: str, kind: str, sentence: str) -> None:
    app = open_page(checkpoint=name, sentence=sentence, kind=kind)
    assert len(charts(app)) == 11
    for element in (*app.markdown, *app.caption):
        assert "alert(1)" not in element.value


def test_a_width_that_the_slider_does_not_have_is_dropped(open_page: Open) -> None:
    app = open_page(checkpoint="window", sentence="a", d_k="13")
    assert message_of(app)["widths"][message_of(app)["width"]] == 12  # of the checkpoint
    app.selectbox(key="checkpoint").select("usual").run()
    assert not app.exception, app.exception[0].message
    assert message_of(app)["widths"][message_of(app)["width"]] == 8


def message_of(app: AppTest) -> dict[str, Any]:
    """What goes to the browser for the picture."""
    protos = [each.proto for each in app.get("bidi_component")]
    (found,) = (proto for proto in protos if proto.component_name == "headlight_softmax_scene")
    return dict(json.loads(found.bytes))


@pytest.mark.parametrize("kind", list(SITES))
def test_the_picture_gets_the_products_and_the_mask_of_the_head(open_page: Open, odd: Path, kind: Kind) -> None:
    app = open_page(checkpoint="usual", sentence=SENTENCE, kind=kind, layer="2", head="3", details="false")
    site, arrays = SITES[kind], tensors(odd, SITES[kind])
    head = message_of(app)["head"]
    products, mask = (array(head[name]) for name in ("products", "mask"))
    assert np.array_equal(products, arrays[f"{site}.products"][2])
    assert np.array_equal(mask.astype(bool), arrays[f"{site}.mask"][2])
    assert (len(head["queries"]), len(head["keys"])) == mask.shape
    assert not charts(app)  # the details are closed


def test_the_table_has_the_random_scores_of_all_widths_and_those_of_the_head_with_their_weights(
    open_page: Open, odd: Path
) -> None:
    app = open_page(checkpoint="usual", sentence=SENTENCE, kind="decoder", layer="2", head="3", details="false")
    site, arrays = SITES["decoder"], tensors(odd, SITES["decoder"])
    message = message_of(app)
    app.session_state["table_softmax_scene"] = True
    table = app.run().dataframe[0].value
    random, chosen = table[table["vectors"] == "random"], table[table["vectors"] != "random"]
    assert random["d_k"].unique().tolist() == message["widths"]
    assert np.allclose(random["q·k"], array(message["products"]).ravel())
    mask = arrays[f"{site}.mask"][2].ravel().astype(bool)
    assert np.array_equal(chosen["q·k"].notna(), mask)
    assert np.allclose(chosen["q·k / √d_k"][mask], arrays[f"{site}.scores"][2].ravel()[mask], atol=1e-5)
    assert np.allclose(chosen["softmax(q·k / √d_k)"], arrays[f"{site}.weights"][2].ravel(), atol=1e-5)
    assert np.allclose(table["softmax(q·k)"].sum(), len(message["widths"]) + len(message["head"]["queries"]))

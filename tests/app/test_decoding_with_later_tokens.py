"""The Decoding page of a model whose rows may attend to later tokens: its numbers are those of the decoding steps."""

import math
from pathlib import Path

import numpy as np
import pytest

from tests.support.decoding_page import EXAMPLE, Open, component, frame
from tests.support.drawn import array, charts
from transformer.analysis.edits import Edit, MaskOff, model_edits, parse_edit
from transformer.analysis.trace import trace_steps
from transformer.decoding.translator import Translator


def edited(folder: Path, *edits: Edit) -> Translator:
    translator = Translator.load(folder / "en-de.safetensors")
    return translator.edited(model_edits(edits, translator.model))


def test_without_the_causal_mask_the_loop_shows_the_weights_of_the_step(open_decoding: Open, folder: Path) -> None:
    app = open_decoding(t="3", layer="2", head="3", edits="mask=causal")
    translator = edited(folder, MaskOff("causal"))
    found, data = translator.translate(EXAMPLE).sentences[0], component(app, "loop")
    for side, site in (("source", "cross"), ("output", "self")):
        site = f"decoder.layers.1.{site}_attention.weights"
        step = trace_steps(translator.model, found.source_ids, found.hypotheses[0].ids, [site])[2]
        assert data[side]["weights"] == pytest.approx(step[site][2, 0], abs=1e-4)
        assert sum(data[side]["weights"]) == pytest.approx(1, abs=1e-3)
    said = " ".join(each.value for each in app.markdown)
    assert "An edit switches the causal mask off" in said
    assert "Because of the causal mask" not in said


def test_without_the_causal_mask_probabilities_are_those_of_the_steps(open_decoding: Open, folder: Path) -> None:
    app = open_decoding(t="3", edits="mask=causal")
    translator = edited(folder, MaskOff("causal"))
    bars = charts(app)[0]["data"][0]
    (drawn,) = (float(x) for x, text in zip(array(bars["x"]), bars["text"], strict=True) if "chosen" in text)
    written = translator.translate(EXAMPLE).sentences[0].hypotheses[0]
    assert drawn == pytest.approx(math.exp(written.log_probabilities[2]), rel=1e-4)


@pytest.mark.parametrize("edits", ["mask=causal", "allow=decoder.all.all.2.4"])
def test_where_rows_may_attend_to_later_tokens_the_bars_are_those_of_the_steps(
    open_decoding: Open, folder: Path, edits: str
) -> None:
    app = open_decoding("tree", t="2", layer="2", head="3", edits=edits)
    translator = edited(folder, parse_edit(edits))
    found = translator.translate(EXAMPLE).sentences[0]
    sites = [f"decoder.layers.1.{kind}_attention.weights" for kind in ("cross", "self")]
    steps = trace_steps(translator.model, found.source_ids, found.hypotheses[0].ids, sites)
    for drawn, step in zip(frame(app)["steps"], steps, strict=True):
        assert drawn["weights"] == pytest.approx(step[sites[0]][2, 0], abs=1e-4)
    for key, site in zip(("node_cross_attention", "node_self_attention"), sites, strict=True):
        shares = [chip["share"] for chip in component(app, key)["chips"]]
        assert shares == pytest.approx(steps[1][site][2, 0], abs=1e-4)


def test_without_the_causal_mask_the_top_row_of_the_lens_is_the_model_in_its_steps(
    open_decoding: Open, folder: Path
) -> None:
    app = open_decoding("lens", session={"table_lens": True}, edits="mask=causal")
    written = edited(folder, MaskOff("causal")).translate(EXAMPLE).sentences[0].hypotheses[0]
    (table,) = (each.value for each in app.dataframe if "most probable" in each.value)
    last = table[table["after"] == table["after"].iloc[-1]]
    assert list(last["probability"]) == pytest.approx(np.exp(written.log_probabilities), rel=1e-3)


def test_without_the_causal_mask_the_random_number_is_in_the_interval_of_the_step(open_decoding: Open) -> None:
    app = open_decoding(method="sampling", edits="mask=causal")
    assert all("in the interval of this token" in step["why"] for step in frame(app)["steps"])

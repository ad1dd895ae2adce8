"""The loop of the Decoding page: its bars, weights and intervals are those of the logits, the step and the sampling."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from app.figures.axes import in_words
from tests.support.decoding_page import Open, component, frame, healthy, logits_of, searched
from tests.support.drawn import array, attention_weights, charts, sent, title
from transformer.analysis.trace import trace


@pytest.mark.parametrize("temperature", [1.0, 0.4])
def test_the_bars_are_softmax_of_the_logits_divided_by_the_temperature(
    open_decoding: Open, folder: Path, temperature: float
) -> None:
    app = open_decoding(t="3")
    if temperature != 1:
        app.slider(key="tried_temperature").set_value(temperature).run()
        healthy(app)
    assert ("at temperature 0.4" in title(charts(app)[0])) == (temperature == 0.4)
    captions = " ".join(caption.value for caption in app.caption)
    assert ("It was decoded at 1, where the chosen token has" in captions) == (temperature == 0.4)
    translator, found = searched(folder)
    logits = logits_of(translator, found)[2].astype(np.float64)
    expected = np.exp(logits / temperature) / np.exp(logits / temperature).sum()
    bars = charts(app)[0]["data"][0]
    drawn = array(bars["x"])
    order = np.argsort(-logits)[:8]
    assert drawn[:8] == pytest.approx(expected[order], rel=1e-5)
    assert drawn.sum() == pytest.approx(1)
    chosen = [float(value) for value, text in zip(drawn, bars["text"], strict=True) if "chosen" in text]
    assert chosen == pytest.approx([expected[found.hypotheses[0].ids[2]]], rel=1e-5)


@pytest.mark.parametrize("step", [1, 4])
def test_the_loop_shows_what_is_read_attended_to_kept_and_chosen(open_decoding: Open, folder: Path, step: int) -> None:
    app = open_decoding(t=str(step), layer="2", head="3")
    translator, found = searched(folder)
    hypothesis = found.hypotheses[0]
    data = component(app, "loop")
    written = [in_words(token) for token in hypothesis.tokens]
    assert data["output"]["tokens"] == ["<s>", *written][:step]
    assert data["chosen"] == written[step - 1]
    sites = [f"decoder.layers.1.{kind}_attention.weights" for kind in ("cross", "self")]
    cross, own = (trace(translator.model, found.source_ids, hypothesis.ids, sites)[site][2] for site in sites)
    assert data["source"]["weights"] == pytest.approx(cross[step - 1], abs=1e-4)
    assert data["output"]["weights"] == pytest.approx(own[step - 1, :step], abs=1e-4)
    numbers = 2 * 3 * 4 * step * 8  # keys and values, layers, heads, positions, d_k
    assert f"= {numbers:,} numbers" in data["own"]["lines"][1]
    assert f"= {2 * 3 * 4 * len(found.source_ids) * 8:,} numbers" in data["cross"]["lines"][1]


def test_the_weights_of_the_loop_can_be_read_as_a_table(open_decoding: Open, folder: Path) -> None:
    app = open_decoding(session={"table_loop_weights": True}, t="3", layer="2", head="3")
    translator, found = searched(folder)
    sites = [f"decoder.layers.1.{kind}_attention.weights" for kind in ("cross", "self")]
    ids = found.hypotheses[0].ids
    arrays = {site: attention_weights(translator.model, found.source_ids, ids, site)[0] for site in sites}
    table = next(frame.value for frame in app.dataframe if "attention" in frame.value)
    expected = np.concatenate([arrays[sites[0]][2, 2], arrays[sites[1]][2, 2, :3]])
    np.testing.assert_allclose(table["weight"], expected, rtol=0, atol=1e-6)
    assert list(table["token"])[-3:] == ["<s>", *found.hypotheses[0].tokens[:2]]


def test_the_share_is_the_interval_of_the_random_number(open_decoding: Open) -> None:
    app = open_decoding(t="2", method="sampling", top_k="20", top_p="0.5")
    match = re.search(r"in the interval of this token, (\S+) to (\S+):", frame(app)["steps"][1]["why"])
    assert match
    begin, end = map(float, match.groups())
    bars, outlines = charts(app)[0]["data"][:2]
    (chosen,) = [i for i, text in enumerate(bars["text"]) if "chosen" in text]
    assert array(outlines["x"])[chosen] == pytest.approx(end - begin, abs=2e-5)
    assert array(outlines["x"]).sum() == pytest.approx(1)
    assert array(bars["x"])[chosen] < 0.9 * (end - begin)
    shown = bars["text"][chosen].split(" · ")[0]
    assert " → " in shown
    before, after = shown.split(" → ")
    assert component(app, "loop")["probability"] == before
    assert f"with {before}, {after} of what may be drawn." in component(app, "loop")["alt"]
    assert frame(app)["steps"][1]["says"].endswith(f"with {before}, {after} of what may be drawn")
    assert frame(app)["title"].endswith(": probability → share")
    assert frame(app)["least"]["words"].count("%") == 1
    assert charts(app)[0]["layout"]["xaxis"]["title"]["text"] == "probability → share"
    assert " → " not in json.loads(sent(app)[0])["alt"]
    # Fewer may be drawn at another top k, with no new search.
    app.select_slider(key="tried_top_k").set_value(1).run()
    healthy(app)
    again = charts(app)[0]
    assert title(again).endswith(", top k 1")
    assert sorted(array(again["data"][1]["x"]))[-1] == pytest.approx(1)
    app.slider(key="tried_top_p").set_value(1.0).run()
    assert title(charts(app)[0]).endswith(", top k 1, top p 1")


def test_sampling_shows_the_interval_of_its_random_number(open_decoding: Open) -> None:
    app = open_decoding(t="2", method="sampling")
    match = re.search(r"number (\S+) is in the interval of this token, (\S+) to (\S+):", frame(app)["steps"][1]["why"])
    assert match
    number, begin, end = map(float, match.groups())
    assert begin - 1e-5 <= number <= end + 1e-5
    bars = charts(app)[0]["data"][0]
    chosen = next(float(x) for x, text in zip(array(bars["x"]), bars["text"], strict=True) if "chosen" in text)
    assert end - begin == pytest.approx(chosen, rel=0.05, abs=2e-5)  # PAD, UNK and BOS are not in the line


def test_the_decoders_row_and_the_projection_are_beside_their_own_formulas(open_decoding: Open) -> None:
    app = open_decoding("loop", t="2")
    assert ["Decoder" in formula.value for formula in app.latex][:2] == [True, False]
    assert "softmax" in app.latex[1].value
    row, _, projection = [code.value for code in app.code][:3]  # after the row, its whole function
    assert "layer.step" in row
    assert "self.output.weight" in projection

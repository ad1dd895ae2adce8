"""The Decoding page, run without a browser: what it draws are the logits, the search and the scores themselves."""

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.figures.axes import in_words
from app.figures.distribution import percent
from app.figures.theme import fixed, score_text
from app.library.source_code import CHANGED
from app.state.choices import GIVEN_SHOWN
from app.views.decoding import penalty_section
from app.views.decoding.continue_section import _chosen
from app.views.decoding.frame_section import GIVEN
from app.views.decoding.lens_figures import closeness
from app.views.decoding.methods_section import _comparison
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import array, attention_weights, chart, charts, title
from tests.support.pages import MAIN, switch_page
from tests.support.patience import PATIENCE
from transformer.analysis.edits import Edit, MaskOff, model_edits, parse_edit
from transformer.analysis.trace import trace, trace_steps
from transformer.config import BOS, EOS
from transformer.decoding.finished_search import finished, path_to
from transformer.decoding.translation import Translation
from transformer.decoding.translator import Translator

Open = Callable[..., AppTest]
SHIPPED = MAIN.parents[1] / "pretrained"
EXAMPLE = "Where is the nearest train station?"
PARTS = ("loop", "tree", "penalty", "lens", "reference", "methods")  # also in the address
HOSTILE = "</script><img src=x onerror=alert(1)> _a_ $x$ :red[b]"


@pytest.fixture
def open_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens the page with these query parameters in the address, and this in the session."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
    st.cache_data.clear()
    st.cache_resource.clear()

    def opened(part: str = PARTS[0], session: dict[str, Any] | None = None, **address: str) -> AppTest:
        app = AppTest.from_file(str(MAIN), default_timeout=PATIENCE)
        switch_page(app, "decoding")
        for name, value in {"details": "true", "sentence": EXAMPLE, "part": part, **address}.items():
            app.query_params[name] = value
        for name, value in (session or {}).items():
            app.session_state[name] = value
        app.run()
        healthy(app)
        return app

    return opened


def test_a_part_has_a_short_name_in_the_address(open_page: Open) -> None:
    app = open_page("lens")
    assert chart(app, "After each layer")
    assert app.query_params["part"] == "lens"


def test_a_part_that_there_is_not_opens_the_first(open_page: Open) -> None:
    app = open_page("what is this?")
    assert component(app, "loop")
    assert "part" not in app.query_params  # it is what the page opens with


def healthy(app: AppTest) -> None:
    assert not app.exception, app.exception[0].message


def component(app: AppTest, key: str) -> dict[str, Any]:
    for found in app.get("bidi_component"):
        if found.proto.id.endswith(f"-{key}"):
            return dict(json.loads(found.proto.json))
    raise AssertionError(f"no component {key}")


def texts(app: AppTest) -> str:
    return "\n".join(element.value for kind in (app.text, app.info, app.warning) for element in kind)


def searched(folder: Path, text: str = EXAMPLE, name: str = "en-de", **changes: Any) -> tuple[Translator, Translation]:
    """The same search beside the app, with its tree."""
    translator = Translator.load(folder / f"{name}.safetensors")
    settings = translator.translate("a", **{"n_best": 3, **changes}).sentences[0].settings
    (found,) = translator.translate_sentences([text], settings, keep_tree=True)
    return translator, found


def logits_of(translator: Translator, found: Translation, hypothesis: int = 0) -> np.ndarray:
    ids = found.hypotheses[hypothesis].ids
    return trace(translator.model, found.source_ids, ids, ["logits"])["logits"]


# -- the loop


@pytest.mark.parametrize("temperature", [1.0, 0.4])
def test_the_bars_are_softmax_of_the_logits_divided_by_the_temperature(
    open_page: Open, folder: Path, temperature: float
) -> None:
    app = open_page(t="3")
    if temperature != 1:
        app.slider(key="what_if_beam_1.0").set_value(temperature).run()
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
def test_the_loop_shows_what_is_read_attended_to_kept_and_chosen(open_page: Open, folder: Path, step: int) -> None:
    app = open_page(t=str(step), layer="2", head="3")
    translator, found = searched(folder)
    hypothesis = found.hypotheses[0]
    data = component(app, "loop")
    written = [in_words(piece) for piece in hypothesis.pieces]
    assert data["output"]["tokens"] == ["<s>", *written][:step]
    assert data["chosen"] == written[step - 1]
    sites = [f"decoder.layers.1.{kind}_attention.weights" for kind in ("cross", "self")]
    cross, own = (trace(translator.model, found.source_ids, hypothesis.ids, sites)[site][2] for site in sites)
    assert data["source"]["weights"] == pytest.approx(cross[step - 1], abs=1e-4)
    assert data["output"]["weights"] == pytest.approx(own[step - 1, :step], abs=1e-4)
    numbers = 2 * 3 * 4 * step * 8  # keys and values, layers, heads, positions, d_k
    assert f"= {numbers:,} numbers" in data["own"]["lines"][1]
    assert f"= {2 * 3 * 4 * len(found.source_ids) * 8:,} numbers" in data["cross"]["lines"][1]


def test_without_the_causal_mask_the_loop_shows_the_weights_of_the_step(open_page: Open, folder: Path) -> None:
    app = open_page(t="3", layer="2", head="3", edits="mask=causal")
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


def test_without_the_causal_mask_probabilities_are_those_of_the_steps(open_page: Open, folder: Path) -> None:
    app = open_page(t="3", edits="mask=causal")
    translator = edited(folder, MaskOff("causal"))
    bars = charts(app)[0]["data"][0]
    (drawn,) = (float(x) for x, text in zip(array(bars["x"]), bars["text"], strict=True) if "chosen" in text)
    written = translator.translate(EXAMPLE).sentences[0].hypotheses[0]
    assert drawn == pytest.approx(math.exp(written.log_probabilities[2]), rel=1e-4)


def edited(folder: Path, *edits: Edit) -> Translator:
    translator = Translator.load(folder / "en-de.safetensors")
    return translator.edited(model_edits(edits, translator.model))


@pytest.mark.parametrize("edits", ["mask=causal", "allow=decoder.all.all.2.4"])
def test_where_rows_may_attend_to_later_tokens_the_bars_are_those_of_the_steps(
    open_page: Open, folder: Path, edits: str
) -> None:
    app = open_page("tree", t="2", layer="2", head="3", edits=edits)
    translator = edited(folder, parse_edit(edits))
    found = translator.translate(EXAMPLE).sentences[0]
    sites = [f"decoder.layers.1.{kind}_attention.weights" for kind in ("cross", "self")]
    steps = trace_steps(translator.model, found.source_ids, found.hypotheses[0].ids, sites)
    for drawn, step in zip(frame(app)["steps"], steps, strict=True):
        assert drawn["weights"] == pytest.approx(step[sites[0]][2, 0], abs=1e-4)
    for key, site in zip(("node_looks", "node_looks_back"), sites, strict=True):
        shares = [chip["share"] for chip in component(app, key)["chips"]]
        assert shares == pytest.approx(steps[1][site][2, 0], abs=1e-4)


def test_without_the_causal_mask_the_top_row_of_the_lens_is_the_model_in_its_steps(
    open_page: Open, folder: Path
) -> None:
    app = open_page("lens", session={"table_lens": True}, edits="mask=causal")
    written = edited(folder, MaskOff("causal")).translate(EXAMPLE).sentences[0].hypotheses[0]
    (table,) = (each.value for each in app.dataframe if "most probable" in each.value)
    last = table[table["after"] == table["after"].iloc[-1]]
    assert list(last["probability"]) == pytest.approx(np.exp(written.log_probabilities), rel=1e-3)


def test_without_the_causal_mask_the_random_number_is_in_the_interval_of_the_step(open_page: Open) -> None:
    app = open_page(method="sampling", edits="mask=causal")
    assert all("in the interval of this token" in step["why"] for step in frame(app)["steps"])


def test_the_weights_of_the_loop_can_be_read_as_a_table(open_page: Open, folder: Path) -> None:
    app = open_page(session={"table_loop_looks": True}, t="3", layer="2", head="3")
    translator, found = searched(folder)
    sites = [f"decoder.layers.1.{kind}_attention.weights" for kind in ("cross", "self")]
    ids = found.hypotheses[0].ids
    arrays = {site: attention_weights(translator.model, found.source_ids, ids, site)[0] for site in sites}
    table = next(frame.value for frame in app.dataframe if "attention" in frame.value)
    expected = np.concatenate([arrays[sites[0]][2, 2], arrays[sites[1]][2, 2, :3]])
    np.testing.assert_allclose(table["weight"], expected, rtol=0, atol=1e-6)
    assert list(table["token"])[-3:] == ["<s>", *found.hypotheses[0].pieces[:2]]


def test_the_share_is_the_interval_of_the_random_number(open_page: Open) -> None:
    app = open_page(t="2", method="sampling", top_k="20", top_p="0.5")
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
    assert component(app, "loop")["probability"] == shown
    # Fewer may be drawn at another top k, with no new search.
    app.select_slider(key="what_if_top_k_20").set_value(1).run()
    healthy(app)
    again = charts(app)[0]
    assert title(again).endswith(", top k 1")
    assert sorted(array(again["data"][1]["x"]))[-1] == pytest.approx(1)
    app.slider(key="what_if_top_p_0.5").set_value(1.0).run()
    assert title(charts(app)[0]).endswith(", top k 1, top p 1")


def test_sampling_shows_the_interval_of_its_random_number(open_page: Open) -> None:
    app = open_page(t="2", method="sampling")
    match = re.search(r"number (\S+) is in the interval of this token, (\S+) to (\S+):", frame(app)["steps"][1]["why"])
    assert match
    number, begin, end = map(float, match.groups())
    assert begin - 1e-5 <= number <= end + 1e-5
    bars = charts(app)[0]["data"][0]
    chosen = next(float(x) for x, text in zip(array(bars["x"]), bars["text"], strict=True) if "chosen" in text)
    assert end - begin == pytest.approx(chosen, rel=0.05, abs=2e-5)  # PAD, UNK and BOS are not in the line


# -- the frame


def frame(app: AppTest) -> dict[str, Any]:
    return component(app, "next_token")["frame"]


@pytest.mark.parametrize("temperature", ["1", "2"])
def test_of_a_sample_it_says_at_which_temperature_each_number_is(open_page: Open, temperature: str) -> None:
    shown = frame(open_page(method="sampling", temperature=temperature))
    hot = temperature != "1"
    assert (", at temperature 2" in shown["title"]) == hot
    assert shown["beams"]["title"].endswith("sum of log p (at temperature 1)" if hot else "sum of log p")


def test_the_frame_has_the_distribution_of_every_step(open_page: Open, folder: Path) -> None:
    translator, found = searched(folder)
    hypothesis, drawn = found.hypotheses[0], frame(open_page())
    tokens = [translator.tokenizer.piece(id) for id in (BOS, *hypothesis.ids)]
    assert drawn["written"]["tokens"] == tokens
    assert drawn["source"]["tokens"] == [piece.text for piece in found.source_pieces]
    logits = logits_of(translator, found).astype(np.float64)
    assert len(drawn["steps"]) == len(logits)
    for step, row, chosen in zip(drawn["steps"], logits, hypothesis.ids, strict=True):
        expected = np.exp(row) / np.exp(row).sum()
        assert [each["id"] for each in step["rows"][:9]] == np.argsort(-row, kind="stable")[:9].tolist()
        assert [each["p"] for each in step["rows"]] == pytest.approx(
            [expected[each["id"]] for each in step["rows"]], rel=1e-4
        )
        assert [each["id"] for each in step["rows"] if each["chosen"]] == [chosen]
        assert step["rest"]["9"]["p"] < step["rest"]["5"]["p"] < 1


def test_the_step_with_the_lowest_probability_is_named(open_page: Open, folder: Path) -> None:
    translator, found = searched(folder)
    logits = logits_of(translator, found).astype(np.float64)
    logs = [float(row[id] - np.logaddexp.reduce(row)) for row, id in zip(logits, found.hypotheses[0].ids, strict=True)]
    drawn, least = frame(open_page()), int(np.argmin(logs))
    probability = percent(float(np.exp(logs[least])))
    assert drawn["least"] == {"step": least, "words": f"least certain, step {least + 1}: {probability}"}


def test_the_frame_shows_where_the_chosen_head_attends_at_each_step(open_page: Open, folder: Path) -> None:
    drawn = frame(open_page(layer="2", head="3"))
    translator, found = searched(folder)
    site = "decoder.layers.1.cross_attention.weights"
    weights = trace(translator.model, found.source_ids, found.hypotheses[0].ids, [site])[site][2]
    np.testing.assert_allclose([step["weights"] for step in drawn["steps"]], weights, rtol=0, atol=1e-4)
    assert "layer 2, head 3" in drawn["source"]["more"]


@pytest.mark.parametrize(("method", "hypotheses"), [("beam", 4), ("greedy", 0), ("sampling", 3)])
def test_the_frame_has_the_kept_hypotheses_of_each_step(
    open_page: Open, folder: Path, method: str, hypotheses: int
) -> None:
    beams = frame(open_page(method=method))["beams"]
    assert beams["rows"] == hypotheses
    if not hypotheses:
        assert beams["nodes"] == []
        return
    _, found = searched(folder, method=method)
    for step, places in enumerate(beams["alive"], start=1):
        alive = [node for node in found.tree if node.step == step and node.outcome != "pruned"]
        shown = [beams["nodes"][place] for place in places]
        assert [node["sum"] for node in shown] == [
            score_text(total) for total in sorted((node.sum for node in alive), reverse=True)[:hypotheses]
        ]
        parents = [beams["nodes"][node["parent"]]["text"] for node in shown]
        assert (set(parents) == {"<s>"}) == (step == 1)


def test_why_each_token_was_chosen_is_what_the_search_says(open_page: Open, folder: Path) -> None:
    _, found = searched(folder)
    path = path_to(found.tree, found.hypotheses[0].node or 0)
    assert [step["why"].split("? ", 1)[1] for step in frame(open_page())["steps"]] == [node.reason for node in path]


def test_the_frame_opens_at_the_step_in_the_address(open_page: Open) -> None:
    assert component(open_page(t="3"), "next_token")["step"] == 2
    assert component(open_page(t="999"), "next_token")["step"] == len(frame(open_page())["steps"]) - 1


def test_all_distributions_can_be_read_as_a_table(open_page: Open) -> None:
    app = open_page(session={"table_next_token": True}, details="false")
    steps = frame(app)["steps"]
    table = next(each.value for each in app.dataframe if "probability" in each.value)
    assert len(table) == sum(len(step["rows"]) for step in steps)
    assert list(table["probability"][table["step"] == 2]) == pytest.approx([row["p"] for row in steps[1]["rows"]])
    assert set(table["reads"][table["step"] == 1]) == {"<s>"}


def test_another_token_of_the_list_continues_in_one_line(open_page: Open, folder: Path) -> None:
    translator, found = searched(folder)
    ids = found.hypotheses[0].ids
    other = next(row for row in frame(open_page())["steps"][1]["rows"] if not row["chosen"] and row["id"] > EOS)
    prefix = (ids[0], other["id"])
    app = open_page(session={"beginning": prefix}, details="false")
    (expected,) = translator.translate_sentences([EXAMPLE], found.settings, prefix=prefix)
    assert f"With “{other['text']}” at step 2 instead: {expected.text}" in texts(app)
    app.button(key="take_back").click().run()
    healthy(app)
    assert "at step 2 instead" not in texts(app)


def test_taking_it_back_restores_the_translation_and_the_step(open_page: Open, folder: Path) -> None:
    _, found = searched(folder)
    ids = found.hypotheses[0].ids
    other = next(row for row in frame(open_page())["steps"][1]["rows"] if not row["chosen"] and row["id"] > EOS)
    prefix = (ids[0], other["id"])
    app = open_page(session={"beginning": prefix}, details="false", t="2", alternative="1")
    before = component(app, "translation_line")["text"]
    app.button(key="show_continued").click().run()
    healthy(app)
    assert component(app, "translation_line")["mark"]["words"] == "your translation"
    whys = [step["why"] for step in frame(app)["steps"]]
    assert [why.endswith(GIVEN) for why in whys] == [step == 1 for step in range(len(whys))]
    assert "The model wrote it by itself." in whys[0]
    assert len(whys) < 3 or "after the token that you chose at step 2" in whys[2]
    app.session_state["t"] = 0  # the reader walks on
    app.run()
    app.button(key="take_back").click().run()
    healthy(app)
    line = component(app, "translation_line")
    assert (line["text"], line["mark"]["words"]) == (before, "")
    assert component(app, "next_token")["step"] == 1
    assert "at step 2 instead" not in texts(app)


# -- the search


@pytest.mark.parametrize("method", ["beam", "greedy", "sampling"])
def test_the_tree_drawn_is_the_search(open_page: Open, folder: Path, method: str) -> None:
    app = open_page(PARTS[1], method=method)
    _, found = searched(folder, method=method, n_best=1 if method == "greedy" else 3)
    drawn = component(app, "search_tree")["nodes"]
    assert [node["id"] for node in drawn] == [node.id for node in found.tree]
    for shown, node in zip(drawn, found.tree, strict=True):
        assert (shown["parent"], shown["step"], shown["outcome"]) == (node.parent, node.step, node.outcome)
        assert shown["share"] == pytest.approx(math.exp(node.log_probability))
        if node.parent is not None:
            assert shown["numbers"] == f"Σ {score_text(node.sum)} · {score_text(node.normalised)}"
    best = {node.id for node in path_to(found.tree, found.hypotheses[0].node or 0)} | {0}
    assert {node["id"] for node in drawn if node["best"]} == best


def test_a_chosen_node_shows_how_its_score_is_computed_and_what_it_attended_to(open_page: Open, folder: Path) -> None:
    translator, found = searched(folder)
    node = next(node for node in found.tree if node.outcome == "pruned" and node.step == 3)
    app = open_page(PARTS[1], {"node": (2, node.id)}, t="3", layer="2", head="3")
    score = node.sum / ((5 + 3) / 6) ** 0.6
    assert f"Score: {fixed(node.sum, 3)} / ((5 + 3) / 6)^0.6 = {fixed(score, 3)}" in texts(app)
    assert node.reason in texts(app)
    ids = [each.token for each in path_to(found.tree, node.id)]
    site = "decoder.layers.1.cross_attention.weights"
    weights = trace(translator.model, found.source_ids, ids, [site])[site][2, -1]
    assert [chip["share"] for chip in component(app, "node_looks")["chips"]] == pytest.approx(weights, abs=1e-6)
    back = "decoder.layers.1.self_attention.weights"
    own = trace(translator.model, found.source_ids, ids, [back])[back][2, -1]
    chips = component(app, "node_looks_back")["chips"]
    assert [chip["share"] for chip in chips] == pytest.approx(own, abs=1e-6)
    assert [chip["text"] for chip in chips] == ["<s>", *(translator.tokenizer.piece(id) for id in ids[:-1])]
    after = logits_of_path(translator, found, ids)
    offered = [row["text"] for row in component(app, "next_pieces")["rows"]]
    best = [int(id) for id in np.argsort(-after) if id > EOS][:6]
    best = sorted([*best, EOS], key=lambda id: -after[id])
    assert offered == [translator.tokenizer.piece(id) for id in best]


def logits_of_path(translator: Translator, found: Translation, ids: list[int]) -> np.ndarray:
    """Of what comes after these tokens."""
    return trace(translator.model, found.source_ids, [*ids, EOS], ["logits"])["logits"][-1]


def test_the_tree_of_sampling_says_what_top_k_left_out(open_page: Open, folder: Path) -> None:
    _, found = searched(folder, method="sampling", top_k=2)
    node = next(node for node in found.tree if node.outcome == "pruned" and node.step == 1)
    app = open_page(PARTS[1], {"table_tree": True}, method="sampling", top_k="2")
    table = next(frame.value for frame in app.dataframe if "why" in frame.value)
    reasons = set(table["why"][table["outcome"] == "pruned"])
    assert "Left out by top k: only 2 may be drawn." in reasons
    assert reasons <= {"Left out by top k: only 2 may be drawn.", "Not drawn."}
    assert node.reason == "Not drawn."  # as the search tells it


def test_another_step_lets_go_of_the_chosen_node(open_page: Open, folder: Path) -> None:
    _, found = searched(folder)
    node = next(node for node in found.tree if node.outcome == "pruned" and node.step == 3)
    app = open_page(PARTS[1], {"node": (2, node.id)}, t="3")
    assert component(app, "search_tree")["chosen"] == node.id
    app.session_state["t"] = 3
    app.run()
    assert component(app, "search_tree")["chosen"] == path_to(found.tree, found.hypotheses[0].node or 0)[3].id


def test_a_forced_prefix_is_continued_beside_the_free_translation(open_page: Open, folder: Path) -> None:
    translator, found = searched(folder)
    first = next(node for node in found.tree if node.outcome == "pruned" and node.step == 1 and node.token != EOS)
    prefix = (first.token, found.hypotheses[0].ids[1])
    app = open_page(PARTS[1], {"beginning": prefix})
    (expected,) = translator.translate_sentences([EXAMPLE], found.settings, prefix=prefix)
    assert component(app, "continued")["headline"] == expected.text
    assert component(app, "alone")["headline"] == found.text
    assert [chip["text"] for chip in component(app, "continued")["chips"]][:2] == [
        translator.tokenizer.piece(id) for id in prefix
    ]
    app.button(key="take_back").click().run()
    for gone in ("continued", "continued_tree"):
        with pytest.raises(AssertionError, match="no component"):
            component(app, gone)


@pytest.mark.parametrize("method", ["beam", "greedy"])
def test_the_search_from_a_forced_prefix_is_drawn_as_a_tree(open_page: Open, folder: Path, method: str) -> None:
    translator, found = searched(folder, method=method, n_best=1 if method == "greedy" else 3)
    first = next(node for node in found.tree if node.outcome == "pruned" and node.step == 1 and node.token != EOS)
    prefix = (first.token, found.hypotheses[0].ids[1])
    app = open_page(PARTS[1], {"beginning": prefix}, method=method)
    (expected,) = translator.translate_sentences([EXAMPLE], found.settings, keep_tree=True, prefix=prefix)
    drawn = component(app, "continued_tree")
    assert [(node["id"], node["parent"], node["outcome"]) for node in drawn["nodes"]] == [
        (node.id, node.parent, node.outcome) for node in expected.tree
    ]
    shares = [math.exp(node.log_probability) for node in expected.tree]
    assert [node["share"] for node in drawn["nodes"]] == pytest.approx(shares)
    way = path_to(expected.tree, expected.hypotheses[0].node or 0)
    assert tuple(node.token for node in way[:2]) == prefix
    assert {node["id"] for node in drawn["nodes"] if node["best"]} == {0, *(node.id for node in way)}
    assert drawn["chosen"] == way[2].id  # the first token that the model chose itself
    forced = way[0]
    app = open_page(PARTS[1], {"beginning": prefix, "continued_node": forced.id}, method=method)
    assert component(app, "continued_tree")["chosen"] == forced.id
    assert texts(app).count("It is in the prefix.") == 1
    ended = open_page(PARTS[1], {"beginning": (*prefix, EOS)}, method=method)
    with pytest.raises(AssertionError, match="no component"):
        component(ended, "continued_tree")


def test_a_translation_can_be_ended_by_hand(open_page: Open, folder: Path) -> None:
    translator, _ = searched(folder)
    ids = tuple(translator.tokenizer.encode("the cat"))
    app = open_page(PARTS[1], {"beginning": (*ids, EOS)})
    expected = translator.score(EXAMPLE, "the cat")
    assert component(app, "continued")["headline"] == "the cat"
    assert [chip["share"] for chip in component(app, "continued")["chips"]] == pytest.approx(
        np.exp(expected.log_probabilities)
    )
    assert f"Ended by you after {len(ids)} tokens" in [heading.value for heading in app.subheader]
    at_start = component(open_page(PARTS[1], {"node": (0, 0)}, t="1"), "next_pieces")
    assert len(at_start["rows"]) == 6  # nothing is no translation
    assert "</s>" not in [row["text"] for row in at_start["rows"]]


def test_what_was_continued_is_shown_on_every_page(open_page: Open, folder: Path) -> None:
    translator, _ = searched(folder)
    prefix = tuple(translator.tokenizer.encode("the cat"))
    app = open_page(PARTS[1], {"beginning": (*prefix, EOS)})
    app.button(key="show_continued").click().run()
    healthy(app)
    switch_page(app, "hand").run()
    healthy(app)
    line = component(app, "translation_line")
    assert (line["text"], line["mark"]["words"]) == ("the cat", "your translation")
    switch_page(app, "decoding")
    app.session_state["part"] = "loop"
    app.run()
    healthy(app)
    assert component(app, "loop")["output"]["tokens"][0] == "<s>"
    ids = translator.score(EXAMPLE, "the cat").ids
    assert component(app, "loop")["chosen"] == in_words(translator.tokenizer.piece(ids[0]))


def test_tokens_that_were_chosen_stay_these_tokens(open_page: Open, folder: Path) -> None:
    """Their text alone would be cut in the usual way: into other tokens, with other probabilities."""
    translator, _ = searched(folder)
    tokenizer = translator.tokenizer
    ids = {tokenizer.piece(id): id for id in range(tokenizer.vocab_size)}
    chosen = tuple(ids[letter] for letter in "▁the▁cat")
    assert tuple(tokenizer.encode(tokenizer.decode(chosen))) != chosen
    wanted = [tokenizer.piece(id) for id in (*chosen, EOS)]
    for prefix in ((*chosen, EOS), chosen):
        app = open_page(PARTS[1], {"beginning": prefix}, t=str(len(prefix)))
        continued = [chip["text"] for chip in component(app, "continued")["chips"]]
        assert continued[: len(chosen)] == wanted[:-1]
        if prefix[-1] == EOS:
            assert continued == wanted
        app.button(key="show_continued").click().run()
        healthy(app)
        assert "the search that found the model's translation" in " ".join(caption.value for caption in app.caption)
        app.session_state["part"] = "loop"
        app.run()
        healthy(app)
        read = component(app, "loop")["output"]["tokens"]
        assert read == ["<s>", *wanted[: len(prefix) - 1]]


def test_a_token_that_continues_a_node_is_the_visitors_and_no_token_before_it(open_page: Open, folder: Path) -> None:
    """Also if the page is at another step."""
    _, found = searched(folder)
    ids = found.hypotheses[0].ids
    other = next(row for row in frame(open_page())["steps"][2]["rows"] if not row["chosen"] and row["id"] > EOS)
    app = open_page(session={"beginning": (*ids[:2], other["id"])}, details="false", t="1", alternative="1")
    app.button(key="show_continued").click().run()
    healthy(app)
    whys = [step["why"] for step in frame(app)["steps"]]
    assert [why.endswith(GIVEN) for why in whys] == [step == 2 for step in range(len(whys))]


def test_all_tokens_of_own_words_are_the_visitors() -> None:
    assert _chosen((5, 8, 9), (5, 6, 7, 3)) == (1, 2)
    assert _chosen((5, 6, 9), (5, 6, 7, 3)) == (2,)
    assert _chosen((5, 6), (5, 6, 7, 3)) == (1,)
    assert _chosen((5, 6, 7, 8), (5, 6)) == (2, 3)


def test_a_prefix_that_the_visitor_types_is_cleaned_and_forced(open_page: Open, folder: Path) -> None:
    app = open_page(PARTS[1], t="1")
    app.text_input(key="own_words").set_value("  „the\u200b cat ").run()
    healthy(app)
    translator, found = searched(folder)
    ids = translator.tokenizer.encode("„the cat")
    expected = [translator.tokenizer.piece(id) for id in (found.hypotheses[0].ids[0], *ids)]
    assert [chip["text"] for chip in component(app, "continued")["chips"]][: len(expected)] == expected


def test_a_prefix_that_is_too_long_gets_an_error_message(open_page: Open) -> None:
    app = open_page(PARTS[1])
    app.text_input(key="own_words").set_value("the cat sat on the mat " * 8).run()
    healthy(app)
    assert "Type fewer words, or choose an earlier node." in texts(app)
    app.button(key="take_back").click().run()
    healthy(app)
    assert "Type fewer words" not in texts(app)


@pytest.mark.parametrize(
    ("method", "file"),
    [("beam", "beam.py"), ("greedy", "search.py"), ("sampling", "search.py")],
)
def test_every_search_is_shown_beside_its_code(open_page: Open, method: str, file: str) -> None:
    app = open_page("tree", method=method, t="2")
    assert any(f"transformer/decoding/{file}`, line" in caption.value for caption in app.caption)
    assert CHANGED not in [code.value for code in app.code]
    beam = "We used beam search" in " ".join(each.value for each in app.markdown)
    assert beam == (method == "beam")


def test_the_decoders_row_and_the_projection_are_beside_their_own_formulas(open_page: Open) -> None:
    app = open_page("loop", t="2")
    assert ["Decoder" in formula.value for formula in app.latex][:2] == [True, False]
    assert "softmax" in app.latex[1].value
    row, _, projection = [code.value for code in app.code][:3]  # after the row, its whole function
    assert "layer.step" in row
    assert "self.output.weight" in projection


# -- greedy and beam


@pytest.mark.parametrize("method", ["beam", "greedy", "sampling"])
def test_greedy_and_beam_are_side_by_side_for_every_method(open_page: Open, folder: Path, method: str) -> None:
    app = open_page("methods", sentence=EXAMPLE, method=method)
    found = {
        "greedy": searched(folder, method="greedy", n_best=1)[1].hypotheses[0],
        "beam": searched(folder, method="beam", n_best=1)[1].hypotheses[0],
    }
    assert (f"; greedy decoding writes “{found['greedy'].text}”." in texts(app)) == (method == "beam")
    apart = next(i for i, (a, b) in enumerate(zip(found["greedy"].ids, found["beam"].ids, strict=True)) if a != b)
    captions = " ".join(caption.value for caption in app.caption)
    for name, hypothesis in found.items():
        strip = component(app, f"{name}_strip")
        assert strip["headline"] == hypothesis.text
        assert [chip["share"] for chip in strip["chips"]] == pytest.approx(np.exp(hypothesis.log_probabilities))
        assert [i for i, chip in enumerate(strip["chips"]) if "differs here" in chip["under"]] == [apart]
        assert f"sum of log p {fixed(hypothesis.score, 3)}, score {fixed(hypothesis.normalised_score, 3)}" in captions
    assert f"They differ from step {apart + 1} on. Greedy takes the most probable token there" in texts(app)
    for line, hypothesis in zip(charts(app)[0]["data"], found.values(), strict=True):
        begin = max(apart - 1, 0)
        assert array(line["y"]) == pytest.approx(np.cumsum(hypothesis.log_probabilities)[begin:], rel=1e-5)
        assert array(line["x"]).tolist() == list(range(begin + 1, len(hypothesis.ids) + 1))


def test_tokens_are_named_without_the_mark_of_the_start_of_a_word(folder: Path) -> None:
    (greedy,) = searched(folder, method="greedy", n_best=1)[1].hypotheses
    beam = replace(greedy, pieces=("▁other", *greedy.pieces[1:]))
    said = _comparison(replace(greedy, pieces=("▁one", *greedy.pieces[1:])), beam, 0, 4)
    assert "“one”" in said
    assert "“other”" in said


def test_where_greedy_and_beam_find_the_same_the_page_says_so(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(SHIPPED))
    app = open_page("methods", checkpoint="numbers", sentence="forty-two")
    assert "find the same translation" in texts(app)
    assert "here greedy decoding writes the same." in texts(app)
    assert charts(app) == []
    other = open_page("methods", checkpoint="numbers", sentence="forty-two", alternative="2")
    assert "; greedy decoding writes “" in texts(other)


# -- the length penalty


@pytest.mark.parametrize(
    ("search", "words"),
    [
        ({"penalty": "paper", "alpha": "0.6"}, ""),
        ({"penalty": "paper", "alpha": "1.2"}, "Here α = 1.2."),
        ({"penalty": "power", "alpha": "0.6"}, "Here the length penalty is a power of the length, with α = 0.6."),
        ({"penalty": "none", "alpha": "1.2"}, "Here there is no length penalty."),
    ],
)
def test_beside_the_code_the_length_penalty_is_that_of_the_search(
    open_page: Open, search: dict[str, str], words: str
) -> None:
    said = " ".join(each.value for each in open_page("tree", **search).markdown)
    assert f"length penalty α = 0.6.” {words} At each step".replace("  ", " ") in said


def test_one_hypothesis_is_not_ranked(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(SHIPPED))
    app = open_page(PARTS[2], checkpoint="numbers", sentence="forty-two", method="greedy")
    assert "finished one hypothesis, so there is nothing to rank. Choose beam search" in texts(app)
    assert charts(app) == []
    monkeypatch.setattr(penalty_section, "finished", lambda tree: finished(tree)[:1])
    app = open_page(PARTS[2], checkpoint="numbers", sentence="forty-two")
    assert "finished one hypothesis, so there is nothing to rank." in texts(app)
    assert "Choose beam search" not in texts(app)


def paper(length: int) -> float:
    return (5 + length) / 6


@pytest.mark.parametrize(("form", "base"), [("paper", paper), ("power", float)])
def test_rescoring_is_the_sum_divided_by_the_penalty(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, form: str, base: Callable[[int], float]
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(SHIPPED))  # a model that knows how to end
    app = open_page(PARTS[2], checkpoint="numbers", sentence="forty-two")
    app.slider(key=f"alpha_{form}_0.6").set_value(1.5).run()
    healthy(app)
    table = app.dataframe[0].value
    _, found = searched(SHIPPED, "forty-two", "numbers")
    nodes = list(finished(found.tree))
    assert len(table) > 1
    for total, score in zip(table["sum"], table[f"{form}, α 1.5"], strict=True):
        node = min(nodes, key=lambda node: abs(node.sum - total))
        assert score == pytest.approx(node.sum / base(node.step) ** 1.5)
    winner = table["name"][int(np.argmax(table[f"{form}, α 1.5"]))]
    figure = charts(app)[0 if form == "paper" else 1]
    labels = [text for line in figure["data"] for text in line.get("text", []) if "wins" in text]
    assert [text.split()[0] for text in labels] == [winner]


def test_the_slider_follows_the_length_penalty_of_the_search(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(SHIPPED))
    app = open_page(PARTS[2], checkpoint="numbers", sentence="forty-two")
    app.slider(key="alpha").set_value(1.2).run()
    healthy(app)
    assert [each.value for each in app.slider if str(each.key).startswith("alpha_paper")] == [1.2]


def test_where_nothing_finished_there_is_nothing_to_rank(open_page: Open, folder: Path) -> None:
    _, found = searched(folder)
    assert not finished(found.tree)
    assert "No hypothesis finished" in texts(open_page(PARTS[2]))


# -- the lens


def test_the_lens_draws_ranks_and_the_top_row_is_the_model_itself(open_page: Open, folder: Path) -> None:
    app = open_page(PARTS[3], t="2")
    (wall,) = charts(app)
    translator, found = searched(folder)
    logits = logits_of(translator, found)
    ids = found.hypotheses[0].ids
    ranks = np.array([1 + int((row > row[id]).sum()) for row, id in zip(logits, ids, strict=True)])
    drawn = array(wall["data"][0]["z"])
    assert drawn.shape == (4, len(ids))  # the input and three layers
    assert drawn[-1] == pytest.approx(closeness(ranks, logits.shape[1]), abs=1e-6)


# -- the reference


def test_a_reference_is_scored_as_sacrebleu_does_and_compared_word_by_word(open_page: Open, folder: Path) -> None:
    sentence = "The animal didn't cross the street because it was too tired."  # gives no control characters
    _, found = searched(folder, sentence)
    reference = found.text + " ja wirklich"
    app = open_page(PARTS[4], {"reference": reference}, sentence=sentence)
    bleu = sacrebleu.sentence_bleu(found.text, [reference], use_effective_order=True).score
    assert [metric.value for metric in app.metric] == [
        f"{bleu:.1f}",
        f"{sacrebleu.sentence_chrf(found.text, [reference]).score:.1f}",
    ]
    assert "eff:yes|tok:13a|smooth:exp" in texts(app)
    assert component(app, "difference")["stretches"][-1] == {
        "change": "missing",
        "old": "ja wirklich",
        "new": "",
        "mark": "− missing",
    }


def test_a_translation_that_the_search_found_too_is_in_the_list_once(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(SHIPPED))
    _, found = searched(SHIPPED, "forty-two", "numbers")
    own = {"given": found.hypotheses[1].text, "given_ids": found.hypotheses[1].ids[:-1], "alternative": GIVEN_SHOWN}
    app = open_page("reference", {"reference": "42", **own}, checkpoint="numbers", sentence="forty-two")
    drawn = component(app, "alternatives_scored")
    rows = [row["text"] for row in drawn["rows"]]
    assert sorted(rows) == sorted(each.text for each in found.hypotheses)
    assert rows[drawn["chosen"]] == found.hypotheses[1].text


def test_a_hostile_reference_stays_text(open_page: Open) -> None:
    app = open_page(PARTS[4], {"reference": HOSTILE})
    for markdown in (*app.markdown, *app.caption):
        assert "alert(1)" not in markdown.value
    old = " ".join(stretch["old"] for stretch in component(app, "difference")["stretches"])
    assert "<img" in old


def test_without_a_reference_the_page_asks_for_one(open_page: Open) -> None:
    assert "Type a translation of your own" in texts(open_page(PARTS[4]))


def test_a_reference_stays_with_other_settings_and_goes_with_its_sentence(open_page: Open) -> None:
    app = open_page("reference", {"reference": "Ja."})
    next(each for each in app.slider if each.key == "beam").set_value(2).run()
    assert app.text_input(key="reference").value == "Ja."
    app.text_input(key="sentence").set_value("the dog ran").run()
    healthy(app)
    assert app.text_input(key="reference").value == ""
    assert "Type a translation of your own" in texts(app)


@pytest.mark.parametrize("reference", ["", "Ja."])
def test_the_scores_name_their_sources_and_show_the_lines_that_compute_them(open_page: Open, reference: str) -> None:
    app = open_page("reference", {"reference": reference})
    captions = " ".join(caption.value for caption in app.caption)
    assert "Not in the paper: BLEU, Papineni et al. (2002); chrF, Popović (2015)" in captions
    code = "\n".join(code.value for code in app.code)
    assert "metric.sentence_score" in code
    assert "SequenceMatcher" in code


# -- any model, any words

ODD: dict[str, tuple[Size, dict[str, Any]]] = {
    "shallow encoder, pre-norm": (Size(1, 4, 2), {"norm": "pre"}),
    "one layer, one head": (Size(3, 1, 1), {"positions": "learned"}),
    "untied, windowed": (Size(2, 2, 4), {"shared_embeddings": False, "attention_window": 1, "positions": "none"}),
    "half and half": (Size(1, 2, 8), {"sinusoid_layout": "concatenated", "activation": "gelu"}),
}


@pytest.mark.parametrize("name", ODD)
def test_it_opens_for_any_model_and_any_words(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size, options = ODD[name]
    write_checkpoint(tmp_path / "odd.safetensors", size, options=options)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    app = AppTest.from_file(str(MAIN), default_timeout=PATIENCE)
    switch_page(app, "decoding")
    app.session_state["reference"] = "Ja."
    methods = dict(zip(PARTS, ("beam", "sampling", "greedy", "beam", "sampling", "greedy"), strict=True))
    for words in ("a", HOSTILE):
        app.session_state["text"] = words
        for part in PARTS:
            app.session_state["part"] = part
            app.session_state["method"] = methods[part]
            app.run()
            healthy(app)
            for markdown in (*app.markdown, *app.caption):
                assert "alert(1)" not in markdown.value

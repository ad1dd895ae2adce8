"""The tabs of the Attention page: the word alignment of the chosen heads, and the views of BertViz."""

import json
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.views.attention import bertviz_tab
from app.views.attention.bertviz_html import PARTS
from app.views.attention.soft_alignment import links, pharaoh, word_alignment
from tests.support.attention_page import Open, Tokens, sent
from tests.support.drawn import charts, components, page_text, unpacked


def bertviz_data(app: AppTest) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(unpacked(app.get("iframe")[0].proto.srcdoc, "data"))
    return found


def test_the_alignment_names_its_source_and_shows_the_lines_that_make_it(open_attention: Open) -> None:
    app = open_attention(more="alignment")
    captions = " ".join(caption.value for caption in app.caption)
    assert "Not in the paper: attention as a soft alignment" in captions
    assert "app/views/attention/soft_alignment.py`, line" in captions
    assert any("mean = weights" in code.value for code in app.code)


@pytest.mark.parametrize("shift", ["predicts", "reads"])
def test_the_alignment_is_that_of_the_chosen_heads(
    open_attention: Open, weights: dict[str, np.ndarray], tokens: Tokens, shift: Any
) -> None:
    app = open_attention(more="alignment", threshold="0.1", shift=shift)
    app.multiselect[0].set_value([(0, 1), (2, 3)]).run()
    assert not app.exception
    cross = weights["cross"]
    expected = word_alignment(np.stack([cross[0, 1], cross[2, 3]]), *tokens, shift)
    lines = components(app, "attention_lines")[1]
    assert lines["keys"]["tokens"] == list(expected.source)
    drawn = sent(lines)
    reached = expected.weights >= 0.1
    assert reached.any()
    assert np.array_equal(drawn[reached], expected.weights[reached])
    assert (drawn[~reached] == 0).all()
    text = pharaoh(links(expected.weights, 0.1))
    assert [element.value for element in app.code if element.value[:1].isdigit()] == [text]
    assert f"{reached.sum()} link" in page_text(app)


def test_without_a_head_there_is_nothing_to_align_and_the_page_says_so(open_attention: Open) -> None:
    app = open_attention(more="alignment")
    app.multiselect[0].set_value([]).run()
    assert not app.exception
    assert "Choose at least one head" in page_text(app)
    again = open_attention(more="alignment", alignment_heads=app.query_params["alignment_heads"])
    assert "Choose at least one head" in page_text(again)


def test_without_the_causal_mask_the_page_says_so_and_bertviz_shows_later_keys(open_attention: Open) -> None:
    said = "attends to all tokens of the translation, because an edit switches the causal mask off"
    for edits, free in (({}, False), ({"edits": "mask=causal"}, True)):
        app = open_attention(kind="decoder", more="bertviz", bertviz="neuron", **edits)
        assert bertviz_data(app)["bidirectional"] == free
        assert (said in page_text(app)) == free
        assert ("later tokens are masked" in page_text(app)) != free


@pytest.mark.parametrize("view", ["head", "model", "neuron"])
@pytest.mark.parametrize("kind", ["cross", "decoder"])
def test_bertviz_gets_our_tensors(open_attention: Open, weights: dict[str, np.ndarray], view: str, kind: str) -> None:
    app = open_attention(more="bertviz", bertviz=view, kind=kind, layer="2", head="3")
    attention = bertviz_data(app)["attention"][0]
    expected = weights[kind][1:2] if view == "neuron" else weights[kind]
    assert np.abs(np.array(attention["attn"]) / PARTS - expected).max() <= 0.00051
    if view == "neuron":
        query, key = (np.array(attention[name])[0] / PARTS for name in ("queries", "keys"))  # (H, ., E)
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1])
        if kind == "decoder":
            scores = np.where(np.tril(np.ones(scores.shape[1:], bool)), scores, -np.inf)
        again = np.exp(scores - scores.max(axis=-1, keepdims=True))
        assert again / again.sum(axis=-1, keepdims=True) == pytest.approx(expected[0], abs=0.02)
    twins = [found.proto.popover for found in app.get("popover") if "bertviz" in found.proto.popover.id]
    assert [twin.label for twin in twins] == (
        ["Download: weights", "Download: q and k"] if view == "neuron" else ["Download"]
    )


def test_only_the_open_tab_is_computed(open_attention: Open) -> None:
    assert (len(charts(open_attention())), len(open_attention().get("iframe"))) == (2, 0)
    app = open_attention(more="bertviz")
    assert (len(charts(app)), len(app.get("iframe"))) == (1, 1)


def test_bertviz_says_its_limits_before_and_draws_nothing_beyond(
    open_attention: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_attention("the cat sat on the mat " * 6, more="bertviz", bertviz="model")
    assert "Up to 30 tokens it draws all layers, up to 160 the chosen one" in page_text(app)
    tokens = len(components(app, "attention_lines")[0]["keys"]["tokens"])
    assert tokens > 30
    assert len(bertviz_data(app)["attention"][0]["attn"]) == 1
    app.text_input(key="sentence").set_value("the cat sat on the mat " * 12).run()
    assert not app.exception
    assert len(components(app, "attention_lines")[0]["keys"]["tokens"]) > 60
    for view in ("head", "model", "neuron"):
        app.session_state["bertviz"] = view
        app.run()
        assert app.get("iframe"), view
    monkeypatch.setattr(bertviz_tab, "MOST_TOKENS", 60)
    app.run()
    assert not app.get("iframe")
    assert "more than this view can draw" in page_text(app)

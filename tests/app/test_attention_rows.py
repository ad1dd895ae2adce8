"""The rows of the Attention page: without special tokens, as words, by name, one isolated; and its chosen cell."""

import numpy as np
import pytest

from app.figures.shares import Share
from app.figures.theme import number
from tests.support.attention_page import Open, Tokens, heat, sent
from tests.support.drawn import charts, components, page_text


def test_hidden_special_tokens_are_named_and_rows_sum_to_one_again(
    open_attention: Open, weights: dict[str, np.ndarray], tokens: Tokens
) -> None:
    app = open_attention(kind="cross", layer="2", head="3", hide="true")
    drawn = heat(app, 0)
    columns = [k for k, token in enumerate(tokens[0]) if token != "</s>"]
    rows = [t for t, token in enumerate(tokens[1]) if token != "</s>"]
    expected = weights["cross"][1, 2][np.ix_(rows, columns)]
    assert drawn == pytest.approx(expected / expected.sum(axis=-1, keepdims=True), abs=1e-5)
    assert drawn.sum(axis=-1) == pytest.approx(1, abs=1e-5)
    assert "rows renormalised" in components(app, "attention_lines")[0]["title"]
    assert "Hidden columns: `</s>`" in page_text(app)
    share = weights["cross"][1, 2][rows][:, -1].mean()
    assert f"the hidden columns have {Share(share):.0%} of the weight of a row of this head" in page_text(app)
    assert "on average; now each row sums to 1." in page_text(app)  # the rollout
    assert "A row sums to the share" not in page_text(app)


def test_the_first_row_of_the_decoder_has_nothing_left_and_the_page_says_so(open_attention: Open) -> None:
    app = open_attention(kind="decoder", hide="true")
    drawn = heat(app, 0)
    assert np.isnan(drawn[0]).all()
    assert np.nansum(drawn[1:], axis=-1) == pytest.approx(1, abs=1e-5)
    assert "1 row is empty: it may attend to hidden tokens only." in page_text(app)


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_words_have_rows_that_sum_to_one_and_masked_cells_that_are_zero(open_attention: Open, kind: str) -> None:
    app = open_attention(kind=kind, words="true")
    drawn = heat(app, 0)
    assert np.nansum(drawn, axis=-1) == pytest.approx(1, abs=1e-5)
    lines = components(app, "attention_lines")[0]
    assert "words: rows averaged, columns summed" in lines["title"]
    if kind != "encoder":  # a word has one name
        names = next(group for group in app.segmented_control if group.label == "Names of a row")
        assert names.options == ["predicts", "reads"]
    assert (sent(lines)[0][np.isnan(drawn)] == 0).all()
    if kind != "decoder":
        assert "animal" in lines["keys"]["tokens"]


def test_a_row_is_called_by_what_it_reads_or_what_it_predicts(open_attention: Open, tokens: Tokens) -> None:
    both = components(open_attention(kind="cross"), "attention_lines")[0]["queries"]
    reads = components(open_attention(kind="cross", naming="reads"), "attention_lines")[0]["queries"]
    predicts = components(open_attention(kind="cross", naming="predicts"), "attention_lines")[0]["queries"]
    assert both["tokens"] == predicts["tokens"] == list(tokens[1])
    assert both["reads"] == reads["tokens"] == ["<s>", *tokens[1][:-1]]
    assert reads["reads"] == predicts["reads"] == []
    assert (reads["title"].split(", ")[1], predicts["title"].split(", ")[1]) == ("as read", "as predicted")


@pytest.mark.parametrize(("kind", "key"), [("cross", "t"), ("decoder", "t"), ("encoder", "s")])
def test_one_row_is_isolated_in_all_pictures(open_attention: Open, kind: str, key: str) -> None:
    app = open_attention(kind=kind, one="true")
    app.session_state[key] = 2
    app.run()
    assert components(app, "attention_lines")[0]["row"] == 2
    frame = charts(app)[0]["layout"]["shapes"][0]
    assert (frame["y0"], frame["y1"]) == (1.5, 2.5)
    assert charts(app)[1]["layout"]["shapes"][0]["y0"] == 1.5


@pytest.mark.parametrize(("kind", "place"), [("cross", "s"), ("encoder", "k"), ("decoder", "k")])
def test_the_chosen_cell_is_framed_and_its_weight_is_the_tensors(
    open_attention: Open, weights: dict[str, np.ndarray], kind: str, place: str
) -> None:
    row = weights[kind][1, 2, 0]
    app = open_attention(kind=kind, layer="2", head="3")
    assert "Row 1 (" in page_text(app)
    assert f'attends to key {row.argmax() + 1} ("' in page_text(app)  # opens with the strongest key
    assert f"with {number(float(row.max()), 4)}." in page_text(app)
    app.session_state[place] = 1
    app.run()
    frame = charts(app)[0]["layout"]["shapes"][-1]
    assert (frame["x0"], frame["x1"], frame["y0"], frame["y1"]) == (0.5, 1.5, -0.5, 0.5)
    expected = "not at all: that is masked" if kind == "decoder" else f"with {number(float(row[1]), 4)}."
    assert expected in page_text(app)


def test_a_row_that_is_hidden_is_not_isolated_and_the_page_says_so(open_attention: Open, tokens: Tokens) -> None:
    app = open_attention(kind="encoder", one="true", hide="true", s=str(len(tokens[0])))
    assert components(app, "attention_lines")[0]["row"] is None
    assert "This row is hidden" in page_text(app)


@pytest.mark.parametrize(("head", "allowed"), [("3", True), ("4", False)])
def test_the_mask_is_that_of_the_chosen_head(open_attention: Open, head: str, allowed: bool) -> None:
    app = open_attention(kind="decoder", edits="allow=decoder.2.3.1.2", layer="2", head=head, t="1", k="2")
    assert np.isnan(heat(app, 0)[0, 1]) != allowed
    assert ("not at all: that is masked" in page_text(app)) != allowed

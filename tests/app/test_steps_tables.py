"""The tables and the cells of Step by step have the numbers of the tensor of their station."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.figures.axes import TokenAxis
from app.figures.tensor import number_text, tensor_heatmap
from tests.support.drawn import checked
from tests.support.steps_page import Truth, numbers, opened, walked


@pytest.mark.parametrize(
    "station",
    [
        "encoder.embedding.positions",
        "encoder.layers.1.self_attention.output",
        "decoder.layers.2.feed_forward.residual_sum",
    ],
)
def test_the_table_of_a_stream_has_the_numbers_of_its_tensor(
    station: str, open_app: Callable[..., AppTest], truth: Truth
) -> None:
    np.testing.assert_array_equal(numbers(opened(open_app, station)), truth[station])


@pytest.mark.parametrize("name", ["query", "value", "context"])
def test_the_table_is_that_of_the_chosen_head(name: str, open_app: Callable[..., AppTest], truth: Truth) -> None:
    station = f"decoder.layers.1.cross_attention.{name}"
    np.testing.assert_array_equal(numbers(opened(open_app, station, head="3")), truth[station][2])


@pytest.mark.parametrize("name", ["products", "masked_scores", "weights"])
def test_the_table_of_queries_by_keys_is_that_of_the_chosen_head(
    name: str, open_app: Callable[..., AppTest], truth: Truth
) -> None:
    station = f"decoder.layers.0.self_attention.{name}"
    np.testing.assert_array_equal(numbers(opened(open_app, station, head="1")), truth[station][0])


def test_between_decoder_and_encoder_the_head_is_the_one_that_attends_most_to_the_followed_word(
    open_app: Callable[..., AppTest], truth: Truth
) -> None:
    site = "decoder.layers.1.cross_attention.weights"
    app = opened(open_app, site, row=2, s="4")
    head = int(truth[site][:, 2, 3].argmax())
    np.testing.assert_array_equal(numbers(app), truth[site][head])


def test_the_table_of_the_mask_says_who_may_attend_and_why_not(open_app: Callable[..., AppTest], truth: Truth) -> None:
    site = "decoder.layers.0.self_attention.mask"
    found = numbers(opened(open_app, site))
    np.testing.assert_array_equal(found == "may attend", truth[site][0])
    assert set(found[~truth[site][0]]) == {"C"}


def test_where_an_edit_has_changed_the_mask_the_words_and_the_table_say_so(open_app: Callable[..., AppTest]) -> None:
    site = "decoder.layers.0.self_attention.mask"
    assert set(numbers(opened(open_app, site, edits="mask=causal")).ravel()) == {"may attend", "allowed by an edit"}
    brought, _ = walked(open_app, site, edits="mask=causal", detail="exam")
    texts = {each["id"]: brought["texts"][each["text"]]["text"] for each in brought["stations"]}
    assert "An edit has changed this mask" in texts[site]
    assert "every row may attend to every key" in texts["encoder.layers.0.self_attention.mask"]


def test_heads_side_by_side_are_the_context_joined(open_app: Callable[..., AppTest], truth: Truth) -> None:
    base = "encoder.layers.0.self_attention"
    joined = numbers(opened(open_app, f"{base}.concatenated"))
    np.testing.assert_array_equal(joined, np.concatenate(list(truth[f"{base}.context"]), axis=-1))


def test_layer_norm_shows_mean_and_deviation_before_and_after(open_app: Callable[..., AppTest], truth: Truth) -> None:
    base = "encoder.layers.0.self_attention"
    table = opened(open_app, f"{base}.norm_out").dataframe[1].value
    for when, name in (("before", "residual_sum"), ("after", "norm_out")):
        values = truth[f"{base}.{name}"].astype(np.float64)
        np.testing.assert_allclose(table[f"mean {when}"], values.mean(-1), atol=1e-9)
        np.testing.assert_allclose(table[f"deviation {when}"], values.std(-1), rtol=1e-9)


def test_units_that_fire_are_counted(open_app: Callable[..., AppTest], truth: Truth) -> None:
    site = "decoder.layers.2.feed_forward.activated"
    app = opened(open_app, site, row=1)
    fires = (truth[site] > 0).sum(-1)
    assert any(f"({fires[1]:,})" in caption.value for caption in app.caption)
    np.testing.assert_array_equal(numbers(app), truth[site])
    assert list(app.dataframe[1].value["units above 0"]) == list(fires)


@pytest.mark.parametrize("station", ["logits", "probabilities"])
def test_the_table_of_the_next_tokens_has_the_best_of_the_row_and_the_chosen_one(
    station: str, open_app: Callable[..., AppTest], truth: Truth
) -> None:
    logits, chosen = truth["logits"][1], truth.translation.hypotheses[0].ids[1]
    table = opened(open_app, station, row=1).dataframe[0].value
    np.testing.assert_array_equal(table["logit"], logits[list(table["id"])].astype(np.float64))
    np.testing.assert_array_equal(table["logit"][:12], np.sort(logits)[::-1][:12])
    expected = torch.from_numpy(logits.copy()).double().softmax(-1)[list(table["id"])]
    np.testing.assert_allclose(table["probability"], expected, rtol=1e-9)
    assert list(table["id"][table["in the translation"] == "chosen"]) == [chosen]


def test_numbers_are_in_the_cells_of_a_long_sentence_too() -> None:
    values = np.linspace(-20, 20, 1200).reshape(100, 12)
    rows = TokenAxis("English", "encoder", tuple("abcde" * 20))
    _, numbers = checked(tensor_heatmap(values, rows, title="t", row=0)).data
    assert len(numbers.text) == 1200
    assert numbers.meta["columns"] == 12


@pytest.mark.parametrize(
    ("value", "text", "short"),
    [(1.25, "1.25", "1.2"), (-13.46, "−13.5", "−13"), (0.0, "0", "0"), (-np.inf, "−∞", "−∞"), (-0.001, "0.00", "0.0")],
)
def test_a_number_has_one_digit_less_where_the_cell_is_narrow(value: float, text: str, short: str) -> None:
    assert (number_text(value), number_text(value, short=True)) == (text, short)

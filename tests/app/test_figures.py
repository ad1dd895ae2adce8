"""The figures draw the numbers they are given, and text stays text."""

import base64
import csv
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from app.figures.all_heads import LARGEST_TILE, heads_table, pooled
from app.figures.attention_lines import attention_lines
from app.figures.axes import TokenAxis, visible
from app.figures.head_sharpness import carries_no_word, clarity, clearest_head, entropy, head_facts
from app.figures.matrix import (
    NUMBERS_UP_TO,
    attention_matrix,
    matrix_alt,
    matrix_table,
    matrix_width,
)
from app.figures.shares import probability_text, weight_text
from app.figures.tables import columns_csv
from app.figures.theme import (
    ColorScale,
    fixed,
    number,
    resolved,
    signed_scale,
    text_on_signed,
    text_on_weight,
    weight_scale,
)
from app.figures.token_strip import source_strip, source_table, target_strip
from app.languages import speaking
from tests.support.drawn import checked
from transformer.text.tokenizer import Token

HOSTILE = ("</script><img src=x onerror=alert(1)>", "<b>bold</b>", "$x$", "_a_", ":red[b]", "&lt;", "</s>")


def softmax(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    scores = np.exp(2 * np.random.default_rng(seed).normal(size=shape))
    return (scores / scores.sum(-1, keepdims=True)).astype(np.float32)


def writer(count: int) -> TokenAxis:
    read = tuple(f"▁w{i}" for i in range(count))
    return TokenAxis("German", "decoder", read, (*read[1:], "</s>"))


def reader(count: int) -> TokenAxis:
    return TokenAxis("English", "encoder", tuple(f"▁e{i}" for i in range(count)))


def test_the_matrix_draws_the_weights_as_they_are() -> None:
    weights = softmax((5, 7))
    figure = checked(attention_matrix(weights, writer(5), reader(7), title="t"))
    assert np.array_equal(np.asarray(figure.data[0].z), weights)
    assert (figure.data[0].zmin, figure.data[0].zmax) == (0, 1)
    texts = np.array(figure.data[1].text).reshape(5, 7)
    assert texts[2, 3] == weight_text(float(weights[2, 3]))
    assert (figure.data[1].x[3], figure.data[1].y[2 * 7 + 3]) == (3, 2)


def test_masked_cells_are_empty_and_a_weight_of_zero_is_not() -> None:
    weights = np.array([[1, 0, 0], [0.5, 0.5, 0], [0, 0.25, 0.75]], dtype=np.float32)
    figure = checked(
        attention_matrix(weights, writer(3), writer(3), title="t", mask=np.tril(np.ones((3, 3), dtype=bool)))
    )
    assert np.isnan(np.asarray(figure.data[0].z)).tolist() == np.triu(np.ones((3, 3), dtype=bool), 1).tolist()
    assert list(figure.data[1].text) == ["1.0", ".50", ".50", "·", ".25", ".75"]


def test_a_repeated_word_keeps_a_row_and_a_column_each() -> None:
    the = TokenAxis("English", "encoder", ("▁the", "▁the", "▁the"))
    figure = checked(attention_matrix(softmax((3, 3)), the, the, title="t"))
    assert list(figure.layout.xaxis.tickvals) == list(figure.layout.yaxis.tickvals) == [0, 1, 2]
    assert len(figure.layout.xaxis.ticktext) == 3
    assert len(set(the.names)) == 3


def test_decoder_rows_say_what_they_read_and_what_they_predict() -> None:
    figure = checked(attention_matrix(softmax((3, 2)), writer(3), reader(2), title="t"))
    assert [text.split("</span>")[-1] for text in figure.layout.yaxis.ticktext] == ["w0", "w1", "w2"]
    assert [text.split("</span>")[-1] for text in figure.layout.yaxis2.ticktext] == ["w1", "w2", "&lt;/s&gt;"]
    assert figure.layout.yaxis.title.text == "German: reads"
    assert figure.layout.yaxis2.title.text == "predicts"


def test_hostile_tokens_are_drawn_letter_by_letter() -> None:
    axis = TokenAxis("<i>English</i>", "encoder", HOSTILE)
    figure = checked(attention_matrix(softmax((7, 7)), axis, axis, title="<a href='javascript:alert(1)'>x</a>"))
    for text in (*figure.layout.xaxis.ticktext, figure.layout.title.text, figure.layout.xaxis.title.text):
        assert "<" not in text
    assert figure.layout.xaxis.ticktext[1] == "&lt;b&gt;bold&lt;/b&gt;"
    assert figure.layout.xaxis.ticktext[5] == "&amp;lt;"


@pytest.mark.parametrize(("token", "shown"), [("", "∅"), ("a\nb", "a\\x0ab"), ("x" * 40, "x" * 17 + "…"), ("🙂", "🙂")])
def test_every_token_has_something_to_show(token: str, shown: str) -> None:
    assert visible(token) == shown


def test_beyond_a_readable_size_the_matrix_has_no_numbers_but_all_cells() -> None:
    n = NUMBERS_UP_TO + 1
    figure = checked(attention_matrix(softmax((n, n)), reader(n), reader(n), title="t"))
    assert len(figure.data) == 1
    assert np.asarray(figure.data[0].z).shape == (n, n)


def test_column_names_have_exactly_the_room_that_they_need() -> None:
    def above(token: str) -> int:
        keys = TokenAxis("German", "decoder", (token,) * 3)
        return int(checked(attention_matrix(np.eye(3), keys, keys, title="t")).layout.margin.t)

    assert above("▁h") < 100 < 180 < above("▁Donaudampfschifffahrt")


def test_a_weight_in_the_wrong_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="5 queries"):
        attention_matrix(softmax((7, 5)), writer(5), reader(7), title="t")
    with pytest.raises(ValueError, match="5 queries"):
        attention_lines(softmax((7, 5)), writer(5), reader(7), title="t", alt="a")


def test_csv_and_table_hold_the_same_numbers_with_all_digits() -> None:
    weights = softmax((3, 4))
    rows = list(csv.reader(io.StringIO(columns_csv(matrix_table(weights, writer(3), reader(4))))))
    assert np.array_equal(np.array([[float(cell) for cell in row[1:]] for row in rows[1:]], dtype=np.float32), weights)
    assert rows[0][1:] == ["1 ▁e0", "2 ▁e1", "3 ▁e2", "4 ▁e3"]
    table: dict[str, Any] = matrix_table(weights, writer(3), reader(4))
    assert np.array_equal(np.stack([table[name] for name in rows[0][1:]], axis=1), weights)
    assert table["query"][0] == "1 reads ▁w0, predicts ▁w1"


def test_no_csv_cell_can_be_taken_for_a_formula() -> None:
    axis = TokenAxis("x", "encoder", ("=1+1", "@x", "-3"))
    for row in csv.reader(io.StringIO(columns_csv(matrix_table(softmax((3, 3)), axis, axis)))):
        assert not any(cell[0] in "=+-@" for cell in row)


def test_the_alt_text_names_the_key_with_the_largest_weight_of_each_row() -> None:
    weights = np.array([[0.1, 0.9], [0.8, 0.2]], dtype=np.float32)
    text = matrix_alt(weights, writer(2), reader(2), "Layer 1, head 1")
    assert "1 reads ▁w0, predicts ▁w1: most on 2 ▁e1, 0.90" in text
    assert "2 reads ▁w1, predicts </s>: most on 1 ▁e0, 0.80" in text


def test_the_table_of_all_weights_has_every_row_of_every_head() -> None:
    weights = softmax((2, 3, 4, 5))
    queries, keys = writer(4), reader(5)
    table = heads_table(weights, queries, keys, layers=[2, 5])
    place = (1 * 3 + 2) * 4 + 3  # the second of the layers, head 3, row 4
    assert [table["layer"][place], table["head"][place], table["query"][place]] == [6, 3, queries.names[3]]
    assert [table[name][place] for name in keys.names] == weights[1, 2, 3].tolist()
    assert {len(column) for column in table.values()} == {2 * 3 * 4}


def test_a_long_sentence_keeps_its_strongest_weights_in_the_overview() -> None:
    weights = softmax((1, 1, 100, 130))
    small = pooled(weights)
    assert max(small.shape[2:]) <= LARGEST_TILE
    assert small.max() == weights.max()
    assert np.array_equal(pooled(weights[:, :, :64, :64]), weights[:, :, :64, :64])


def test_the_lines_carry_the_weights_bit_for_bit() -> None:
    weights = softmax((3, 4))
    data = attention_lines(weights, writer(3), reader(4), title="t", alt="a")
    sent = np.frombuffer(base64.b64decode(data["weights"]), dtype="<f4").reshape(data["shape"])
    assert np.array_equal(sent, weights)
    assert data["queries"]["tokens"] == ["w1", "w2", "</s>"]
    assert data["queries"]["reads"] == ["w0", "w1", "w2"]


def test_entropy_is_zero_for_one_token_and_log2_for_all_alike() -> None:
    assert entropy(np.array([[1.0, 0.0, 0.0, 0.0]]))[0] == 0
    assert entropy(np.full((1, 8), 0.125))[0] == pytest.approx(3.0)


def test_the_clearest_head_aligns_and_is_neither_uniform_nor_fixed_on_one_token() -> None:
    tokens = ("▁a", "▁b", "▁c", ".", "</s>")
    flat = np.full((5, 5), 0.2)
    sinking = np.tile([0.0, 0.0, 0.0, 0.0, 1.0], (5, 1))
    staring = np.tile([1.0, 0.0, 0.0, 0.0, 0.0], (5, 1))
    aligning = 0.9 * np.eye(5) + 0.02
    weights = np.stack([np.stack([flat, sinking]), np.stack([staring, aligning])])
    assert clearest_head(weights, tokens, tokens) == (1, 1)
    assert clarity(weights, tokens, tokens)[0, 1] == 0


def test_a_sentence_of_sinks_alone_still_has_a_clearest_head() -> None:
    weights = np.tile([1.0, 0.0], (2, 2, 2, 1))  # all stare at the first, but one
    weights[1, 0] = np.eye(2)
    assert clearest_head(weights, (".", "</s>"), (".", "</s>")) == (1, 0)


def test_facts_of_a_head_add_up() -> None:
    facts = head_facts(np.array([[0.5, 0.5], [0.0, 1.0]]), np.ones((2, 2), dtype=bool), ("▁a", "</s>"))
    assert facts == {"entropy": 0.5, "even": 1.0, "strongest": 0.75, "sinks": 0.75}


@pytest.mark.parametrize(
    ("token", "sink"), [("</s>", True), ("▁.", True), ("▁", True), (",", True), ("▁it", False), ("7", False)]
)
def test_sinks_are_control_tokens_and_punctuation(token: str, sink: bool) -> None:
    assert carries_no_word(token) == sink


def test_tokens_are_marked_by_kind_and_keep_ids_and_offsets() -> None:
    tokens = [Token(7, "▁Hi", 0, 2, "ordinary"), Token(200, "<0xF0>", 3, 4, "byte"), Token(1, "x", 4, 5, "unknown")]
    chips = source_strip(tokens)["chips"]
    assert [chip["kind"] for chip in chips] == ["ordinary", "byte", "unknown"]
    with speaking("de"):
        assert [chip["tag"] for chip in source_strip(tokens)["chips"]] == ["", "Byte", "unbekannt"]
    assert chips[0]["under"] == ["7", "1–2"]
    assert source_table(tokens, "Hi 🙂x")[1]["characters"] == "🙂"


def test_tokens_of_the_translation_have_their_probabilities() -> None:
    chips = target_strip(["▁Das", "</s>"], [9, 3], [0.25, 1.0])["chips"]
    assert [chip["share"] for chip in chips] == [0.25, 1.0]
    assert [chip["under"][0] for chip in chips] == ["25%", "100%"]
    assert chips[1]["kind"] == "control"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(
    ("scale", "text_on", "place"),
    [
        (weight_scale(), text_on_weight, lambda weight: weight),
        (signed_scale(), text_on_signed, lambda strength: 0.5 + strength / 2),
        (signed_scale(), text_on_signed, lambda strength: 0.5 - strength / 2),
    ],
)
def test_numbers_are_readable_on_every_colour_of_a_scale(
    dark: bool, scale: ColorScale, text_on: Callable[[float], str], place: Callable[[float], float]
) -> None:
    def luminance(color: tuple[float, ...]) -> float:
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def rgb(color: str) -> tuple[float, ...]:
        text = resolved(color, dark)
        return tuple(int(text[i : i + 2], 16) / 255 for i in (1, 3, 5))

    stops, colors = zip(*scale, strict=True)
    for value in np.linspace(0, 1, 101):
        cell = tuple(float(np.interp(place(value), stops, [rgb(c)[i] for c in colors])) for i in range(3))
        pair = sorted((luminance(cell), luminance(rgb(text_on(float(value))))))
        assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.38041, 4, "0.3804"), (762213.0, 4, "762,213"), (999999.6, 4, "1.000×10⁶"), (2208000.0, 4, "2.208×10⁶"),
        (-1021.4, 3, "−1,021"), (5.364e-7, 4, "5.364×10⁻⁷"), (2e-6, 1, "2×10⁻⁶"), (6.2832, 3, "6.28"), (0.0, 3, "0"),
        (-np.inf, 3, "−∞"), (64.0, 3, "64.0"), (9248.0, 2, "9,248"), (99.96, 3, "100"), (999.6, 3, "1,000"),
    ],
)  # fmt: skip
def test_a_number_is_written_in_one_way_on_every_page(value: float, digits: int, text: str) -> None:
    assert number(value, digits) == text


@pytest.mark.parametrize(("value", "text"), [(-1.3, "−1.30"), (-0.004, "0.00"), (-0.0, "0.00"), (12.346, "12.35")])
def test_a_minus_sign_is_not_a_hyphen_and_zero_has_no_sign(value: float, text: str) -> None:
    assert fixed(value, 2) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.88, "88%"), (0.031, "3.1%"), (0.0996, "10%"), (0.0004, "<0.1%"), (1.0, "100%")]
)
def test_the_percent_sign_follows_the_number_without_a_space(share: float, text: str) -> None:
    assert probability_text(share) == text


def test_a_matrix_scrolls_only_where_its_cells_would_not_hold_their_numbers() -> None:
    def width(rows: int, columns: int, row: str = "\N{LOWER ONE EIGHTH BLOCK}frisch") -> int:
        queries = TokenAxis("target", "decoder", (row,) * rows, (row,) * rows)
        return matrix_width(queries, TokenAxis("source", "encoder", ("a",) * columns))

    assert width(16, 19) < 870  # the main column of a window of 1280 px
    assert width(16, 20) == width(16, 19) + 30
    assert width(71, 29) < 870  # no numbers: the cells may be smaller
    assert width(16, 19, row="Donaudampfschiffahrt") > width(16, 19) + 200  # there are names on both sides

"""The figures draw the numbers they are given, and text stays text."""

import base64
import csv
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from app.figures.attention_lines import attention_lines
from app.figures.axes import TokenAxis, visible
from app.figures.head_sharpness import clarity, clearest_head, entropy, head_facts, is_sink
from app.figures.matrix import (
    NUMBERS_UP_TO,
    attention_matrix,
    matrix_alt,
    matrix_csv,
    matrix_table,
    matrix_width,
)
from app.figures.mosaic import LARGEST_TILE, head_mosaic, heads_table, mosaic_table, pooled
from app.figures.theme import (
    ColorScale,
    beyond_text,
    fixed,
    number,
    probability_text,
    resolved,
    signed_scale,
    text_on_signed,
    text_on_weight,
    weight_scale,
    weight_text,
)
from app.figures.token_strip import source_strip, source_table, target_strip
from tests.support.drawn import checked
from transformer.text.tokenizer import Piece

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


def test_names_of_columns_have_the_room_they_need_and_no_more() -> None:
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
    rows = list(csv.reader(io.StringIO(matrix_csv(weights, writer(3), reader(4)))))
    assert np.array_equal(np.array([[float(cell) for cell in row[1:]] for row in rows[1:]], dtype=np.float32), weights)
    assert rows[0][1:] == ["1 ▁e0", "2 ▁e1", "3 ▁e2", "4 ▁e3"]
    table: dict[str, Any] = matrix_table(weights, writer(3), reader(4))
    assert np.array_equal(np.stack([table[name] for name in rows[0][1:]], axis=1), weights)
    assert table["query"][0] == "1 reads ▁w0, predicts ▁w1"


def test_no_csv_cell_can_be_taken_for_a_formula() -> None:
    axis = TokenAxis("x", "encoder", ("=1+1", "@x", "-3"))
    for row in csv.reader(io.StringIO(matrix_csv(softmax((3, 3)), axis, axis))):
        assert not any(cell[0] in "=+-@" for cell in row)


def test_the_alt_text_says_where_each_row_looks_most() -> None:
    weights = np.array([[0.1, 0.9], [0.8, 0.2]], dtype=np.float32)
    text = matrix_alt(weights, writer(2), reader(2), "Layer 1, head 1")
    assert "1 reads ▁w0, predicts ▁w1: most on 2 ▁e1, 0.90" in text
    assert "2 reads ▁w1, predicts </s>: most on 1 ▁e0, 0.80" in text


def test_the_overview_holds_every_weight_of_every_head() -> None:
    weights = softmax((2, 3, 9, 14))
    wall = np.asarray(checked(head_mosaic(weights, layer=1, head=2)).data[0].z)
    cells = wall[~np.isnan(wall)]
    assert cells.size == weights.size
    gap_q, gap_k = (wall.shape[0] - 2 * 9), (wall.shape[1] - 3 * 14) // 2
    assert np.array_equal(wall[9 + gap_q :, 2 * (14 + gap_k) :], weights[1, 2])
    assert np.array_equal(wall[:9, 14 + gap_k : 28 + gap_k], weights[0, 1])


def test_the_table_of_all_heads_says_where_each_row_looks_most() -> None:
    weights = softmax((2, 3, 4, 5))
    queries, keys = writer(4), reader(5)
    table = mosaic_table(weights, queries, keys)
    assert {len(column) for column in table.values()} == {2 * 3 * 4}
    place = (1 * 3 + 2) * 4 + 3  # layer 2, head 3, row 4
    assert [table["layer"][place], table["head"][place], table["row"][place]] == [2, 3, queries.names[3]]
    assert table["attends most to"][place] == keys.names[int(weights[1, 2, 3].argmax())]
    assert table["weight"][place] == weights[1, 2, 3].max()


def test_the_table_of_all_weights_has_every_row_of_every_head() -> None:
    weights = softmax((2, 3, 4, 5))
    queries, keys = writer(4), reader(5)
    table = heads_table(weights, queries, keys, layers=[2, 5])
    place = (1 * 3 + 2) * 4 + 3  # the second of the layers, head 3, row 4
    assert [table["layer"][place], table["head"][place], table["query"][place]] == [6, 3, queries.names[3]]
    assert [table[name][place] for name in keys.names] == weights[1, 2, 3].tolist()
    assert {len(column) for column in table.values()} == {2 * 3 * 4}


def test_a_marker_over_each_tile_names_its_head() -> None:
    figure = checked(head_mosaic(softmax((2, 3, 4, 5)), layer=0, head=0))
    markers = figure.data[1]
    assert [tuple(pair) for pair in markers.customdata] == [(i, j) for i in range(2) for j in range(3)]
    frame = figure.layout.shapes[0]
    assert frame.x0 < markers.x[0] < frame.x1
    assert frame.y0 < markers.y[0] < frame.y1


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
    assert data["queries"]["tokens"] == ["▁w1", "▁w2", "</s>"]
    assert data["queries"]["reads"] == ["▁w0", "▁w1", "▁w2"]


def test_entropy_is_zero_for_one_token_and_log2_for_all_alike() -> None:
    assert entropy(np.array([[1.0, 0.0, 0.0, 0.0]]))[0] == 0
    assert entropy(np.full((1, 8), 0.125))[0] == pytest.approx(3.0)


def test_the_clearest_head_is_the_aligning_one_not_the_flat_the_sinking_or_the_staring_one() -> None:
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
def test_sinks_are_control_pieces_and_punctuation(token: str, sink: bool) -> None:
    assert is_sink(token) == sink


def test_pieces_are_marked_by_kind_and_keep_ids_and_offsets() -> None:
    pieces = [Piece(7, "▁Hi", 0, 2, "piece"), Piece(200, "<0xF0>", 3, 4, "byte"), Piece(1, "x", 4, 5, "unknown")]
    chips = source_strip(pieces)["chips"]
    assert [chip["kind"] for chip in chips] == ["piece", "byte", "unknown"]
    assert chips[0]["under"] == ["7", "0–1"]
    assert source_table(pieces, "Hi 🙂x")[1]["characters"] == "🙂"


def test_pieces_of_the_translation_carry_their_probabilities() -> None:
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
def test_a_minus_is_no_hyphen_and_nothing_is_minus_zero(value: float, text: str) -> None:
    assert fixed(value, 2) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "none of"), (1e-5, "less than 0.1% of"), (0.0031, "0.3% of"), (0.25, "25.0% of")]
)
def test_a_small_share_is_never_said_to_be_nothing(share: float, text: str) -> None:
    assert beyond_text(share) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.88, "88%"), (0.031, "3.1%"), (0.0996, "10%"), (0.0004, "<0.1%"), (1.0, "100%")]
)
def test_per_cent_stands_at_the_number(share: float, text: str) -> None:
    assert probability_text(share) == text


def test_a_matrix_scrolls_only_where_its_cells_would_not_hold_their_numbers() -> None:
    def width(rows: int, columns: int, row: str = "\N{LOWER ONE EIGHTH BLOCK}frisch") -> int:
        queries = TokenAxis("target", "decoder", (row,) * rows, (row,) * rows)
        return matrix_width(queries, TokenAxis("source", "encoder", ("a",) * columns))

    assert width(16, 19) < 870  # the main column of a window of 1280 px
    assert width(16, 20) == width(16, 19) + 30
    assert width(71, 29) < 870  # no numbers: the cells may be smaller
    assert width(16, 19, row="Donaudampfschiffahrt") > width(16, 19) + 200  # names stand on both sides

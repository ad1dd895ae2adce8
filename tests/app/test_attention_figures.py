"""What the Attention page computes from the weights: words, hidden tokens, numbers of heads, rollout, alignment."""

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.figures.attention_lines import attention_lines
from app.figures.axes import TokenAxis
from app.figures.head_numbers import head_numbers, head_roles
from app.figures.head_sharpness import carries_no_word, head_facts, is_control
from app.figures.matrix import attention_matrix, matrix_alt
from app.figures.pieces_to_words import merged, merged_mask, spelled, words_of
from app.figures.shown_weights import Options, shown
from app.figures.theme import BACKGROUND, head_color, head_is_dashed, resolved
from app.views.attention.head_ranking import COLUMNS, head_ranking, ranking_table
from app.views.attention.soft_alignment import links, pharaoh, word_alignment
from tests.support.drawn import checked
from transformer.analysis.rollout import decoder_rollout, mixed, rollout

PIECES = ("▁The", "▁an", "im", "al", "▁didn", "'", "t", "▁stop", ".", "</s>")
SOURCE = TokenAxis("English (source)", "encoder", PIECES)
READ = ("<s>", "▁Das", "▁Ti", "er", "▁hielt", "▁nicht", ".")
TARGET = TokenAxis("German (translation)", "decoder", READ, (*READ[1:], "</s>"))


def softmax(shape: tuple[int, ...], seed: int = 0, mask: np.ndarray | None = None) -> np.ndarray:
    scores = np.exp(2 * np.random.default_rng(seed).normal(size=shape))
    if mask is not None:
        scores = scores * mask
    return (scores / scores.sum(-1, keepdims=True)).astype(np.float32)


def causal(length: int) -> np.ndarray:
    return np.tril(np.ones((length, length), dtype=bool))


def test_a_fully_masked_row_is_marked_and_left_out_of_the_mean() -> None:
    weights = softmax((1, 1, 7, 7), mask=causal(7))
    hidden = shown(weights, causal(7), TokenAxis("German", "decoder", READ), TokenAxis("German", "decoder", READ),
                   Options(hide_special=True))  # fmt: skip
    seen = shown(weights, causal(7), TARGET, TokenAxis("German", "decoder", READ), Options("predicts", True))
    assert (hidden.emptied, seen.emptied) == (0, 1)  # the row that reads <s> attends to itself alone
    found = head_facts(seen.weights[0, 0], seen.mask, seen.keys.tokens)
    rest = head_facts(seen.weights[0, 0, 1:], seen.mask[1:], seen.keys.tokens)
    assert found == rest
    assert found["strongest"] >= 1 / 6
    assert f"{seen.queries.names[0]}: nowhere;" in matrix_alt(seen.weights[0, 0], seen.queries, seen.keys, "x")


# Words


def test_a_word_is_the_text_between_spaces_and_final_punctuation_is_a_word() -> None:
    found = [spelled([PIECES[i] for i in group]) for group in words_of(PIECES)]
    assert found == ["The", "animal", "didn't", "stop", ".", "</s>"]


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (("▁", "because"), ["because"]),
        (("▁", "<0xF0>", "<0x9F>", "<0x99>", "<0x82>", "</s>"), ["🙂", "</s>"]),
        (("<s>", "he", "llo"), ["<s>", "hello"]),
        (("▁...", "</s>"), ["...", "</s>"]),
        (("▁x", "!", "?", "▁y"), ["x", "!", "?", "y"]),
        (("<0xFF>",), ["\ufffd"]),
        (("▁",), ["▁"]),
    ],
)
def test_tokens_of_every_kind_are_merged_into_words(pieces: tuple[str, ...], words: list[str]) -> None:
    assert [spelled([pieces[i] for i in group]) for group in words_of(pieces)] == words


ANY_PIECE = st.sampled_from([*PIECES, "<s>", "▁", "<0xE2>", "▁.", ",", "🙂", "</script>"])


@given(st.lists(ANY_PIECE, min_size=1, max_size=12))
def test_every_token_belongs_to_one_word_and_order_is_kept(pieces: list[str]) -> None:
    groups = words_of(pieces)
    assert [i for group in groups for i in group] == list(range(len(pieces)))
    for group in groups:
        assert len(group) == 1 or not any(is_control(pieces[i]) for i in group)


def test_merging_averages_rows_and_sums_columns() -> None:
    weights = softmax((2, 7, 10))
    rows, columns = words_of(TARGET.predicts), words_of(PIECES)
    found = merged(weights, rows, columns)
    for head in range(2):
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                direct = sum(float(weights[head, q, k]) for q in row for k in column) / len(row)
                assert found[head, i, j] == pytest.approx(direct, abs=1e-6)
    assert found.sum(axis=-1) == pytest.approx(1, abs=1e-5)


def test_a_word_that_may_not_attend_to_any_token_of_a_word_is_masked_with_weight_0() -> None:
    mask = causal(7)
    weights = softmax((1, 7, 7), mask=mask)
    groups = words_of(READ)
    found, allowed = merged(weights, groups, groups), merged_mask(mask, groups, groups)
    assert not allowed.all()
    assert (found[0][~allowed] == 0).all()
    assert allowed[groups.index((2, 3)), groups.index((2, 3))]


# Hidden tokens, names of rows


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("naming", ["both", "reads", "predicts"])
def test_rows_sum_to_one_again_when_special_tokens_are_hidden(naming: str, words: bool) -> None:
    weights = softmax((2, 3, 7, 10))
    found = shown(weights, np.ones((7, 10), bool), TARGET, SOURCE, Options(naming, True, words))  # type: ignore[arg-type]
    assert found.weights.sum(axis=-1) == pytest.approx(1, abs=1e-5)
    assert not any(is_control(token) for token in found.keys.tokens)
    assert found.weights.shape[2:] == (len(found.queries), len(found.keys)) == found.mask.shape
    assert found.hidden_keys == ("</s>",)
    assert found.hidden_queries == (("<s>",) if naming == "reads" else ("</s>",))


def test_rows_without_hidden_tokens_sum_to_1_and_the_hidden_share_is_reported() -> None:
    weights = softmax((1, 2, 7, 10))
    found = shown(weights, np.ones((7, 10), bool), TARGET, SOURCE, Options(hide_special=True))
    for head in range(2):
        for q in range(6):
            rest = 1 - weights[0, head, q, 9]
            assert found.weights[0, head, q] == pytest.approx(weights[0, head, q, :9] / rest, abs=1e-5)
    assert found.hidden_share is not None
    assert found.hidden_share[0] == pytest.approx(weights[0, :, :6, 9].mean(axis=-1), abs=1e-5)
    assert "renormalised" in found.suffix


def test_a_row_that_may_attend_only_to_special_tokens_stays_empty() -> None:
    weights = softmax((1, 1, 7, 7), mask=causal(7))
    keys = TokenAxis("German, as read", "decoder", READ)
    for words in (False, True):
        found = shown(weights, causal(7), TARGET, keys, Options(hide_special=True, words=words))
        assert found.emptied == 1
        sums = found.weights[0, 0].sum(axis=-1)
        assert sums[0] == 0
        assert sums[1:] == pytest.approx(1, abs=1e-5)
        assert not found.mask[0].any()
        assert (found.weights[0, 0][~found.mask] == 0).all()


def test_a_sentence_of_special_tokens_alone_keeps_them() -> None:
    axis = TokenAxis("x", "encoder", ("</s>",))
    found = shown(np.ones((1, 1, 1, 1), np.float32), np.ones((1, 1), bool), axis, axis, Options(hide_special=True))
    assert found.weights.shape == (1, 1, 1, 1)
    assert "not hidden" in found.suffix


def test_a_row_is_called_by_what_it_reads_or_by_what_it_predicts() -> None:
    weights, mask = softmax((1, 1, 7, 10)), np.ones((7, 10), bool)
    reads = shown(weights, mask, TARGET, SOURCE, Options("reads"))
    predicts = shown(weights, mask, TARGET, SOURCE, Options("predicts"))
    assert reads.queries.tokens == READ
    assert predicts.queries.tokens == TARGET.predicts
    assert reads.queries.title.endswith(", as read")
    assert predicts.queries.title.endswith(", as predicted")
    assert np.array_equal(reads.weights, predicts.weights)
    by_words = shown(weights, mask, TARGET, SOURCE, Options("both", words=True))
    assert by_words.queries.tokens == ("Das", "Tier", "hielt", "nicht", ".", "</s>")
    assert by_words.row_of(2) == by_words.row_of(1) == 1  # rows 1 and 2 predict "▁Ti" and "er"
    assert shown(weights, mask, TARGET, SOURCE, Options("reads", words=True)).row_of(2) == 2


def test_without_options_the_weights_are_unchanged() -> None:
    weights = softmax((2, 3, 7, 10))
    found = shown(weights, np.ones((7, 10), bool), TARGET, SOURCE)
    assert found.weights is weights
    assert found.suffix == ""
    assert [found.row_of(i) for i in range(7)] == list(range(7))


# Numbers of heads


def test_the_alignment_of_a_head_is_the_share_of_tokens_that_are_the_strongest_of_a_row() -> None:
    keys = ("▁The", "▁cat", "▁sat", ".", "</s>")
    diagonal, stuck = np.eye(5)[:4], np.tile(np.eye(5)[1], (4, 1))  # (Q, K)
    found = head_numbers(np.stack([diagonal, stuck])[None], keys, itself=False)["aligned"]
    assert found[0].tolist() == pytest.approx([1, 1 / 3])
    assert np.isnan(head_numbers(np.ones((1, 1, 1, 1)), ("</s>",), itself=False)["aligned"]).all()
    assert np.isnan(head_numbers(np.ones((1, 1, 1, 1)), ("a",), itself=True)["aligned"]).all()


@pytest.mark.parametrize("itself", [True, False])
@pytest.mark.parametrize("length", [1, 2, 5])
def test_numbers_of_heads_are_what_their_definitions_say(itself: bool, length: int) -> None:
    columns = length if itself else length + 3
    weights = softmax((2, 3, length, columns), seed=length)
    keys = tuple(["▁a", ".", "▁b", "</s>", "▁c", ",", "▁d", "<s>"][:columns])
    found = head_numbers(weights, keys, itself)
    for i, j in np.ndindex(2, 3):
        rows = weights[i, j].astype(float)
        direct: dict[str, list[float]] = {column.name: [] for column in COLUMNS}
        for q, row in enumerate(rows):
            direct["strongest"].append(max(row))
            direct["entropy"].append(-sum(w * np.log2(w) for w in row if w > 0))
            place = q if itself else q * (columns - 1) / max(length - 1, 1)
            direct["distance"].append(sum(w * abs(k - place) for k, w in enumerate(row)))
            direct["sinks"].append(sum(w for w, key in zip(row, keys, strict=True) if carries_no_word(key)))
            if not itself:
                real = [k for k, key in enumerate(keys) if not carries_no_word(key)]
                direct["aligned"].append(float(np.mean([k in rows.argmax(axis=-1) for k in real])))
            if itself:
                direct["itself"].append(row[q])
                direct["previous"] += [row[q - 1]] if q > 0 else []
                direct["next"] += [row[q + 1]] if q < length - 1 else []
        for name, values in direct.items():
            if values:
                assert found[name][i, j] == pytest.approx(np.mean(values)), name
            else:
                assert np.isnan(found[name][i, j]), name


def test_a_head_with_one_pattern_has_the_number_of_that_pattern() -> None:
    staying, back = np.eye(5), np.eye(5, k=-1)
    back[0, 0] = 1
    found = head_numbers(np.stack([np.stack([staying, back])]), ("a", "b", "c", "d", "</s>"), itself=True)
    assert found["itself"][0].tolist() == [1, 0.2]
    assert found["previous"][0].tolist() == [0, 1]
    assert found["distance"][0] == pytest.approx([0, 0.8])
    assert found["entropy"][0].tolist() == [0, 0]
    assert found["sinks"][0] == pytest.approx([0.2, 0])


def test_the_job_of_a_head_is_where_most_of_its_weight_is() -> None:
    before, spread = np.eye(4, k=-1) * 0.8 + 0.05, np.full((4, 4), 0.25)
    resting, one = np.tile([0.1, 0.0, 0.0, 0.9], (4, 1)), np.tile([0.2, 0.7, 0.0, 0.1], (4, 1))
    found = head_roles(np.stack([before, spread, resting, one])[None], ("a", "▁b", "c", "</s>"), itself=True)
    assert found == [
        [
            "64% of its weight is on the token before",  # the first row has none
            "the strongest weight of a row is 25% on average",
            "90% of its weight is on special tokens and punctuation",
            "70% of its weight is on “b”",
        ]
    ]


def test_the_table_of_heads_leaves_out_columns_without_information_and_has_no_nan() -> None:
    data = head_ranking(head_numbers(softmax((2, 3, 4, 6)), PIECES[:6], itself=False), 1, 2, "x")
    assert [column["title"] for column in data["columns"]] == ["strongest", "entropy", "distance", "sinks", "aligned"]
    assert data["chosen"] == 5
    assert [(row["layer"], row["head"]) for row in data["rows"]] == [(i, j) for i in (1, 2) for j in (1, 2, 3)]
    assert all(np.isfinite(value) for row in data["rows"] for value in row["values"])


def test_the_table_of_numbers_has_a_row_for_each_head() -> None:
    numbers = head_numbers(softmax((2, 3, 4, 4)), PIECES[:4], itself=True)
    table = ranking_table(numbers)
    assert (table["layer"][4], table["head"][4], table["entropy"][4]) == (2, 2, numbers["entropy"][1, 1])


# Rollout


def test_rollout_is_the_product_through_the_layers() -> None:
    weights = softmax((3, 4, 6, 6))
    found = rollout(weights)
    layers = [0.5 * weight.astype(float).mean(axis=0) + 0.5 * np.eye(6) for weight in weights]
    assert found[0] == pytest.approx(layers[0], abs=1e-6)
    assert found[2] == pytest.approx(layers[2] @ layers[1] @ layers[0], abs=1e-6)
    assert found.sum(axis=-1) == pytest.approx(1)


def test_nothing_reaches_a_row_of_the_decoder_from_later_tokens() -> None:
    found = rollout(softmax((3, 2, 6, 6), mask=causal(6)))
    assert (found[:, ~causal(6)] == 0).all()


def test_the_rollout_of_the_decoder_is_one_large_product_over_target_and_source() -> None:
    own, cross = softmax((2, 3, 5, 5), 1, causal(5)), softmax((2, 3, 5, 4), 2)
    encoder = rollout(softmax((2, 3, 4, 4), 3))[-1]
    read, source = decoder_rollout(own, cross, encoder)
    # The same with one state of T + S positions, of which the last S are the encoder's output and do not change.
    state = np.block([[np.eye(5), np.zeros((5, 4))], [np.zeros((4, 5)), encoder]])
    for layer in range(2):
        step = np.block([[mixed(own[layer]), np.zeros((5, 4))], [np.zeros((4, 5)), np.eye(4)]])
        looked = 0.5 * cross[layer].astype(float).mean(axis=0)
        look = np.block([[0.5 * np.eye(5), looked], [np.zeros((4, 5)), np.eye(4)]])
        state = look @ step @ state
        assert read[layer] == pytest.approx(state[:5, :5], abs=1e-6)
        assert source[layer] == pytest.approx(state[:5, 5:], abs=1e-6)
        assert read[layer].sum(axis=-1) + source[layer].sum(axis=-1) == pytest.approx(1, abs=1e-6)
    assert (read[:, ~causal(5)] == 0).all()


# Alignment


def test_an_alignment_averages_heads_and_takes_the_rows_that_predict_a_word() -> None:
    weights = softmax((3, 7, 10))
    mean = weights.mean(axis=0)
    found = word_alignment(weights, PIECES, TARGET.predicts)
    assert found.source == ("The", "animal", "didn't", "stop", ".")
    assert found.target == ("Das", "Tier", "hielt", "nicht", ".")
    # "Tier" is predicted by rows 1 and 2; "animal" are columns 1 to 3.
    assert found.weights[1, 1] == pytest.approx(mean[1:3, 1:4].sum(axis=-1).mean(), abs=1e-6)
    later = word_alignment(weights, PIECES, TARGET.predicts, "reads")
    assert later.weights[1, 1] == pytest.approx(mean[2:4, 1:4].sum(axis=-1).mean(), abs=1e-6)
    assert later.without_row == ()


def test_a_word_that_no_row_reads_has_no_links() -> None:
    cut_off = ("▁Das", "▁Ti", "er", "▁hielt")
    found = word_alignment(softmax((1, 4, 10)), PIECES, cut_off, "reads")
    assert found.without_row == ("hielt",)
    assert (found.weights[2] == 0).all()
    assert found.weights[:2].sum() > 0


def test_links_reach_the_threshold_and_are_written_in_pharaoh_format() -> None:
    weights = np.array([[0.9, 0.1, 0.0], [0.3, 0.3, 0.4], [0.0, 0.0, 0.2999]], np.float32)
    assert links(weights, 0.3) == [(0, 0), (0, 1), (1, 1), (2, 1)]
    assert pharaoh(links(weights, 0.3)) == "0-0 0-1 1-1 2-1"
    assert pharaoh([]) == ""


def test_a_side_without_words_aligns_with_nothing() -> None:
    found = word_alignment(softmax((1, 1, 2)), ("▁a", "</s>"), ("</s>",))
    assert found.target == ()
    assert links(found.weights, 0.1) == []
    assert word_alignment(softmax((1, 1, 1)), ("</s>",), ("▁a",)).weights.shape == (1, 0)


# Pictures


def test_lines_of_several_heads_carry_every_weight_of_the_layer() -> None:
    weights = softmax((10, 7, 10))
    data = attention_lines(weights, TARGET, SOURCE, title="t", alt="a", head=2, row=3)
    sent = np.frombuffer(base64.b64decode(data["weights"]), "<f4").reshape(data["shape"])
    assert np.array_equal(sent, weights)
    assert (data["chosen"], data["row"], len(data["heads"])) == (2, 3, 10)
    assert [head["dashed"] for head in data["heads"]] == [False] * 8 + [True] * 2
    with pytest.raises(ValueError, match="7 queries"):
        attention_lines(weights, TARGET, SOURCE, title="t", alt="a")


def test_the_isolated_row_is_framed_in_the_matrix() -> None:
    frame = checked(attention_matrix(softmax((7, 10)), TARGET, SOURCE, title="t", row=4)).layout.shapes[0]
    assert (frame.y0, frame.y1, frame.x0, frame.x1) == (3.5, 4.5, -0.5, 9.5)


# Machado, Oliveira and Fernandes (2009), full deficiency; linear RGB.
DEFICIENCIES = {
    "none": np.eye(3),
    "protan": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "deutan": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "tritan": np.array([[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
}


def linear(color: str) -> np.ndarray:
    rgb = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.asarray(np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4))


def lab(rgb: np.ndarray) -> np.ndarray:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ np.clip(rgb, 0, 1) / np.array([0.9505, 1, 1.089])
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_head_colours_are_distinguishable_with_colour_deficiencies(deficiency: str, dark: bool) -> None:
    colors = [linear(resolved(head_color(head), dark)) for head in range(8)]
    seen = [lab(DEFICIENCIES[deficiency] @ color) for color in colors]
    for i, one in enumerate(seen):
        for other in seen[:i]:
            assert np.linalg.norm(one - other) > 20  # ten times what the eye can tell side by side
    assert head_color(8) == head_color(0)
    assert head_is_dashed(8)
    assert not head_is_dashed(7)
    if deficiency == "none":
        luminance = [float(color @ [0.2126, 0.7152, 0.0722]) for color in colors]
        page = float(linear(resolved(BACKGROUND, dark)) @ [0.2126, 0.7152, 0.0722])
        for light in luminance:
            assert (max(light, page) + 0.05) / (min(light, page) + 0.05) >= 3


def test_the_rollout_of_a_fully_masked_row_is_that_of_the_residual_connection() -> None:
    """Encoder-decoder attention adds nothing to the row, so the row is the same before and after it."""
    own, cross = np.tril(np.ones((2, 1, 3, 3))), np.full((2, 1, 3, 2), 0.5)
    own /= own.sum(axis=-1, keepdims=True)
    cross[1, 0, 2] = 0.0  # as if an edit forbade both keys
    read, source = decoder_rollout(own, cross, np.eye(2))
    np.testing.assert_allclose(read.sum(axis=-1) + source.sum(axis=-1), 1.0, atol=1e-12)
    np.testing.assert_allclose(read[1, 2], (mixed(own[1]) @ read[0])[2], atol=1e-12)

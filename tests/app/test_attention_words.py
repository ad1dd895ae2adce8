"""Which rows and columns the Attention page shows: tokens merged into words, hidden special tokens, names of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.figures.axes import TokenAxis
from app.figures.head_sharpness import head_facts, is_control
from app.figures.matrix import matrix_alt
from app.figures.shown_weights import Options, shown
from app.figures.tokens_to_words import merged, merged_mask, spelled, words_of
from tests.support.small_attention import PIECES, READ, SOURCE, TARGET, causal, softmax


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
    assert f"{seen.queries.names[0]}: all weights are 0;" in matrix_alt(
        seen.weights[0, 0], seen.queries, seen.keys, "x"
    )


def test_a_word_is_the_text_between_spaces_and_final_punctuation_is_a_word() -> None:
    found = [spelled([PIECES[i] for i in group]) for group in words_of(PIECES)]
    assert found == ["The", "animal", "didn't", "stop", ".", "</s>"]


@pytest.mark.parametrize(
    ("tokens", "words"),
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
def test_tokens_of_every_kind_are_merged_into_words(tokens: tuple[str, ...], words: list[str]) -> None:
    assert [spelled([tokens[i] for i in group]) for group in words_of(tokens)] == words


ANY_PIECE = st.sampled_from([*PIECES, "<s>", "▁", "<0xE2>", "▁.", ",", "🙂", "</script>"])


@given(st.lists(ANY_PIECE, min_size=1, max_size=12))
def test_every_token_belongs_to_one_word_and_order_is_kept(tokens: list[str]) -> None:
    groups = words_of(tokens)
    assert [i for group in groups for i in group] == list(range(len(tokens)))
    for group in groups:
        assert len(group) == 1 or not any(is_control(tokens[i]) for i in group)


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

"""A soft alignment of words from encoder-decoder attention, and its links in Pharaoh format."""

import numpy as np
import pytest

from app.views.attention.soft_alignment import links, pharaoh, word_alignment
from tests.support.small_attention import PIECES, TARGET, softmax


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

"""The heatmap of the logit lens: ranks of the chosen tokens after each layer, as colours, texts and a table."""

import numpy as np
import pytest

from app.views.decoding.lens_figures import LensResult, closeness, lens_alt, lens_heatmap, lens_table, rank_text
from tests.support.decoding_figures import HOSTILE, writer
from tests.support.drawn import checked


def seen() -> LensResult:
    ranks = np.array([[100, 50], [3, 1], [1, 1]])
    probabilities = np.array([[0.001, 0.002], [0.2, 0.5], [0.6, 0.9]])
    tops = [["▁u", HOSTILE], ["▁v", "▁y"], ["▁x", "▁y"]]
    return LensResult(
        ranks, probabilities, tops, np.array([[0.3, 0.4], [0.5, 0.5], [0.6, 0.9]]), writer("▁x", "▁y"), 100
    )


def test_the_heatmap_is_coloured_by_the_logarithm_of_the_rank() -> None:
    assert closeness(np.array([1, 10, 100]), 100) == pytest.approx([1, 0.5, 0])
    figure = checked(lens_heatmap(seen(), step=1, title="t"))
    assert np.asarray(figure.data[0].z) == pytest.approx(closeness(seen().ranks, 100))
    assert list(figure.data[1].text) == ["100", "50", "3", "1", "1", "1"]
    assert list(figure.layout.yaxis.ticktext) == ["input", "layer 1", "layer 2"]
    assert figure.data[0].meta == {"clicks": True}
    assert (figure.layout.shapes[0].x0, figure.layout.shapes[0].x1) == (0.5, 1.5)


def test_the_cells_may_name_the_most_probable_token_letter_by_letter() -> None:
    figure = checked(lens_heatmap(seen(), step=0, title="t", show_tokens=True))
    assert "&lt;/script" in figure.data[1].text[1]
    assert "<script" not in str(figure.data[0].text)


def test_a_long_heatmap_has_no_lines_between_cells_and_fewer_names() -> None:
    n = 100
    many = LensResult(
        np.ones((3, n)), np.ones((3, n)), [["▁lang"] * n] * 3, np.ones((3, n)), writer(*["▁lang"] * n), 100
    )
    figure = checked(lens_heatmap(many, step=0, title="t"))
    assert figure.data[0].xgap == 0
    assert list(figure.layout.xaxis.tickvals) == list(range(0, n, 2))


def test_tokens_are_cut_to_their_cells() -> None:
    n = 20
    wide = LensResult(np.ones((1, n)), np.ones((1, n)), [["▁gewohnt"] * n], np.ones((1, n)), writer(*["▁x"] * n), 100)
    assert set(checked(lens_heatmap(wide, step=0, title="t", show_tokens=True)).data[1].text) == {"gewo…"}


def test_the_text_of_the_lens_says_from_which_layer_on_a_token_is_ranked_first() -> None:
    assert "1 reads <s>, predicts ▁x: leads from layer 2 on" in lens_alt(seen(), "t")
    assert "predicts ▁y: leads from layer 1 on" in lens_alt(seen(), "t")
    assert list(lens_table(seen())["rank"])[3:] == [50, 1, 1]
    assert len(lens_table(seen())["rank"]) == 6


@pytest.mark.parametrize(("rank", "text"), [(1, "1"), (999, "999"), (3140, "3k"), (15_999, "16k")])
def test_ranks_fit_their_cells(rank: int, text: str) -> None:
    assert rank_text(rank) == text

"""What the page Residual stream computes and draws from any stream: sums, shares, cosines, colours and tables."""

from dataclasses import replace

import numpy as np
import pytest

from app.figures.axes import TokenAxis
from app.views.residual.flow import flow, largest_difference, vectors
from app.views.residual.stream import Stream, cosines, relative, shares, sub_layers
from app.views.residual.stream_charts import HIGHEST, added_heatmap, stream_table
from tests.support.drawn import checked
from tests.support.residual_page import colors_after

NOWHERE = np.zeros((3, 3), dtype=bool)  # no edit replaces a vector


def test_a_sum_that_is_wrong_shows_as_a_difference() -> None:
    subs, vectors_of = sub_layers("encoder", 1), np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
    before = np.stack([vectors_of[0], vectors_of[0] + vectors_of[0]])
    every = Stream(
        subs, before, vectors_of, before + vectors_of, before, before, before[0], (True, True), NOWHERE[:, :3]
    )
    assert largest_difference(every.of(1), pre_norm=True) == pytest.approx(0, abs=1e-6)
    wrong = replace(every, added=vectors_of * 2)
    for pre_norm in (True, False):
        assert largest_difference(wrong.of(1), pre_norm=pre_norm) > 0.1
    assert vectors(every, pre_norm=True).shape == (3, 3, 4)


def test_the_colours_of_a_stream_of_zeros_are_the_middle() -> None:
    zeros = np.zeros((2, 1, 4), np.float32)
    every = Stream(sub_layers("encoder", 1), zeros, zeros, zeros, zeros, zeros, zeros[0], (True, True), NOWHERE[:, :1])
    tokens = TokenAxis("English", "encoder", ("a",))
    sent = flow({"encoder": (every, tokens)}, {}, pre_norm=True, starts={})["stacks"]["encoder"]
    assert set(colors_after(sent).ravel()) <= {127, 128}
    assert set(sent["toLast"].ravel()) == {90.0}


def test_shares_ratios_and_cosines_by_hand() -> None:
    assert shares(np.array([[3.0, 0.0], [0.0, 4.0]])) == pytest.approx([9 / 25, 16 / 25])
    assert shares(np.array([[2.0, 0.0], [-1.0, 0.0]])) == pytest.approx([2, -1])
    assert cosines(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[1.0, 1.0], [1.0, 1.0]])) == pytest.approx(
        [0.5**0.5, 0]
    )
    before, added = np.array([[[3.0, 4.0], [0.0, 0.0]]]), np.array([[[0.0, 10.0], [1.0, 1.0]]])  # (U=1, R=2, D=2)
    every = Stream(
        sub_layers("encoder", 1)[:1], before, added, added, added, added, before[0], (True,), NOWHERE[:2, :2]
    )
    assert relative(every).tolist() == [[2.0], [0.0]]  # nothing is longer than no stream at all


def test_many_tokens_are_drawn_without_numbers_and_tables_have_them_all() -> None:
    subs = sub_layers("decoder", 2)
    rows = TokenAxis("German", "decoder", ("<b>x",) * 60, ("y",) * 60)
    ratios = np.random.default_rng(0).random((60, len(subs)))
    figure = checked(added_heatmap(ratios, rows, subs, row=59, title="t"))
    assert [trace.type for trace in figure.data] == ["heatmap"]
    assert "<b>" not in figure.layout.yaxis.ticktext[0]
    many = TokenAxis("German (translation)", "decoder", ("x",) * 160, ("y",) * 160)
    tall = checked(added_heatmap(np.resize(ratios, (160, len(subs))), many, subs, row=0, title="t"))
    assert tall.layout.height <= HIGHEST + 190
    few = TokenAxis("German", "decoder", ("x",) * 3, ("y",) * 3)
    name = TokenAxis("German (translation)", "decoder", ("x",) * 3, ("y",) * 3)
    folded = checked(added_heatmap(ratios[:3], name, subs, row=0, title="t")).layout.yaxis.title.text
    assert folded == "German<br>(translation),<br>reads"  # beside three rows
    digits = checked(added_heatmap(ratios[:3], few, subs, row=0, title="t")).data[1]
    assert digits.meta["columns"] == len(subs)  # so that the browser leaves out what has no room
    values = np.random.default_rng(1).random((len(subs), 8))
    every = Stream(subs, values, values, 2 * values, values, values, values[0], (True,) * len(subs), NOWHERE[:, 0])
    table = stream_table(every)
    assert list(table["sub-layer"])[:3] == ["1 self-attention", "1 encoder-decoder", "1 feed-forward"]
    assert np.allclose(table["cosine of x and what is added"], 1)

"""The NumPy snippet of the page Query, key, value: it runs with any tokens, and prints the numbers of the page."""

from typing import Any

import numpy as np
import pytest

from app.figures.attention_stages import plain
from app.figures.axes import TokenAxis
from app.views.hand.arithmetic import ByHand
from app.views.hand.latex import Writing
from app.views.hand.numpy_snippet import numpy_snippet
from tests.support.drawn import written
from tests.support.head_by_hand import HOSTILE, axis, case, printed


def test_a_fully_masked_query_has_weights_of_zero_and_a_snippet_that_runs() -> None:
    hand, _ = case()
    blind = ByHand(hand.query, hand.keys, hand.values, np.zeros_like(hand.mask), 1)
    assert (blind.weights == 0).all()
    assert (blind.context == 0).all()
    Writing(blind, 0).softmax()
    Writing(blind, 0).context(0)
    assert printed(numpy_snippet(blind, axis(4), axis(6), query=0, title="t"))["weight"] == "0"


@pytest.mark.parametrize("scale", [1e-4, 1.0, 2.6, 12.0])  # the last has its largest score subtracted
@pytest.mark.parametrize("d_k", [1, 8, 64])
def test_the_snippet_prints_the_numbers_of_the_page(d_k: int, scale: float) -> None:
    hand, (tensors, row) = case(d_k=d_k, scale=scale)
    for chosen in (1, int(np.argmin(np.where(hand.mask, hand.weights, 2)))):  # of the second the weight may be tiny
        this = ByHand(hand.query, hand.keys, hand.values, hand.mask, chosen)
        found = printed(numpy_snippet(this, axis(4, "decoder"), axis(6), query=row, title="Layer 1, head 1"))
        page = {
            "q·k": this.products[chosen],
            "score": this.scores[chosen],
            "masked": this.masked_scores[chosen],
            "e^(score - largest)" if this.subtracted else "e^score": this.exponentials[chosen],
            "sum": this.total,
            "weight": this.weights[chosen],
        }
        assert list(found) == [*page, "context"]
        for name, value in page.items():
            assert float(found[name].replace(",", "")) == pytest.approx(written(plain(value)), rel=1e-9, abs=0), name
        for name, site in (("q·k", "products"), ("score", "scores"), ("weight", "weights")):
            tensor = float(tensors[site][row, chosen])
            assert float(found[name].replace(",", "")) == pytest.approx(tensor, rel=1e-3, abs=6e-5)


def test_the_snippet_prints_four_digits_of_a_tiny_weight_as_the_page_does() -> None:
    one = np.ones(1, np.float32)
    hand = ByHand(one, np.array([[11.0], [-0.3]], np.float32), np.ones((2, 1), np.float32), np.ones(2, bool), 1)
    assert plain(hand.weights[1]) == "1.237×10⁻⁵"
    found = printed(numpy_snippet(hand, axis(1), axis(2), query=0, title="t"))
    assert (found["weight"], found["sum"]) == ("1.237e-05", "59,875")


def test_the_numbers_of_the_snippet_are_the_tensors_bit_for_bit() -> None:
    hand, _ = case(d_k=16)
    tiny = ByHand(hand.query * np.float32(1e-30), hand.keys * np.float32(3e7), hand.values, hand.mask, 1)
    names: dict[str, Any] = {}
    source = numpy_snippet(tiny, axis(4), axis(6), query=0, title="t").split("q, K, V = (")[0]
    exec(compile(source, "snippet", "exec"), names)
    for name, values in (("q", tiny.query), ("K", tiny.keys), ("V", tiny.values)):
        assert names[name].dtype == np.float32
        assert names[name].tobytes() == values.tobytes()
    assert names["mask"].tolist() == tiny.mask.tolist()


@pytest.mark.parametrize("token", HOSTILE)
def test_hostile_tokens_stay_in_their_comments(token: str) -> None:
    hand, (_, row) = case()
    axes = TokenAxis("Q", "decoder", (token,) * 4, (token,) * 4), TokenAxis("K", "encoder", (token,) * 6)
    snippet = numpy_snippet(hand, *axes, query=row, title="t")
    clean = numpy_snippet(hand, TokenAxis("Q", "decoder", ("a",) * 4, ("a",) * 4), axis(6), query=row, title="t")
    assert len(snippet.splitlines()) == len(clean.splitlines())
    strip = [line for line in snippet.splitlines() if not line.startswith("#")]
    assert strip == [line for line in clean.splitlines() if not line.startswith("#")]
    assert float(printed(snippet)["weight"]) == written(plain(hand.weights[1]))

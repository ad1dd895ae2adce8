"""The types of layers of table 1: the path between two tokens, and their times on this machine."""

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.compute.layer_times import KERNEL, LENGTHS, layer_times
from app.views.scaling.layer_times_chart import times_chart, times_table
from app.views.scaling.layer_types import NEIGHBOURS, path_lengths
from tests.support.drawn import charts, page_text


def layers_until_reached(distance: int, reach: Callable[[int], int]) -> int:
    """How many layers it takes, if layer m passes on what is at most `reach(m)` positions away: counted one by one."""
    reached, layers = 0, 0
    while reached < distance:
        layers += 1
        reached += reach(layers)
    return layers


@pytest.mark.parametrize("distance", [0, 1, 2, 3, 4, 5, 8, 13, 14, 40, 41, 121])
def test_a_path_is_as_long_as_counting_layer_by_layer(distance: int) -> None:
    assert path_lengths(distance) == {
        "recurrent": distance,
        "convolution": layers_until_reached(distance, lambda _: KERNEL // 2),
        "dilated": layers_until_reached(distance, lambda layer: KERNEL // 2 * KERNEL ** (layer - 1)),
        "restricted": layers_until_reached(distance, lambda _: NEIGHBOURS),
    }


def test_each_type_of_layer_is_measured_at_each_length() -> None:
    times = layer_times(16, 2)
    assert set(times) == {"attention", "recurrent", "convolution"}
    assert all(len(seconds) == len(LENGTHS) and min(seconds) > 0 for seconds in times.values())
    drawn = times_chart(times, title="")
    for line, seconds in zip(drawn.data, times.values(), strict=True):
        np.testing.assert_array_equal(line["x"], LENGTHS)
        np.testing.assert_allclose(line["y"], 1000 * np.array(seconds), rtol=1e-6)
    table = times_table(times)
    assert table["n: tokens"] == list(LENGTHS)
    assert table["self-attention, ms"] == [1000 * each for each in times["attention"]]


def test_the_page_names_the_path_between_the_chosen_words(open_app: Callable[..., AppTest]) -> None:
    app = open_app("scaling", sentence="the cat sat on the mat", details="true", s="2", k="5")
    assert (
        "distance 3: 1 step with self-attention, 3 with an RNN. Layers that it takes: 3 with convolutions"
        in page_text(app)
    )
    assert any("milliseconds" in str(chart["layout"]) for chart in charts(app))
    same = open_app("scaling", sentence="the cat sat on the mat", details="true", s="2", k="2")
    assert "twice: choose two different tokens." in page_text(same)

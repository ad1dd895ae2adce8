"""Two outputs token by token: how their sums grow."""

import numpy as np
import pytest

from app.figures.tables import columns_csv
from app.figures.theme import fixed
from app.views.decoding.diverging_translations import running_chart, running_table
from tests.support.drawn import checked


@pytest.mark.parametrize("at", [0, 1, 2])
def test_the_lines_are_the_sums_and_begin_at_the_last_step_that_both_share(at: int) -> None:
    values = [[-0.5, -1.0, -0.25], [-0.5, -2.0, -0.125, -0.5]]
    figure = running_chart(values, [["a", "b", "c"], ["a", "<b>", "d", "e"]], ("greedy", "beam"), at, title="t")
    for line, each in zip(checked(figure).data, values, strict=True):
        begin = max(at - 1, 0)
        assert np.allclose(line.y, np.cumsum(each)[begin:])
        assert list(line.x) == list(range(begin + 1, len(each) + 1))
        assert line.text[-1] == fixed(sum(each), 2)
    assert "<b>" not in str(figure.data[1]["customdata"])
    assert figure.layout["shapes"][0]["x0"] == at + 1


def test_the_table_of_two_outputs_leaves_empty_what_the_shorter_has_not() -> None:
    table = running_table([[-0.5], [-0.5, -2.0]], [["a"], ["a", "b"]], ("greedy", "beam"))
    assert list(table["greedy: sum"]) == [-0.5, None]
    assert list(table["beam: sum"]) == [-0.5, -2.5]
    assert len(columns_csv(table).splitlines()) == 3
    assert "None" not in columns_csv({"sum": [1.5, None]})

"""The lines of the length penalty: hypotheses ranked by score for each alpha."""

import numpy as np

from app.views.decoding.penalty_chart import letters, penalty_alt, penalty_lines, worth_showing
from tests.support.drawn import checked


def test_hypotheses_are_ranked_by_score_and_the_winner_is_labelled() -> None:
    scores = np.array([[-1.0, -3.0], [-2.0, -2.0]])  # the first wins at alpha 0, the second at 1
    for at, winner in ((0, "A"), (1, "B")):
        figure = checked(penalty_lines(scores, [0.0, 1.0], ["A", "B"], at, title="t"))
        lines = {trace.hovertemplate[0]: list(trace.y) for trace in figure.data if trace.mode == "lines"}
        assert lines == {"A": [1, 2], "B": [2, 1]}
        labels = [
            text for trace in figure.data if trace.mode == "markers+text" for text in trace.text if "is best" in text
        ]
        assert len(labels) == 1
        assert labels[0].strip().startswith(winner)
        (side,) = [t.textposition[1] for t in figure.data if t.mode == "markers+text" and "is best" in t.text[1]]
        assert side == ("top right" if at == 0 else "top left")  # beside the line that marks α, not across it
    assert penalty_alt(scores[:, 1], ["A", "B"], "t") == "t: B −2.000, A −3.000."


def test_all_that_win_somewhere_are_shown() -> None:
    scores = np.array([[-1.0, -9.0], [-2.0, -8.0], [-3.0, -7.0], [-4.0, -1.0]])
    assert worth_showing([scores], 2) == [0, 3]
    assert worth_showing([scores], 3) == [0, 1, 3]
    assert worth_showing([scores, scores], 99) == [0, 1, 2, 3]


def test_there_is_a_name_for_every_hypothesis() -> None:
    assert len(set(letters(60))) == 60

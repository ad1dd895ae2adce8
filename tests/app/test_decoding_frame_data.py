"""What the frame of the Decoding page is given: the tokens of a step, its hypotheses, and the list at the end."""

import numpy as np
import pytest

from app.figures.softmax import softmax
from app.figures.two_percents import percent
from app.views.decoding.frame_data import Step, beams_data, end_data, step_data
from tests.support.decoding_figures import LOGITS, TREE, token_of
from transformer.decoding.translation import SearchNode


@pytest.mark.parametrize(
    ("probability", "text"),
    [(1, ">99.99%"), (0.99996, ">99.99%"), (0.9997, "99.97%"), (0.9994, "99.9%"), (0.511, "51.1%"), (0.1, "10.0%"),
     (0.0314, "3.14%"), (0.001, "0.10%"), (0.00099, "0.099%"), (0.00001, "0.001%"), (0.000009, "<0.001%"),
     (0, "<0.001%")],
)  # fmt: skip
def test_percentages_have_enough_digits_to_distinguish_tokens(probability: float, text: str) -> None:
    assert percent(probability) == text


def test_what_is_shown_of_a_step_sums_to_1() -> None:
    logits = np.random.default_rng(0).normal(size=40).astype(np.float32)
    worst = int(logits.argmin())
    data = step_data(Step(logits, worst, "Because."), token_of)
    p = softmax(logits)
    for count in (5, 9):
        shown = data["rows"][:count]
        if not any(row["chosen"] for row in shown):  # as the browser does
            shown[-1] = next(row for row in data["rows"] if row["chosen"])
        assert sum(row["p"] for row in shown) + data["rest"][str(count)]["p"] == pytest.approx(1)
        assert data["rest"][str(count)]["text"] == f"{40 - count} others"
    assert data["rows"][-1]["p"] == pytest.approx(p[worst])
    assert data["rows"][-1]["mark"] == "#40"


def test_a_token_of_another_hypothesis_is_marked_and_one_that_cannot_be_written_cannot_be_clicked() -> None:
    logits = np.array([5.0, 0, 0, 1, 4, 3], dtype=np.float32)
    data = step_data(Step(logits, 4, "Because.", others={4, 5}), token_of, other_mark="kept")
    marks = {row["id"]: row["mark"] for row in data["rows"]}
    assert marks == {0: "never", 1: "never", 2: "never", 3: "", 4: "chosen", 5: "kept"}
    assert [row["id"] for row in data["rows"] if row["never"]] == [0, 1, 2]
    assert "Click to continue" in next(row["title"] for row in data["rows"] if row["id"] == 3)


def test_a_token_that_sampling_leaves_out_has_no_share() -> None:
    allowed = np.array([False, False, False, True, True, False])
    data = step_data(Step(LOGITS, 4, "Because.", allowed=allowed), token_of, temperature=0.5)
    rows = {row["id"]: row for row in data["rows"]}
    assert rows[5]["mark"] == "left out"
    assert rows[5]["share"] == 0
    assert rows[3]["share"] + rows[4]["share"] == pytest.approx(1)
    p = softmax(LOGITS, temperature=0.5)
    assert rows[4]["number"] == f"{percent(p[4])} → {percent(p[4] / (p[3] + p[4]))}"


def test_the_hypotheses_of_a_step_are_the_kept_ones_best_first() -> None:
    data = beams_data(TREE, {0, 1, 3}, 2, "t", 4)
    names = [[data["nodes"][place]["text"] for place in places] for places in data["alive"]]
    assert names == [["▁a"], ["</s>"]]
    assert data["nodes"][data["alive"][1][0]]["ended"]
    assert all(node["best"] for node in data["nodes"])


def test_at_the_end_the_finished_hypotheses_are_first_by_score_also_those_of_earlier_steps() -> None:
    tree = [
        *TREE,
        SearchNode(5, 1, 2, 8, "▁c", -0.6, -1.1, -1.0, "kept", "Because."),
        SearchNode(6, 5, 3, 3, "</s>", -0.1, -1.2, -0.4, "finished", "Because."),  # a better score, a worse sum
        SearchNode(7, 5, 3, 9, "▁d", -0.2, -1.3, -1.1, "stopped", "Because."),
    ]
    nodes = beams_data(tree, {0, 1, 5, 6}, 3, "t", 4)["nodes"]
    listed = end_data(tree, 4)
    assert [each["number"] for each in listed] == [
        "finished, score −0.400",
        "finished, score −0.450",
        "unfinished, sum −1.30",
    ]
    assert [nodes[each["node"]]["sum"] for each in listed] == ["−1.20", "−0.50", "−1.30"]
    assert len(end_data(tree, 2)) == 2
    assert end_data(TREE[:3], 4) == []

"""The Decoding page has the length penalty of the search, and ranks the finished hypotheses with another one."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from app.views.decoding import penalty_section
from tests.support.decoding_page import PARTS, SHIPPED, Open, healthy, searched
from tests.support.drawn import charts, page_text
from transformer.decoding.finished_search import finished


@pytest.mark.parametrize(
    ("search", "words"),
    [
        ({"penalty": "paper", "alpha": "0.6"}, ""),
        ({"penalty": "paper", "alpha": "1.2"}, "Here α = 1.2."),
        ({"penalty": "power", "alpha": "0.6"}, "Here the length penalty is a power of the length, with α = 0.6."),
        ({"penalty": "none", "alpha": "1.2"}, "Here there is no length penalty."),
    ],
)
def test_beside_the_code_the_length_penalty_is_that_of_the_search(
    open_decoding: Open, search: dict[str, str], words: str
) -> None:
    said = " ".join(each.value for each in open_decoding("tree", **search).markdown)
    assert f"length penalty α = 0.6.” {words} At each step".replace("  ", " ") in said


def test_one_hypothesis_is_not_ranked(open_decoding: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(SHIPPED))
    app = open_decoding(PARTS[2], checkpoint="numbers", sentence="forty-two", method="greedy")
    assert "finished one hypothesis, so there is nothing to rank. Choose beam search" in page_text(app)
    assert charts(app) == []
    monkeypatch.setattr(penalty_section, "finished", lambda tree: finished(tree)[:1])
    app = open_decoding(PARTS[2], checkpoint="numbers", sentence="forty-two")
    assert "finished one hypothesis, so there is nothing to rank." in page_text(app)
    assert "Choose beam search" not in page_text(app)


def paper(length: int) -> float:
    return (5 + length) / 6


@pytest.mark.parametrize(("form", "base"), [("paper", paper), ("power", float)])
def test_rescoring_is_the_sum_divided_by_the_penalty(
    open_decoding: Open, monkeypatch: pytest.MonkeyPatch, form: str, base: Callable[[int], float]
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(SHIPPED))  # a model that knows how to end
    app = open_decoding(PARTS[2], checkpoint="numbers", sentence="forty-two")
    app.slider(key=f"alpha_{form}").set_value(1.5).run()
    healthy(app)
    table = app.dataframe[0].value
    _, found = searched(SHIPPED, "forty-two", "numbers")
    nodes = list(finished(found.tree))
    assert len(table) > 1
    for total, score in zip(table["sum"], table[f"{form}, α 1.5"], strict=True):
        node = min(nodes, key=lambda node: abs(node.sum - total))
        assert score == pytest.approx(node.sum / base(node.step) ** 1.5)
    winner = table["name"][int(np.argmax(table[f"{form}, α 1.5"]))]
    figure = charts(app)[0 if form == "paper" else 1]
    labels = [text for line in figure["data"] for text in line.get("text", []) if "is best" in text]
    assert [text.split()[0] for text in labels] == [winner]


def test_the_slider_follows_the_length_penalty_of_the_search(
    open_decoding: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(SHIPPED))
    app = open_decoding(PARTS[2], checkpoint="numbers", sentence="forty-two")
    app.slider(key="alpha").set_value(1.2).run()
    healthy(app)
    assert app.slider(key="alpha_paper").value == 1.2


def test_where_nothing_finished_there_is_nothing_to_rank(open_decoding: Open, folder: Path) -> None:
    _, found = searched(folder)
    assert not finished(found.tree)
    assert "No hypothesis finished" in page_text(open_decoding(PARTS[2]))

"""The Decoding page compares greedy decoding with beam search."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.figures.theme import fixed
from app.views.decoding.methods_section import _comparison
from tests.support.decoding_page import EXAMPLE, SHIPPED, Open, component, searched
from tests.support.drawn import array, charts, page_text


@pytest.mark.parametrize("method", ["beam", "greedy", "sampling"])
def test_greedy_and_beam_are_side_by_side_for_every_method(open_decoding: Open, folder: Path, method: str) -> None:
    app = open_decoding("methods", sentence=EXAMPLE, method=method)
    found = {
        "greedy": searched(folder, method="greedy", n_best=1)[1].hypotheses[0],
        "beam": searched(folder, method="beam", n_best=1)[1].hypotheses[0],
    }
    assert (f"; greedy decoding writes “{found['greedy'].text}”." in page_text(app)) == (method == "beam")
    apart = next(i for i, (a, b) in enumerate(zip(found["greedy"].ids, found["beam"].ids, strict=True)) if a != b)
    captions = " ".join(caption.value for caption in app.caption)
    for name, hypothesis in found.items():
        strip = component(app, f"{name}_strip")
        assert strip["headline"] == hypothesis.text
        assert [chip["share"] for chip in strip["chips"]] == pytest.approx(np.exp(hypothesis.log_probabilities))
        assert [i for i, chip in enumerate(strip["chips"]) if "differs here" in chip["under"]] == [apart]
        assert f"sum of log p {fixed(hypothesis.score, 3)}, score {fixed(hypothesis.normalised_score, 3)}" in captions
    assert f"They differ from step {apart + 1} on. Greedy takes the most probable token there" in page_text(app)
    for line, hypothesis in zip(charts(app)[0]["data"], found.values(), strict=True):
        begin = max(apart - 1, 0)
        assert array(line["y"]) == pytest.approx(np.cumsum(hypothesis.log_probabilities)[begin:], rel=1e-5)
        assert array(line["x"]).tolist() == list(range(begin + 1, len(hypothesis.ids) + 1))


def test_tokens_are_named_without_the_mark_of_the_start_of_a_word(folder: Path) -> None:
    (greedy,) = searched(folder, method="greedy", n_best=1)[1].hypotheses
    beam = replace(greedy, tokens=("▁other", *greedy.tokens[1:]))
    said = _comparison(replace(greedy, tokens=("▁one", *greedy.tokens[1:])), beam, 0, 4)
    assert "“one”" in said
    assert "“other”" in said


def test_where_greedy_and_beam_find_the_same_the_page_says_so(
    open_decoding: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(SHIPPED))
    app = open_decoding("methods", checkpoint="numbers", sentence="forty-two")
    assert "find the same translation" in page_text(app)
    assert "here greedy decoding writes the same." in page_text(app)
    assert charts(app) == []
    other = open_decoding("methods", checkpoint="numbers", sentence="forty-two", alternative="2")
    assert "; greedy decoding writes “" in page_text(other)

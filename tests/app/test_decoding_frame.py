"""The frame of the Decoding page has the distribution, the weights and the kept hypotheses of every step."""

from pathlib import Path

import numpy as np
import pytest

from app.figures.theme import score_text
from app.figures.two_percents import percent
from tests.support.decoding_page import Open, component, frame, logits_of, searched
from transformer.analysis.trace import trace
from transformer.config import BOS
from transformer.decoding.finished_search import path_to


@pytest.mark.parametrize("temperature", ["1", "2"])
def test_of_a_sample_it_says_at_which_temperature_each_number_is(open_decoding: Open, temperature: str) -> None:
    shown = frame(open_decoding(method="sampling", temperature=temperature))
    hot = temperature != "1"
    assert (", at temperature 2" in shown["title"]) == hot
    assert shown["beams"]["title"].endswith("sum of log p (at temperature 1)" if hot else "sum of log p")


def test_the_frame_has_the_distribution_of_every_step(open_decoding: Open, folder: Path) -> None:
    translator, found = searched(folder)
    hypothesis, drawn = found.hypotheses[0], frame(open_decoding())
    tokens = [translator.tokenizer.token(id) for id in (BOS, *hypothesis.ids)]
    assert drawn["written"]["tokens"] == tokens
    assert drawn["source"]["tokens"] == [token.text for token in found.source_tokens]
    logits = logits_of(translator, found).astype(np.float64)
    assert len(drawn["steps"]) == len(logits)
    for step, row, chosen in zip(drawn["steps"], logits, hypothesis.ids, strict=True):
        expected = np.exp(row) / np.exp(row).sum()
        assert [each["id"] for each in step["rows"][:9]] == np.argsort(-row, kind="stable")[:9].tolist()
        assert [each["p"] for each in step["rows"]] == pytest.approx(
            [expected[each["id"]] for each in step["rows"]], rel=1e-4
        )
        assert [each["id"] for each in step["rows"] if each["chosen"]] == [chosen]
        assert step["rest"]["9"]["p"] < step["rest"]["5"]["p"] < 1


def test_the_step_with_the_lowest_probability_is_named(open_decoding: Open, folder: Path) -> None:
    translator, found = searched(folder)
    logits = logits_of(translator, found).astype(np.float64)
    logs = [float(row[id] - np.logaddexp.reduce(row)) for row, id in zip(logits, found.hypotheses[0].ids, strict=True)]
    drawn, least = frame(open_decoding()), int(np.argmin(logs))
    probability = percent(float(np.exp(logs[least])))
    assert drawn["least"] == {"step": least, "words": f"least certain, step {least + 1}: {probability}"}


def test_the_frame_shows_where_the_chosen_head_attends_at_each_step(open_decoding: Open, folder: Path) -> None:
    drawn = frame(open_decoding(layer="2", head="3"))
    translator, found = searched(folder)
    site = "decoder.layers.1.cross_attention.weights"
    weights = trace(translator.model, found.source_ids, found.hypotheses[0].ids, [site])[site][2]
    np.testing.assert_allclose([step["weights"] for step in drawn["steps"]], weights, rtol=0, atol=1e-4)
    assert "layer 2, head 3" in drawn["source"]["more"]


@pytest.mark.parametrize(("method", "hypotheses"), [("beam", 4), ("greedy", 0), ("sampling", 3)])
def test_the_frame_has_the_kept_hypotheses_of_each_step(
    open_decoding: Open, folder: Path, method: str, hypotheses: int
) -> None:
    beams = frame(open_decoding(method=method))["beams"]
    assert beams["rows"] == hypotheses
    if not hypotheses:
        assert beams["nodes"] == []
        return
    _, found = searched(folder, method=method)
    for step, places in enumerate(beams["alive"], start=1):
        alive = [node for node in found.tree if node.step == step and node.outcome != "pruned"]
        shown = [beams["nodes"][place] for place in places]
        assert [node["sum"] for node in shown] == [
            score_text(total) for total in sorted((node.sum for node in alive), reverse=True)[:hypotheses]
        ]
        parents = [beams["nodes"][node["parent"]]["text"] for node in shown]
        assert (set(parents) == {"<s>"}) == (step == 1)


def test_why_each_token_was_chosen_is_what_the_search_says(open_decoding: Open, folder: Path) -> None:
    _, found = searched(folder)
    path = path_to(found.tree, found.hypotheses[0].node or 0)
    assert [step["why"].split("? ", 1)[1] for step in frame(open_decoding())["steps"]] == [node.reason for node in path]


def test_the_frame_opens_at_the_step_in_the_address(open_decoding: Open) -> None:
    assert component(open_decoding(t="3"), "next_token")["step"] == 2
    assert component(open_decoding(t="999"), "next_token")["step"] == len(frame(open_decoding())["steps"]) - 1


def test_all_distributions_can_be_read_as_a_table(open_decoding: Open) -> None:
    app = open_decoding(session={"table_next_token": True}, details="false")
    steps = frame(app)["steps"]
    table = next(each.value for each in app.dataframe if "probability" in each.value)
    assert len(table) == sum(len(step["rows"]) for step in steps)
    assert list(table["probability"][table["step"] == 2]) == pytest.approx([row["p"] for row in steps[1]["rows"]])
    assert set(table["reads"][table["step"] == 1]) == {"<s>"}

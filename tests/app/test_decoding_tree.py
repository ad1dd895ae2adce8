"""The tree on the Decoding page is the search, and a chosen node shows its score and what it attended to."""

import math
from pathlib import Path

import numpy as np
import pytest

from app.figures.theme import fixed, score_text
from app.library.source_code import CHANGED
from tests.support.decoding_page import PARTS, Open, component, searched
from tests.support.drawn import page_text
from transformer.analysis.trace import trace
from transformer.config import EOS
from transformer.decoding.finished_search import path_to
from transformer.decoding.translation import Translation
from transformer.decoding.translator import Translator


@pytest.mark.parametrize("method", ["beam", "greedy", "sampling"])
def test_the_tree_drawn_is_the_search(open_decoding: Open, folder: Path, method: str) -> None:
    app = open_decoding(PARTS[1], method=method)
    _, found = searched(folder, method=method, n_best=1 if method == "greedy" else 3)
    drawn = component(app, "search_tree")["nodes"]
    assert [node["id"] for node in drawn] == [node.id for node in found.tree]
    for shown, node in zip(drawn, found.tree, strict=True):
        assert (shown["parent"], shown["step"], shown["outcome"]) == (node.parent, node.step, node.outcome)
        assert shown["share"] == pytest.approx(math.exp(node.log_probability))
        if node.parent is not None:
            assert shown["numbers"] == f"Σ {score_text(node.sum)} · {score_text(node.normalised)}"
    best = {node.id for node in path_to(found.tree, found.hypotheses[0].node or 0)} | {0}
    assert {node["id"] for node in drawn if node["best"]} == best


def test_a_chosen_node_shows_how_its_score_is_computed_and_what_it_attended_to(
    open_decoding: Open, folder: Path
) -> None:
    translator, found = searched(folder)
    node = next(node for node in found.tree if node.outcome == "pruned" and node.step == 3)
    app = open_decoding(PARTS[1], {"node": (2, node.id)}, t="3", layer="2", head="3")
    score = node.sum / ((5 + 3) / 6) ** 0.6
    assert f"Score: {fixed(node.sum, 3)} / ((5 + 3) / 6)^0.6 = {fixed(score, 3)}" in page_text(app)
    assert node.reason in page_text(app)
    ids = [each.token_id for each in path_to(found.tree, node.id)]
    site = "decoder.layers.1.cross_attention.weights"
    weights = trace(translator.model, found.source_ids, ids, [site])[site][2, -1]
    assert [chip["share"] for chip in component(app, "node_cross_attention")["chips"]] == pytest.approx(
        weights, abs=1e-6
    )
    back = "decoder.layers.1.self_attention.weights"
    own = trace(translator.model, found.source_ids, ids, [back])[back][2, -1]
    chips = component(app, "node_self_attention")["chips"]
    assert [chip["share"] for chip in chips] == pytest.approx(own, abs=1e-6)
    assert [chip["text"] for chip in chips] == ["<s>", *(translator.tokenizer.token(id) for id in ids[:-1])]
    after = logits_of_path(translator, found, ids)
    offered = [row["text"] for row in component(app, "next_tokens")["rows"]]
    best = [int(id) for id in np.argsort(-after) if id > EOS][:6]
    best = sorted([*best, EOS], key=lambda id: -after[id])
    assert offered == [translator.tokenizer.token(id) for id in best]


def logits_of_path(translator: Translator, found: Translation, ids: list[int]) -> np.ndarray:
    """Of what comes after these tokens."""
    return trace(translator.model, found.source_ids, [*ids, EOS], ["logits"])["logits"][-1]


def test_the_tree_of_sampling_says_what_top_k_left_out(open_decoding: Open, folder: Path) -> None:
    _, found = searched(folder, method="sampling", top_k=2)
    node = next(node for node in found.tree if node.outcome == "pruned" and node.step == 1)
    app = open_decoding(PARTS[1], {"table_tree": True}, method="sampling", top_k="2")
    table = next(frame.value for frame in app.dataframe if "why" in frame.value)
    reasons = set(table["why"][table["outcome"] == "pruned"])
    assert "Left out by top k: only 2 may be drawn." in reasons
    assert reasons <= {"Left out by top k: only 2 may be drawn.", "Not drawn."}
    assert node.reason == "Not drawn."  # as the search tells it


def test_another_step_lets_go_of_the_chosen_node(open_decoding: Open, folder: Path) -> None:
    _, found = searched(folder)
    node = next(node for node in found.tree if node.outcome == "pruned" and node.step == 3)
    app = open_decoding(PARTS[1], {"node": (2, node.id)}, t="3")
    assert component(app, "search_tree")["chosen"] == node.id
    app.session_state["t"] = 3
    app.run()
    assert component(app, "search_tree")["chosen"] == path_to(found.tree, found.hypotheses[0].node or 0)[3].id


@pytest.mark.parametrize(
    ("method", "file"),
    [("beam", "beam.py"), ("greedy", "search.py"), ("sampling", "search.py")],
)
def test_every_search_is_shown_beside_its_code(open_decoding: Open, method: str, file: str) -> None:
    app = open_decoding("tree", method=method, t="2")
    assert any(f"transformer/decoding/{file}`, line" in caption.value for caption in app.caption)
    assert CHANGED not in [code.value for code in app.code]
    beam = "We used beam search" in " ".join(each.value for each in app.markdown)
    assert beam == (method == "beam")

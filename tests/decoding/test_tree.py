"""The tree of a search has every candidate, what became of it, and why."""

import math
from collections import Counter
from dataclasses import replace

import pytest

from tests.support.small_decoding import random_sources, undecided
from transformer.config import BOS, EOS, DecodingConfig
from transformer.decoding.hypotheses import hypotheses
from transformer.decoding.length_penalty import length_penalty
from transformer.decoding.search import search
from transformer.decoding.search_record import Candidate, Ending, SearchRecord
from transformer.decoding.translation import Hypothesis, SearchNode
from transformer.decoding.tree import Explanation
from transformer.text.tokenizer import Tokenizer

BEAM = DecodingConfig(beam=3, n_best=2, max_extra_length=1)  # short, so that some are cut off
METHODS = [
    BEAM,
    replace(BEAM, method="greedy", n_best=1),
    replace(BEAM, method="sampling", temperature=1.5),
]
SOURCES = random_sources(8)


class Tokens:
    """A tokenizer for ids without words."""

    def token(self, id: int) -> str:
        return f"<{id}>"

    def decode(self, ids: list[int]) -> str:
        return " ".join(map(str, ids))


def trees(
    settings: DecodingConfig, prefix: tuple[int, ...] = ()
) -> list[tuple[tuple[Hypothesis, ...], tuple[SearchNode, ...]]]:
    tokenizer: Tokenizer = Tokens()  # type: ignore[assignment]
    found = search(undecided(), SOURCES, settings, prefix, keep_tree=True)
    return [hypotheses(one, settings, tokenizer, len(prefix)) for one in found]


@pytest.mark.parametrize("settings", METHODS, ids=lambda settings: settings.method)
def test_every_node_continues_its_parent(settings: DecodingConfig) -> None:
    for _, tree in trees(settings):
        assert (tree[0].id, tree[0].parent, tree[0].token_id, tree[0].outcome) == (0, None, BOS, "start")
        for place, node in enumerate(tree[1:], start=1):
            assert node.parent is not None
            parent = tree[node.parent]
            assert node.id == place
            assert node.step == parent.step + 1
            assert parent.outcome in ("start", "kept")
            assert node.sum == pytest.approx(parent.sum + node.log_probability, abs=1e-10)
            assert node.normalised == pytest.approx(node.sum / length_penalty(node.step, settings), abs=1e-10)
            assert node.reason.endswith(".")
            assert node.sum > -math.inf
        if settings.method != "sampling":  # where two rows may draw the same
            assert max(Counter((node.parent, node.token_id) for node in tree).values()) == 1


@pytest.mark.parametrize("settings", METHODS, ids=lambda settings: settings.method)
def test_hypotheses_end_at_their_nodes(settings: DecodingConfig) -> None:
    outcomes = Counter[str]()
    for found, tree in trees(settings):
        for hypothesis in found:
            node: SearchNode | None = tree[hypothesis.node or 0]
            assert node is not None
            assert node.outcome == ("finished" if hypothesis.finished else "unfinished")
            assert node.normalised == pytest.approx(hypothesis.normalised_score)
            backwards = []
            while node is not None and node.parent is not None:
                backwards.append(node.token_id)
                node = tree[node.parent]
            assert tuple(backwards[::-1]) == hypothesis.ids
        outcomes.update(node.outcome for node in tree)
    expected = {"start", "kept", "pruned", "finished", "unfinished"}
    assert set(outcomes) == (expected | {"stopped"} if settings.method == "beam" else expected)


def test_the_beam_keeps_the_best_that_do_not_end() -> None:
    for _, tree in trees(BEAM):
        for step in range(1, tree[-1].step):
            nodes = [node for node in tree if node.step == step]
            kept = [node.sum for node in nodes if node.outcome == "kept"]
            pruned = [node.sum for node in nodes if node.outcome == "pruned" and node.token_id != EOS]
            assert len(kept) == BEAM.beam
            assert len(nodes) == 2 * BEAM.beam
            assert max(pruned, default=-math.inf) <= min(kept)


def test_alternatives_of_several_rows_at_one_node_have_one_node() -> None:
    for _, tree in trees(METHODS[2]):
        pruned = Counter((node.parent, node.token_id) for node in tree if node.outcome == "pruned")
        assert max(pruned.values()) == 1
        drawn = {(node.parent, node.token_id) for node in tree if node.outcome != "pruned"}
        assert not drawn & set(pruned)


def test_stopped_hypotheses_could_not_win() -> None:
    for source, (found, tree) in zip(SOURCES, trees(BEAM), strict=True):
        for node in tree:
            if node.outcome == "stopped":
                attainable = node.sum / length_penalty(len(source) + BEAM.max_extra_length, BEAM)
                assert attainable <= found[-1].normalised_score + 1e-12


def test_reasons_have_the_numbers() -> None:
    found, tree = trees(BEAM)[2]
    best = tree[found[0].node or 0]
    expected = f"It ends here, with the score {best.sum:.3f} / ((5 + {best.step}) / 6)^0.6 = {best.normalised:.3f}."
    expected = expected.replace("-", "−")
    assert best.reason == f"{expected} It is the translation."
    assert tree[found[1].node or 0].reason.endswith("It is alternative 2.")
    assert any(node.reason.endswith("Others scored better.") for _, tree in trees(BEAM) for node in tree)


def test_no_score_is_minus_zero() -> None:
    candidate = Candidate(EOS, 0, -1e-5, -1e-5)
    found = SearchRecord([Ending(1, 0, True)], [[candidate]], [[0]], 4)
    for settings in (BEAM, METHODS[1]):
        _, reason = Explanation(found, found.endings, settings, 0)(1, 0, candidate)
        assert "the score 0.000 / " in reason
        assert "−0.000" not in reason


def test_a_token_of_the_translation_that_is_not_the_first_by_its_sum_says_how_the_first_ended() -> None:
    count = 0
    for found, tree in trees(BEAM):
        way = []
        node: SearchNode | None = tree[found[0].node or 0]
        while node is not None and node.parent is not None:
            way.append(node)
            node = tree[node.parent]
        for one in way:
            live = [other for other in tree if other.step == one.step and other.outcome in ("kept", "stopped")]
            first = max(live, key=lambda other: other.sum, default=one)
            scores = [end.normalised for end in tree if end.outcome == "finished" and first.id in ancestors(tree, end)]
            ends_lower = first.id != one.id and one.outcome == "kept" and scores and max(scores) < way[0].normalised
            assert ("Candidate number 1 of this step also led" in one.reason) == bool(ends_lower)
            if ends_lower:
                count += 1
                assert f"{max(scores):.3f}".replace("-", "−") in one.reason
        assert not any("Candidate number 1 of this step also led" in other.reason for other in tree if other not in way)
    assert count


def ancestors(tree: tuple[SearchNode, ...], node: SearchNode) -> set[int]:
    found = {node.id}
    while node.parent is not None:
        node = tree[node.parent]
        found.add(node.id)
    return found


def test_a_prefix_is_named_as_the_reason() -> None:
    for settings in METHODS:
        for _, tree in trees(settings, prefix=(5, 6)):
            assert {(node.token_id, node.reason) for node in tree if node.step == 2} == {(6, "It is in the prefix.")}


def test_a_tree_is_only_kept_on_request_and_does_not_change_the_result() -> None:
    tokenizer: Tokenizer = Tokens()  # type: ignore[assignment]
    for settings in METHODS:
        without = [hypotheses(one, settings, tokenizer, None) for one in search(undecided(), SOURCES, settings)]
        for (plain, no_tree), (found, tree) in zip(without, trees(settings), strict=True):
            assert no_tree == ()
            assert len(tree) > 1
            assert [replace(one, node=None) for one in found] == list(plain)

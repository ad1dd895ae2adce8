"""A finished search is read as it was: paths, finished hypotheses, other penalties, random numbers."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.decoding.test_tree import BEAM, METHODS, SOURCES, trees
from tests.support.small_decoding import random_sources, undecided
from transformer.analysis.trace import trace
from transformer.config import EOS, DecodingConfig
from transformer.decoding.finished_sampling import draws, logits_by_prefix, mark_truncated, may_be_drawn
from transformer.decoding.finished_search import finished, path_to, rescored
from transformer.decoding.search import search


@pytest.mark.parametrize("settings", METHODS, ids=lambda settings: settings.method)
def test_the_path_to_a_node_has_the_tokens_of_its_hypothesis(settings: DecodingConfig) -> None:
    for found, tree in trees(settings):
        assert path_to(tree, 0) == ()
        for hypothesis in found:
            path = path_to(tree, hypothesis.node or 0)
            assert tuple(node.token_id for node in path) == hypothesis.ids
            assert path[-1].sum == pytest.approx(sum(hypothesis.log_probabilities))


def test_finished_hypotheses_are_sorted_and_the_first_is_the_translation() -> None:
    for found, tree in trees(BEAM):
        ended = finished(tree)
        assert {node.token_id for node in ended} <= {EOS}
        assert [node.normalised for node in ended] == sorted((node.normalised for node in ended), reverse=True)
        if ended:
            assert ended[0].id == found[0].node
    assert max(len(finished(tree)) for _, tree in trees(BEAM)) > BEAM.n_best


def test_another_penalty_gives_the_scores_worked_out_by_hand() -> None:
    _, tree = trees(BEAM)[2]
    node = finished(tree)[0]
    paper = rescored([node], replace(BEAM, length_penalty="paper"), [0.0, 0.6, 1.0])
    power = rescored([node], replace(BEAM, length_penalty="power"), [0.0, 0.6, 1.0])
    length = node.step
    by_hand = [node.sum, node.sum / math.pow((5 + length) / 6, 0.6), node.sum * 6 / (5 + length)]
    assert paper[0] == pytest.approx(by_hand)
    assert paper[0, 1] == pytest.approx(node.normalised)
    assert power[0] == pytest.approx([node.sum, node.sum / math.pow(length, 0.6), node.sum / length])


@pytest.mark.parametrize("changes", [{}, {"temperature": 1.7}, {"top_k": 4}, {"top_p": 0.8, "temperature": 2.0}])
def test_each_random_number_is_in_the_interval_of_the_drawn_token(changes: dict[str, Any]) -> None:
    settings = replace(DecodingConfig(method="sampling", n_best=3, max_extra_length=4, seed=8), **changes)
    for source, found in zip(SOURCES, search(undecided(), SOURCES, settings), strict=True):
        for ending in found.endings:
            ids = [candidate.token_id for candidate in found.path(ending)]
            logits = trace(undecided(), source, ids, ["logits"])["logits"]
            drawn = draws(logits, source, ids, settings)
            assert len(drawn) == len(ids)
            for draw in drawn:
                assert 0 <= draw.begin <= draw.number < draw.end <= 1 + 1e-12
            if not changes:  # the stretch of a token is as long as its probability, PAD, UNK and BOS left out
                probabilities = np.exp(logits[0]) / np.exp(logits[0]).sum()
                expected = probabilities[ids[0]] / probabilities[EOS:].sum()
                assert drawn[0].end - drawn[0].begin == pytest.approx(expected)


@pytest.mark.parametrize(("top_k", "top_p", "expected"), [(0, 1.0, {3, 4, 5}), (2, 1.0, {3, 4}), (0, 0.9, {3})])
def test_a_token_with_a_tiny_probability_may_be_drawn(top_k: int, top_p: float, expected: set[int]) -> None:
    """float64 cannot add the probability of tokens 4 and 5 to that of token 3: exp(-50) and exp(-60)."""
    settings = DecodingConfig(method="sampling", temperature=0.1, top_k=top_k, top_p=top_p)
    logits = np.array([0, 0, 0, 10, 5, 4], dtype=np.float32)
    assert set(np.flatnonzero(may_be_drawn(logits, settings))) == expected


def test_tokens_that_were_not_drawn_have_no_random_numbers() -> None:
    settings = DecodingConfig(method="sampling", n_best=2, seed=1)
    (source,) = random_sources(1)
    ids = [5, 6, 7, 8, 5, 6, 7, 8, 5, 6, 7, 8]
    logits = trace(undecided(), source, ids, ["logits"])["logits"]
    assert draws(logits, source, ids, settings) == ()


def test_exactly_the_tokens_left_out_by_top_k_and_top_p_are_marked() -> None:
    marks = set()
    for top_k, top_p in ((2, 1.0), (0, 0.3), (3, 0.4)):
        settings = replace(DecodingConfig(method="sampling", n_best=2, max_extra_length=2), top_k=top_k, top_p=top_p)
        for source, (found, tree) in zip(SOURCES, trees(settings), strict=True):
            known = [(one.ids, trace(undecided(), source, one.ids, ["logits"])["logits"]) for one in found]
            for node, new in zip(tree, mark_truncated(tree, logits_by_prefix(known), settings), strict=True):
                assert replace(new, reason=node.reason) == node
                if node.outcome != "pruned":
                    assert new == node
                    continue
                ids = [each.token_id for each in path_to(tree, node.parent or 0)]
                after = trace(undecided(), source, [*ids, EOS], ["logits"])["logits"][-1]
                above = sorted((p for p in np.exp(after[EOS:]) if p > np.exp(after[node.token_id])), reverse=True)
                out_by_k = bool(top_k) and len(above) >= top_k
                kept = np.exp(np.sort(after[EOS:])[::-1][: top_k or None])
                out_by_p = sum(above) / sum(kept) >= top_p and not out_by_k
                assert new.reason.startswith("Left out by top k") == out_by_k
                assert new.reason.startswith("Left out by top p") == out_by_p
                marks.add(new.reason[:17] if out_by_k or out_by_p else "")
    assert marks == {"", "Left out by top k", "Left out by top p"}
    assert mark_truncated(tree, {}, replace(settings, top_k=0, top_p=1.0)) == tree

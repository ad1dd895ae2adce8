"""Beam search against exhaustive search, against itself without early stopping, and in cases made by hand."""

import math
from dataclasses import replace
from typing import Literal

import pytest
import torch
from torch import Tensor

from tests.support.small_decoding import config, ids, random_sources, score, undecided
from tests.support.table_model import TableModel, every_output
from transformer.config import BOS, EOS, DecodingConfig
from transformer.decoding.beam import Beam
from transformer.decoding.length_penalty import length_penalty
from transformer.decoding.search import search
from transformer.model import Transformer

Penalty = Literal["paper", "power", "none"]
PENALTIES: list[tuple[Penalty, float]] = [("paper", 0.6), ("paper", 2.0), ("power", 1.0), ("none", 0.0)]


@pytest.mark.parametrize(("vocab_size", "limit"), [(5, 5), (6, 5), (7, 3)])
@pytest.mark.parametrize(("penalty", "alpha"), PENALTIES)
def test_a_wide_beam_ranks_all_outputs_as_exhaustive_search_does(
    vocab_size: int, limit: int, penalty: Penalty, alpha: float
) -> None:
    source = [4, EOS]
    outputs = every_output(vocab_size, limit)
    settings = DecodingConfig(
        beam=64, n_best=len(outputs), length_penalty=penalty, alpha=alpha, max_extra_length=limit - len(source)
    )
    for seed in range(5):
        model = TableModel(vocab_size, seed)
        scores = {tuple(output): model.log_probability(source, output) for output in outputs}
        outputs.sort(key=lambda output: -scores[tuple(output)] / length_penalty(len(output), settings))
        (found,) = search(model.as_model(), [source], settings)
        assert [ids(found, ending) for ending in found.endings] == outputs
        for ending in found.endings:
            assert score(found, ending) == pytest.approx(scores[tuple(ids(found, ending))], abs=1e-10)


def test_a_wide_beam_finds_what_exhaustive_search_with_the_transformer_finds() -> None:
    torch.manual_seed(4)
    model = Transformer(replace(config(), vocab_size=6)).double().eval()
    source, limit = [5, 4, EOS], 5
    settings = DecodingConfig(beam=64, max_extra_length=limit - len(source))

    def normalised(output: list[int]) -> float:
        target = torch.tensor([[BOS, *output[:-1]]])
        with torch.no_grad():
            steps = model(torch.tensor([source]), target).log_softmax(dim=-1)[0]  # (T, V)
        return float(steps[range(len(output)), output].sum()) / length_penalty(len(output), settings)

    (found,) = search(model, [source], settings)
    assert ids(found) == max(every_output(6, limit), key=normalised)


def test_a_beam_of_one_is_greedy() -> None:
    sources = random_sources(20)
    greedy = search(undecided(), sources, DecodingConfig(method="greedy", max_extra_length=10))
    beam = search(undecided(), sources, DecodingConfig(beam=1, max_extra_length=10))
    assert [ids(one) for one in beam] == [ids(one) for one in greedy]


def test_the_beam_itself_with_one_row_is_greedy_when_no_penalty_favours_length() -> None:
    """`search` never makes a beam of one; here it is made by hand."""
    for source in random_sources(5):
        (greedy,) = search(undecided(), [source], DecodingConfig(method="greedy", max_extra_length=10))
        beam = Beam(DecodingConfig(beam=1, length_penalty="none"), [greedy.limit], torch.device("cpu"))
        state, token, output = undecided().start(torch.tensor([source])), BOS, list[int]()
        while not beam.done().any() and len(output) < greedy.limit:
            step = beam.advance([0], undecided().step(torch.tensor([token]), state)[:, None], None)
            best = step.tokens[0, 0].item()
            token = int(step.tokens[0, step.kept[0, 0]])
            output.append(int(best))
        assert output == ids(greedy)


@pytest.mark.parametrize(("penalty", "alpha"), PENALTIES)
def test_stopping_early_never_changes_the_result(
    penalty: Penalty, alpha: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = [[*range(4, 4 + length), EOS] for length in (1, 2, 4)]
    cases = [
        (TableModel(9, seed, spread=1 + seed % 3, ending=ending), n_best)
        for seed in range(4)
        for ending in (-1.0, 0.0, 2.0)
        for n_best in (1, 3)
    ]

    def results() -> tuple[list[list[list[int]]], int]:
        found = [
            one
            for model, n_best in cases
            for one in search(
                model.as_model(),
                sources,
                DecodingConfig(beam=3, n_best=n_best, length_penalty=penalty, alpha=alpha, max_extra_length=9),
            )
        ]
        outputs = [[ids(one, end) for end in one.endings if end.finished] for one in found]
        return outputs, sum(len(one.candidates) for one in found)

    early, steps = results()
    monkeypatch.setattr(Beam, "done", lambda beam: torch.zeros(len(beam.sums), dtype=torch.bool))
    late, all_steps = results()
    assert early == late
    assert steps < all_steps or alpha > 1  # it does stop early, unless length is rewarded so much that none may give up


def test_ends_do_not_crowd_out_the_beam() -> None:
    """At the second step all hypotheses would rather end. Those who go on are rewarded later, and have to be there."""
    logits = {1: [1.0, 1.0, 1.0], 2: [-6.0, -6.0, -6.0]}  # of the three tokens, before and after; later they are sure

    class Tempting(TableModel):
        def logits(self, keys: Tensor, read: Tensor) -> Tensor:
            rows = torch.full((len(read), 7), -math.inf, dtype=torch.float64)
            length = read.shape[1]
            rows[:, 4:] = torch.tensor(logits.get(length, [0.0, -30.0, -30.0]))
            rows[:, EOS] = {1: -30.0, 2: 0.0, 9: 30.0}.get(length, -30.0)
            return rows

    settings = DecodingConfig(beam=3, length_penalty="power", alpha=3.0, max_extra_length=8)
    (found,) = search(Tempting(7, 0).as_model(), [[4, EOS]], settings)
    assert len(ids(found)) == 9
    assert all(row[1] > -math.inf for row in found.candidates[2])


def test_an_end_counts_only_among_the_best_of_its_step() -> None:
    """</s> comes third in a beam of two, again and again: it is a candidate, but no hypothesis ends."""

    class Hesitant(TableModel):
        def logits(self, keys: Tensor, read: Tensor) -> Tensor:
            rows = torch.full((len(read), 7), -9.0, dtype=torch.float64)
            rows[:, 4:6] = 1.0
            rows[:, EOS] = 0.9
            return rows

    (found,) = search(Hesitant(7, 0).as_model(), [[4, EOS]], DecodingConfig(beam=2, max_extra_length=3))
    assert not any(ending.finished for ending in found.endings)
    assert any(candidate.token_id == EOS for step in found.candidates for candidate in step)


def test_alternatives_are_different_and_ranked() -> None:
    settings = DecodingConfig(beam=5, n_best=5)
    for found in search(undecided(), random_sources(10), settings):
        outputs = [tuple(ids(found, ending)) for ending in found.endings]
        assert len(set(outputs)) == len(outputs) == 5
        finished = [ending for ending in found.endings if ending.finished]
        scores = [score(found, ending) / length_penalty(ending.length, settings) for ending in finished]
        assert scores == sorted(scores, reverse=True)

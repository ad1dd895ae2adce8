"""The whole search, against a simple one without cache and batches; other sentences of a batch change no result."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from tests.support.small_decoding import V, ids, random_sources, undecided
from tests.support.table_model import TableModel
from transformer.config import BOS, EOS, PAD, UNK, DecodingConfig
from transformer.decoding.length_penalty import length_penalty
from transformer.decoding.search import search
from transformer.model import Transformer

GREEDY = DecodingConfig(method="greedy", max_extra_length=14)
BEAM = DecodingConfig(beam=4, n_best=3, max_extra_length=14)
SAMPLING = DecodingConfig(method="sampling", n_best=3, temperature=1.3, max_extra_length=14)
METHODS = [GREEDY, BEAM, SAMPLING]


def next_scores(model: Transformer, source: list[int], output: list[int]) -> torch.Tensor:
    """Log-probabilities (V) of what may come next, computed from the beginning."""
    with torch.no_grad():
        logits = model(torch.tensor([source]), torch.tensor([[BOS, *output]]))[0, -1]  # (V)
    scores = logits.log_softmax(dim=-1)
    scores[[PAD, UNK, BOS]] = -math.inf
    return scores


def plain_beam(model: Transformer, source: list[int], settings: DecodingConfig) -> list[list[int]]:
    """The N best of a beam search as one would write it down: one sentence, no cache, no early stopping."""
    live: list[tuple[float, list[int]]] = [(0.0, [])]
    finished: list[tuple[float, list[int]]] = []
    for _ in range(len(source) + settings.max_extra_length):
        candidates = [
            (total + float(score), [*output, token])
            for total, output in live
            for token, score in enumerate(next_scores(model, source, output))
            if score > -math.inf
        ]
        candidates.sort(reverse=True)
        for total, output in candidates[: settings.beam]:
            if output[-1] == EOS:
                finished.append((total / length_penalty(len(output), settings), output))
        live = [candidate for candidate in candidates if candidate[1][-1] != EOS][: settings.beam]
    ranked = sorted(finished, reverse=True) + live
    return [output for _, output in ranked[: settings.n_best]]


def test_cached_batched_beam_search_equals_a_simple_one() -> None:
    """More than 20 positions, two sentences of different lengths, hypotheses that change places."""
    sources = [[10, 10, 13, 10, 7, 11, 9, EOS], [4, 9, 9, 6, EOS]]
    for source, found in zip(sources, search(undecided(), sources, BEAM), strict=True):
        assert [ids(found, ending) for ending in found.endings] == plain_beam(undecided(), source, BEAM)


def test_cached_batched_greedy_decoding_equals_a_simple_one() -> None:
    sources = random_sources(5)
    for source, found in zip(sources, search(undecided(), sources, GREEDY), strict=True):
        output: list[int] = []
        while len(output) < found.limit and EOS not in output:
            output.append(int(next_scores(undecided(), source, output).argmax()))
        assert ids(found) == output


@pytest.mark.parametrize("settings", METHODS, ids=lambda settings: settings.method)
def test_a_translation_does_not_depend_on_the_other_sentences_of_the_batch(settings: DecodingConfig) -> None:
    sources = random_sources(9)
    together = search(undecided(), sources, settings)
    for source, one in zip(sources, together, strict=True):
        (alone,) = search(undecided(), [source], settings)
        assert [ids(one, ending) for ending in one.endings] == [ids(alone, ending) for ending in alone.endings]
        for ending in one.endings:
            pairs = zip(one.path(ending), alone.path(ending), strict=True)
            for here, there in pairs:
                assert here.log_probability == pytest.approx(there.log_probability, abs=1e-10)


@contextmanager
def positions_computed(model: Transformer) -> Iterator[list[int]]:
    """Counts the decoder positions that go through its last layer."""
    counts: list[int] = []
    hook = model.decoder.layers[-1].feed_forward.register_forward_pre_hook(
        lambda module, inputs: counts.append(inputs[0].shape[0] * inputs[0].shape[1])
    )
    try:
        yield counts
    finally:
        hook.remove()


def test_decoding_is_incremental() -> None:
    """T positions for T tokens, not T(T+1)/2; and as many steps for a sentence as it takes, not as its batch takes."""
    sources = random_sources(8)
    with positions_computed(undecided()) as counts:
        found = search(undecided(), sources, GREEDY)
    lengths = [one.endings[0].length for one in found]
    assert sum(counts) == sum(lengths)
    assert len(set(lengths)) > 2
    with positions_computed(undecided()) as counts:
        found = search(undecided(), sources, BEAM)
    # One row a sentence at the start, then the beam.
    assert sum(counts) == sum(1 + 4 * (len(one.candidates) - 1) for one in found)


@pytest.mark.parametrize("settings", METHODS, ids=lambda settings: settings.method)
def test_padding_unknown_and_start_are_never_generated(settings: DecodingConfig) -> None:
    model = TableModel(8, seed=1)
    model.table[:, [PAD, UNK, BOS]] += 20  # what the model would rather do
    for found in search(model.as_model(), [[4, EOS], [5, 6, EOS]], settings):
        for ending in found.endings:
            assert not {PAD, UNK, BOS} & set(ids(found, ending))
            assert found.end(ending).sum < -20  # and its probabilities are those of the model


@pytest.mark.parametrize("settings", METHODS, ids=lambda settings: settings.method)
def test_outputs_end_at_the_length_limit(settings: DecodingConfig) -> None:
    endless = TableModel(8, seed=1, ending=-math.inf)
    for found, limit in zip(search(endless.as_model(), [[4, EOS], [5, 6, EOS]], settings), (16, 17), strict=True):
        assert [(end.length, end.finished) for end in found.endings] == [(limit, False)] * settings.n_best


@pytest.mark.parametrize("settings", METHODS, ids=lambda settings: settings.method)
def test_outputs_never_need_more_positions_than_the_model_has(settings: DecodingConfig) -> None:
    model = TableModel(8, seed=1, ending=-math.inf, max_positions=7)
    (found,) = search(model.as_model(), [[4, 5, EOS]], settings)
    assert {ending.length for ending in found.endings} == {7}


def test_finished_hypotheses_come_before_those_cut_off() -> None:
    """Only the second of the two alternatives has to be filled up with one that did not finish."""
    settings = DecodingConfig(beam=2, n_best=2, max_extra_length=2)
    found = [
        one
        for ending in (-4.0, -2.0, 0.0)
        for one in search(TableModel(8, 3, ending=ending).as_model(), [[4, 4 + i, EOS] for i in range(4)], settings)
    ]
    assert all(len(one.endings) == 2 for one in found)
    assert {(True, False), (False, False)} <= {tuple(end.finished for end in one.endings) for one in found}


@pytest.mark.parametrize("settings", METHODS, ids=lambda settings: settings.method)
def test_a_prefix_is_kept_and_scored_by_the_model(settings: DecodingConfig) -> None:
    sources, prefix = random_sources(4), [5, V - 1, 5]
    for source, found in zip(sources, search(undecided(), sources, settings, prefix), strict=True):
        for ending in found.endings:
            assert ids(found, ending)[:3] == prefix
            assert ending.length > 3
            for t, candidate in enumerate(found.path(ending)):
                scores = next_scores(undecided(), source, ids(found, ending)[:t])
                assert candidate.log_probability == pytest.approx(float(scores[candidate.token_id]), abs=1e-10)


def test_greedy_decoding_continues_a_prefix_of_its_own_output_with_the_rest() -> None:
    for source in random_sources(5)[1:3]:
        (free,) = search(undecided(), [source], GREEDY)
        for length in range(0, free.endings[0].length, 2):
            (forced,) = search(undecided(), [source], GREEDY, ids(free)[:length])
            assert ids(forced) == ids(free)


def test_a_model_in_training_mode_is_refused() -> None:
    model = Transformer(undecided().config)
    with pytest.raises(ValueError, match="training mode"):
        search(model, [[4, EOS]], GREEDY)

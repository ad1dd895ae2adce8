"""Sampling draws tokens with their probabilities, and the same tokens again for the same seed."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from tests.support.small_decoding import ids, random_sources, undecided
from transformer.config import EOS, DecodingConfig
from transformer.decoding.sampling import device_of_sums, draw, random_numbers
from transformer.decoding.search import search

SETTINGS = DecodingConfig(method="sampling", n_best=4, max_extra_length=6)
LOGITS = torch.tensor([0.5, -1.0, 2.0, 0.0, 1.0, -0.5], dtype=torch.float64)


def shares(settings: DecodingConfig, logits: Tensor = LOGITS) -> Tensor:
    """How often each token is drawn when the random numbers go evenly from 0 to 1."""
    count = 10_000
    even = (torch.arange(count, dtype=torch.float64) + 0.5) / count
    drawn = draw(logits.expand(1, count, -1).clone(), even[None], settings)
    return drawn.flatten().bincount(minlength=len(logits)) / count


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_tokens_are_drawn_with_the_probability_of_the_softmax(temperature: float) -> None:
    expected = (LOGITS / temperature).softmax(dim=-1)
    torch.testing.assert_close(shares(replace(SETTINGS, temperature=temperature)).double(), expected, rtol=0, atol=2e-4)


def test_top_k_keeps_the_k_most_probable_tokens() -> None:
    expected = torch.tensor([0.0, 0.0, 2.0, 0.0, 1.0, 0.0]).exp() * torch.tensor([0, 0, 1, 0, 1, 0])
    torch.testing.assert_close(shares(replace(SETTINGS, top_k=2)), expected / expected.sum(), rtol=0, atol=2e-4)
    torch.testing.assert_close(shares(replace(SETTINGS, top_k=100)), shares(SETTINGS), rtol=0, atol=2e-4)


def test_top_p_keeps_the_fewest_tokens_that_reach_p() -> None:
    """In order: .52, .19, .12, .07, ... so that three are needed for .75."""
    probabilities = LOGITS.softmax(dim=-1)
    expected = probabilities * torch.tensor([1, 0, 1, 0, 1, 0])
    found = shares(replace(SETTINGS, top_p=0.75))
    torch.testing.assert_close(found.double(), expected / expected.sum(), rtol=0, atol=2e-4)
    assert shares(replace(SETTINGS, top_p=0.01)).tolist() == [0, 0, 1, 0, 0, 0]


def test_a_random_number_of_zero_draws_an_allowed_token() -> None:
    logits = LOGITS.clone()
    logits[:2] = -torch.inf
    for number in (0.0, 1 - 1e-16):
        drawn = draw(logits[None, None].clone(), torch.full((1, 1), number, dtype=torch.float64), SETTINGS)
        assert drawn.item() >= 2


def test_sampling_from_one_token_is_greedy_decoding() -> None:
    sources = random_sources(6)
    greedy = search(undecided(), sources, DecodingConfig(method="greedy", max_extra_length=6))
    for changes in ({"top_k": 1}, {"top_p": 1e-9}, {"temperature": 0.001}):
        drawn = search(undecided(), sources, replace(SETTINGS, **changes))
        for one, other in zip(greedy, drawn, strict=True):
            assert all(ids(other, ending) == ids(one) for ending in other.endings)


def outputs(settings: DecodingConfig) -> list[list[list[int]]]:
    found = search(undecided(), random_sources(4), settings)
    return [[ids(one, ending) for ending in one.endings] for one in found]


def test_the_seed_determines_the_draws() -> None:
    torch.manual_seed(1)
    first = outputs(SETTINGS)
    torch.manual_seed(2)
    state = torch.get_rng_state()
    assert outputs(SETTINGS) == first
    assert torch.equal(torch.get_rng_state(), state)  # nobody else's random numbers are used
    assert outputs(replace(SETTINGS, seed=1)) != first


def test_rows_differ_and_do_not_depend_on_how_many_there_are() -> None:
    four, two = outputs(SETTINGS), outputs(replace(SETTINGS, n_best=2))
    assert [rows[:2] for rows in four] == two
    assert any(len({tuple(row) for row in rows}) > 1 for rows in four)


def test_random_numbers_are_those_of_the_sentence() -> None:
    sources = [[4, 5, EOS], [6, EOS]]
    together = random_numbers(sources, 2, 10, seed=3)
    assert torch.equal(together[1:], random_numbers(sources[1:], 2, 10, seed=3))
    assert torch.equal(together[..., :5], random_numbers(sources, 2, 5, seed=3))
    assert together.unique().numel() == together.numel()


def test_sums_are_computed_on_the_cpu_for_a_device_without_float64() -> None:
    assert device_of_sums(torch.device("mps")) == torch.device("cpu")
    assert device_of_sums(torch.device("cuda", 1)) == torch.device("cuda", 1)


def test_threads_that_share_a_model_do_not_affect_each_other() -> None:
    settings = [replace(SETTINGS, seed=seed) for seed in range(6)] + [DecodingConfig(beam=3), DecodingConfig(beam=2)]
    alone = [outputs(one) for one in settings]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(outputs, settings)) == alone

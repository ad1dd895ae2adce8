"""A search that repeats one token is stopped, says so, and changes nothing else."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor

from tests.decoding.test_tree import Tokens
from tests.support.small_decoding import ids
from tests.support.table_model import TableModel, TableState
from transformer.config import EOS, DecodingConfig
from transformer.decoding.hypotheses import hypotheses
from transformer.decoding.repetition import CHECK_EVERY, COUNT_FROM, LONGEST_RUN, Runs, ends_in_loop
from transformer.decoding.search import search
from transformer.text.tokenizer import Tokenizer

A, B = 4, 5
LONG = DecodingConfig(method="greedy", max_extra_length=200)
METHODS = [LONG, replace(LONG, method="beam", n_best=3), replace(LONG, method="sampling", n_best=3, temperature=0.001)]


class Repeater(TableModel):
    """Writes `writes` for ever, unless its source begins with B: then it ends after `ends_after` tokens."""

    def __init__(self, writes: list[int], ends_after: int = 50):
        super().__init__(8, seed=1, max_positions=300)
        self.output = SimpleNamespace(weight=torch.zeros(8, 8))
        self.writes, self.ends_after = writes, ends_after

    def key(self, source: Tensor) -> Tensor:
        return source[:, 0]  # (B)

    def step(self, tokens: Tensor, state: TableState) -> Tensor:
        return super().step(tokens, state).float()

    def logits(self, keys: Tensor, read: Tensor) -> Tensor:
        length = read.shape[1]  # <s> and what was written
        logits = torch.zeros(len(keys), 8)
        logits[:, self.writes[(length - 1) % len(self.writes)]] = 20.0
        logits[:, EOS] = -1e9
        logits[keys == B, EOS] = 40.0 if length > self.ends_after else 0.0
        return logits


@pytest.mark.parametrize("settings", METHODS, ids=lambda settings: settings.method)
def test_a_search_that_repeats_one_token_is_stopped(settings: DecodingConfig) -> None:
    found = search(Repeater([A]).as_model(), [[A, EOS]], settings)[0]
    assert COUNT_FROM + LONGEST_RUN <= len(found.candidates) < COUNT_FROM + LONGEST_RUN + CHECK_EVERY
    assert not any(ending.finished for ending in found.endings)
    assert ends_in_loop(ids(found))


@pytest.mark.parametrize("settings", METHODS, ids=lambda settings: settings.method)
def test_a_search_that_alternates_between_tokens_continues_to_the_length_limit(settings: DecodingConfig) -> None:
    found = search(Repeater([A, B]).as_model(), [[A, EOS]], settings)[0]
    assert len(found.candidates) == found.limit == 202
    assert not ends_in_loop(ids(found))


@pytest.mark.parametrize(("writes", "at_limit"), [([A], False), ([A, B], True)])
def test_a_hypothesis_knows_whether_it_was_cut_off_at_the_length_limit(writes: list[int], at_limit: bool) -> None:
    settings = replace(LONG, method="beam", n_best=3)
    found = search(Repeater(writes).as_model(), [[A, EOS]], settings)[0]
    tokenizer: Tokenizer = Tokens()  # type: ignore[assignment]
    cut_off, _ = hypotheses(found, settings, tokenizer, None)
    assert [each.at_limit for each in cut_off] == [at_limit] * 3
    assert cut_off[0].is_loop is not at_limit
    assert not all(each.is_loop for each in cut_off)  # the others end with the loop of the best


@pytest.mark.parametrize("settings", METHODS, ids=lambda settings: settings.method)
def test_a_loop_does_not_change_other_sentences_of_the_batch(settings: DecodingConfig) -> None:
    model = Repeater([A, A, A, A, A, B], ends_after=60).as_model()
    alone = search(model, [[B, EOS]], settings)[0]
    looping = Repeater([A, A, A, A, A, B], ends_after=60)
    looping.logits = lambda keys, read: torch.where(  # type: ignore[method-assign]
        (keys == A)[:, None], torch.eye(8)[A] * 20.0, Repeater.logits(looping, keys, read)
    )
    stopped, beside = search(looping.as_model(), [[A, EOS], [B, EOS]], settings)
    assert len(stopped.candidates) < COUNT_FROM + LONGEST_RUN + CHECK_EVERY
    assert ids(beside) == ids(alone)
    assert beside.endings[0].finished


def test_a_prefix_may_repeat_a_token() -> None:
    prefix = [A] * 60
    found = search(Repeater([A], ends_after=65).as_model(), [[B, EOS]], LONG, prefix)[0]
    assert found.endings[0].finished
    assert len(found.candidates) == 66


def test_runs_are_reordered_with_the_hypotheses() -> None:
    runs = Runs(prefix_length=0)
    for _ in range(COUNT_FROM + 1):
        runs.advance(torch.tensor([[A, B]]), torch.tensor([[0, 0]]))
    assert runs.lengths is not None
    assert runs.lengths.tolist() == [[1, 1]]
    runs.advance(torch.tensor([[B, B]]), torch.tensor([[1, 0]]))
    assert runs.lengths.tolist() == [[2, 1]]
    runs.advance(torch.tensor([[B, A]]), torch.tensor([[0, 0]]))
    assert runs.lengths.tolist() == [[3, 1]]


def test_a_short_run_or_one_before_the_end_is_not_a_loop() -> None:
    assert ends_in_loop([B, *[A] * LONGEST_RUN])
    assert not ends_in_loop([A] * (LONGEST_RUN - 1))
    assert not ends_in_loop([*[A] * LONGEST_RUN, B])

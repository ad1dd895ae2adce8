"""Prefetched batches are the same batches."""

import threading
from collections.abc import Generator, Iterator
from itertools import count, islice
from typing import cast

import pytest
import torch

from tests.support.patience import PATIENCE
from transformer.data.batches import Batch, collate
from transformer.data.training_data import Position
from transformer.errors import CorpusError
from transformer.training.prefetch import prefetch, prefetched


def drawn_by(threads: set[str]) -> Iterator[int]:
    for number in count():
        threads.add(threading.current_thread().name)
        yield number


def test_items_come_in_their_order_from_another_thread() -> None:
    threads: set[str] = set()
    assert list(islice(prefetch(drawn_by(threads)), 50)) == list(range(50))
    assert threads
    assert threading.current_thread().name not in threads


def test_at_most_depth_batches_are_prefetched_and_closing_ends_the_thread() -> None:
    drawn: list[int] = []

    def items() -> Iterator[int]:
        for number in count():
            drawn.append(number)
            yield number

    stream = cast("Generator[int]", prefetch(items(), depth=2))
    assert [next(stream), next(stream)] == [0, 1]
    stream.close()
    for thread in threading.enumerate():
        if thread.name == "batches":
            thread.join(timeout=PATIENCE)
            assert not thread.is_alive()
    assert drawn in ([0, 1], [0, 1, 2], [0, 1, 2, 3])  # two ahead of what was taken, unless they were cancelled


def test_closing_does_not_wait_for_an_item_that_is_still_being_taken() -> None:
    is_taken, is_over = threading.Event(), threading.Event()

    def items() -> Iterator[int]:
        yield 0
        is_taken.set()
        assert is_over.wait(PATIENCE)
        yield 1

    stream = cast("Generator[int]", prefetch(items()))
    assert next(stream) == 0
    assert is_taken.wait(PATIENCE)
    stream.close()
    assert not is_over.is_set()  # it has not waited
    is_over.set()


def test_an_error_is_raised_where_its_item_is_due() -> None:
    def items() -> Iterator[int]:
        yield 0
        yield 1
        raise CorpusError("line 3")

    stream = prefetch(items())
    assert [next(stream), next(stream)] == [0, 1]
    with pytest.raises(CorpusError, match="line 3"):
        next(stream)


def test_on_a_cpu_nothing_is_drawn_before_it_is_due() -> None:
    batches = stream([])
    assert prefetched(torch.device("cpu"), batches) is batches
    assert prefetched(torch.device("cuda"), batches) is not batches


def stream(drawn: list[int]) -> Iterator[tuple[Batch, Position]]:
    for number in count():
        drawn.append(number)
        yield collate([[5] * (number + 1)], [[6]]), Position(0, number + 1)


def test_for_cuda_each_batch_is_pinned_by_the_thread_that_draws_it_on_the_device_of_its_rank(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pinned_by: dict[int, str] = {}
    devices: list[tuple[torch.device, str]] = []

    def pin(tensor: torch.Tensor) -> torch.Tensor:
        copy = tensor.clone()
        pinned_by[copy.data_ptr()] = threading.current_thread().name
        return copy

    monkeypatch.setattr(torch.Tensor, "pin_memory", pin)
    monkeypatch.setattr(torch.cuda, "set_device", lambda one: devices.append((one, threading.current_thread().name)))
    made = list(islice(prefetched(torch.device("cuda", 3), stream([])), 4))
    for (batch, after), (plain, expected) in zip(made, stream([]), strict=False):
        assert after == expected
        assert batch.target_tokens == plain.target_tokens
        for name in ("source", "target", "labels"):
            assert torch.equal(getattr(batch, name), getattr(plain, name))
            assert pinned_by[getattr(batch, name).data_ptr()].startswith("batches")
    ((device, thread),) = devices
    assert device == torch.device("cuda", 3)
    assert thread.startswith("batches")

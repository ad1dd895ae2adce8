"""What does each measure of the inference copy gain? Printed at the end of tests/benchmarks/decoding.py, and by itself:

    python -m tests.benchmarks.decoding_tricks --size small --threads 1

A row is the time without one measure divided by the time with all of them, the median of pairs that were run directly
after one another. A measure that gains less than 1.05 times everywhere is not worth its code.
"""

import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated
from unittest import mock

import torch
import typer
from rich.console import Console
from rich.table import Table

from tests.benchmarks import decoding
from transformer.decoding.fast import fast_transformer
from transformer.decoding.fast.fast_cache import Past
from transformer.decoding.fast.fast_transformer import FastTransformer
from transformer.kernels.malloc import keep_freed_memory
from transformer.model import Transformer


class GrowingPast(Past):
    """A cache without spare capacity: each step copies it into a new tensor, as torch.cat does."""

    def capacity(self) -> int:
        return self.length

    def select(self, rows: torch.Tensor) -> None:
        self.spare = torch.empty(0)
        super().select(rows)


def without_packed_weights(model: Transformer) -> FastTransformer:
    """Matrices are stored transposed, not as oneDNN packs them."""
    with mock.patch.object(torch.backends.mkldnn, "is_available", return_value=False):
        return FastTransformer(model)


def without_folded_attention(model: Transformer) -> FastTransformer:
    """W^Q and W^O of cross-attention stay matrices of their own."""
    fast = FastTransformer(model)
    fast.foldable = None
    return fast


@contextmanager
def growing_cache() -> Iterator[None]:
    """While it lasts, states have a GrowingPast."""
    with mock.patch.object(fast_transformer, "Past", GrowingPast):
        yield


def rows(model: Transformer) -> dict[str, Callable[[int], decoding.Run]]:
    """For each row of the table: beam -> how it decodes without that measure."""

    def with_growing_cache(beam: int) -> decoding.Run:
        run = decoding.ours(FastTransformer(model), beam)

        def patched(batches: decoding.Batches) -> tuple[float, list[list[int]]]:
            with growing_cache():
                return run(batches)

        return patched

    return {
        "packed weights": lambda beam: decoding.ours(without_packed_weights(model), beam),
        "folded cross-attention": lambda beam: decoding.ours(without_folded_attention(model), beam),
        "preallocated cache": with_growing_cache,
        "all, and merged matrices, no modules": lambda beam: decoding.ours(model, beam),
    }


def show_tricks(size: str, rounds: int) -> None:
    """Prints the table for models of this size, with the present number of threads."""
    table = Table(title=f"Gain of each measure, {size}, {torch.get_num_threads()} threads")
    cases = [(batch, beam) for batch in decoding.SENTENCES for beam in (1, 4)]
    for column in (
        "measure",
        *(f"{batch} x beam {beam}" if beam > 1 else f"{batch} x greedy" for batch, beam in cases),
    ):
        table.add_column(column, justify="right")
    model = decoding.endless_model(size)
    fast = FastTransformer(model)
    for name, without in rows(model).items():
        gains = []
        for batch, beam in cases:
            batches, all_of_them, one_less = decoding.batches_of(batch), decoding.ours(fast, beam), without(beam)
            assert one_less(batches)[1] == all_of_them(batches)[1]  # and warm up
            gains.append(statistics.median(one_less(batches)[0] / all_of_them(batches)[0] for _ in range(rounds)))
        table.add_row(name, *(f"{gain:.2f}" for gain in gains))
    Console().print(table)


def main(
    size: Annotated[str, typer.Option(help=f"Of the model: {' or '.join(decoding.SIZES)}.")] = "small",
    threads: Annotated[int, typer.Option(help="Of torch.")] = 1,
    rounds: Annotated[int, typer.Option(help="The median of so many pairs.")] = 9,
) -> None:
    """Prints the table."""
    keep_freed_memory()
    torch.set_num_threads(threads)
    show_tricks(size, rounds)


if __name__ == "__main__":
    typer.run(main)

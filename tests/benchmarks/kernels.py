"""How many times as fast as its definition each file of transformer/kernels is, on this machine.

    python -m tests.benchmarks.kernels [--rounds 15] [--threads 2]

Each kernel and the torch expression that defines it take turns in one process, on sizes of the checkpoints that ship
(d_model 256, 8 heads, 8,000 tokens of vocabulary); the table has the median of the ratios of the rounds. "Train" is a
forward and a backward pass over a batch (attention: 32 sentences of 20 tokens; the others: 4,096 tokens), "decode" the
work of one decoding step.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch.nn.functional import cross_entropy, dropout, linear, scaled_dot_product_attention

from transformer.kernels import dropout as dropout_module
from transformer.kernels import fast_attention as attention_module
from transformer.kernels.cross_entropy import linear_cross_entropy
from transformer.kernels.fast_attention import few_queries_attention
from transformer.kernels.matmul import use_fast_matmul
from transformer.kernels.packed_linear import packed
from transformer.kernels.topk import topk

B, H, T, E, D, F, V = 32, 8, 20, 32, 256, 1024, 8000
TOKENS = 4096  # of a batch in training
SECONDS = 0.03  # of one turn


class Row(NamedTuple):
    """One line of the table: what is measured, and the two ways to do it."""

    file: str
    what: str
    kernel: Callable[[], object]
    definition: Callable[[], object]


def trained(function: Callable[..., torch.Tensor], *inputs: torch.Tensor) -> Callable[[], object]:
    """A forward and a backward pass."""
    leaves = [x.detach().requires_grad_() if x.is_floating_point() else x for x in inputs]

    def run() -> object:
        return torch.autograd.grad(function(*leaves).float().sum(), [x for x in leaves if x.requires_grad])

    return run


def rows() -> list[Row]:
    """All that is measured."""
    found = []
    mask = (torch.arange(T) < torch.randint(T // 2, T + 1, (B, 1)))[:, None, None]  # (B, 1, 1, K)
    for dtype in (torch.float32, torch.bfloat16):
        name = str(dtype).removeprefix("torch.")
        q, k, v = torch.randn(3, B, H, T, E, dtype=dtype).unbind()

        def ours(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            return attention_module.attention(q, k, v, mask)

        def theirs(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            return scaled_dot_product_attention(q, k, v, mask)

        found.append(Row("attention", f"train, {name}", trained(ours, q, k, v), trained(theirs, q, k, v)))
    q, k, v = torch.randn(B, H, 4, E), torch.randn(B, H, T, E), torch.randn(B, H, T, E)
    found.append(
        Row(
            "attention",
            "decode, beam 4",
            lambda: few_queries_attention(q, k, v, None),
            lambda: scaled_dot_product_attention(q, k, v),
        )
    )
    x = torch.randn(TOKENS, F)
    ours_dropout, theirs_dropout = (lambda x: dropout_module.dropout(x, 0.1)), (lambda x: dropout(x, 0.1))
    found.append(Row("dropout", "train", trained(ours_dropout, x), trained(theirs_dropout, x)))
    states, weight, labels = torch.randn(TOKENS, D), torch.randn(V, D), torch.randint(0, V, (TOKENS,))
    found.append(
        Row(
            "cross_entropy",
            "train",
            trained(lambda s, w: linear_cross_entropy(s, w, labels, 0.1), states, weight),
            trained(lambda s, w: cross_entropy(s @ w.T, labels, reduction="sum", label_smoothing=0.1), states, weight),
        )
    )
    for batch in (1, B):
        scores = torch.randn(batch, 4, V)
        what = f"decode, {batch} sentence{'s' * (batch > 1)}, beam 4"
        found.append(Row("topk", what, lambda s=scores: topk(s, 8), lambda s=scores: s.topk(8, dim=-1)))  # type: ignore[misc]
        layer, x = torch.nn.Linear(D, F), torch.randn(4 * batch, D)
        fast = packed(layer)
        definition = (layer.weight.detach(), layer.bias.detach())
        found.append(
            Row("packed_linear", what, lambda f=fast, x=x: f(x), lambda d=definition, x=x: linear(x, *d))  # type: ignore[misc]
        )
    return found


def ratio(row: Row, rounds: int) -> float:
    """How many times as fast the kernel is: the median over the rounds."""

    def seconds(function: Callable[[], object], count: int) -> float:
        begin = time.perf_counter()
        for _ in range(count):
            function()
        return time.perf_counter() - begin

    once = max(min(seconds(row.definition, 1) for _ in range(3)), 1e-6)
    seconds(row.kernel, 3)
    count = max(1, int(SECONDS / once))
    return statistics.median(seconds(row.definition, count) / seconds(row.kernel, count) for _ in range(rounds))


def matmul_ratio(rounds: int) -> float:
    """The same of float32 products, before and after the choice of the library."""
    backend = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]
    before = backend.fp32_precision
    use_fast_matmul()
    after = backend.fp32_precision
    x, w = torch.randn(TOKENS, D), torch.randn(D, F)

    def under(setting: str) -> Callable[[], object]:
        def run() -> object:
            backend.fp32_precision = setting
            return x @ w

        return run

    found = ratio(Row("matmul", "", under(after), under(before)), rounds)
    backend.fp32_precision = before
    return found


def main(arguments: list[str] | None = None) -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=2)
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(chosen.threads)
    torch.manual_seed(0)
    print(f"{'matmul':14} {'train, float32 products':28} {matmul_ratio(chosen.rounds):5.2f}")
    use_fast_matmul()  # as in training: attention in torch's fused kernel depends on it
    for row in rows():
        print(f"{row.file:14} {row.what:28} {ratio(row, chosen.rounds):5.2f}")


if __name__ == "__main__":
    main()

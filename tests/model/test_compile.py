"""`torch.compile` makes one graph of the model without a probe, and few graphs suffice for all lengths."""

import logging
import shutil
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.support.small_model import Counting, batch, randomised, small
from transformer.model import Transformer


@pytest.mark.parametrize("norm", ["post", pytest.param("pre", marks=pytest.mark.soak)])
@torch.no_grad()
def test_without_a_probe_the_model_is_one_graph_for_all_lengths(norm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("torch.__trace"), "propagate", False)  # or pytest writes all of it down
    torch._dynamo.reset()
    model = randomised(small(norm=norm, decoder_layers=1))
    backend = Counting()
    compiled = torch.compile(model, fullgraph=True, backend=backend, dynamic=True)
    source, target = batch()
    for s, t in ((7, 4), (6, 4), (5, 3), (7, 2)):
        inputs = source[:, :s].clone(), target[:, :t].clone()
        torch.testing.assert_close(compiled(*inputs), model(*inputs), rtol=0, atol=1e-12)
    assert len(backend.graphs) == 1
    calls = [str(node.target) for node in backend.graphs[0].graph.nodes if node.op == "call_function"]
    assert sum("scaled_dot_product_attention" in call for call in calls) == 3
    assert not any("softmax" in call for call in calls)


def test_compiling_neither_copies_nor_renames_a_weight() -> None:
    model = Transformer(small())
    names = list(model.state_dict())
    compiled: Any = torch.compile(model, backend="eager")
    assert [id(p) for p in compiled.parameters()] == [id(p) for p in model.parameters()]
    assert list(model.state_dict()) == names
    assert not any("_orig_mod" in name for name in names)


@pytest.mark.soak
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler, and there is no g++")
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_compiled_model_and_its_gradients_equal_the_eager_ones(norm: str) -> None:
    torch._dynamo.reset()
    model = randomised(small(norm=norm))
    compiled: Callable[[Tensor, Tensor], Tensor] = torch.compile(model, fullgraph=True)
    source, target = batch()
    gradients = []
    for run in (model, compiled):
        model.zero_grad()
        logits = run(source, target)
        logits.logsumexp(-1).sum().backward()
        gradients.append([logits.detach(), *(p.grad for p in model.parameters() if p.grad is not None)])
    for eager, fast in zip(*gradients, strict=True):
        torch.testing.assert_close(fast, eager, rtol=0, atol=1e-10)

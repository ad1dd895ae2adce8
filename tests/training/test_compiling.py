"""Training with torch.compile, on a backend that compiles nothing but counts what it is given."""

import logging
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch

from tests.model.small import Counting, randomised, small
from tests.training.small import tensors, toy_recipe
from transformer.errors import TrainingError
from transformer.model import Transformer
from transformer.text.batches import Batch, collate
from transformer.training import train
from transformer.training.compiling import compile_layers
from transformer.training.loss import summed_loss

CPU = torch.device("cpu")


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> list[torch.fx.GraphModule]:
    """Those that are compiled from here on, but for the trial."""
    torch._dynamo.reset()
    monkeypatch.setattr(logging.getLogger("torch.__trace"), "propagate", False)  # or pytest writes all of it down
    backend = Counting()
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=backend))
    return backend.graphs


def batches() -> list[Batch]:
    """Three, of different rows and lengths."""
    shapes = [(3, 5, 4), (2, 8, 6), (5, 3, 9)]
    return [collate([[7] * (s - row % 2) for row in range(b)], [[9] * t] * b) for b, s, t in shapes]


def test_one_graph_trains_on_batches_of_all_shapes(graphs: list[torch.fx.GraphModule]) -> None:
    plain, compiled = randomised(small(decoder_layers=1)), randomised(small(decoder_layers=1))
    compile_layers(compiled, CPU)
    trial = len(graphs)
    for batch in batches():
        for model in (plain, compiled):
            model.zero_grad()
            summed_loss(model, batch, 0.1).backward()
        for (name, weight), (_, same) in zip(plain.named_parameters(), compiled.named_parameters(), strict=True):
            torch.testing.assert_close(weight.grad, same.grad, rtol=1e-9, atol=1e-12, msg=name)
    assert len(graphs) - trial == 1


def test_a_compiled_run_makes_the_checkpoint_of_any_other_and_validates_without_compiling(
    graphs: list[torch.fx.GraphModule], tmp_path: Path
) -> None:
    for name, compiled in (("plain", False), ("run", True)):
        recipe = toy_recipe(updates=4, validate_every=2, precision="float32", compile=compiled)
        without = replace(recipe, model=replace(recipe.model, dropout=0.0, embedding_dropout=0.0))
        train(without, tmp_path / name, device="cpu")
        assert len(graphs) == (2 if compiled else 0)  # the trial and the layers
    plain, run = (tensors(tmp_path / name / "last.safetensors") for name in ("plain", "run"))
    assert plain.keys() == run.keys()
    for name, weight in plain.items():
        torch.testing.assert_close(run[name], weight, rtol=1e-4, atol=1e-6, msg=name)


def test_dropout_is_in_the_graph(graphs: list[torch.fx.GraphModule]) -> None:
    model = randomised(small(decoder_layers=1, dropout=0.4)).train()
    compile_layers(model, CPU)
    trial = len(graphs)
    losses = [summed_loss(model, batches()[0], 0.0).item() for _ in range(2)]
    assert losses[0] != losses[1]
    assert len(graphs) - trial == 1


def test_a_machine_without_a_compiler_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor import config

    torch._dynamo.reset()
    monkeypatch.setattr(config.cpp, "cxx", ("there-is-no-such-compiler",))
    with pytest.raises(TrainingError, match=r"training\.compile = true, and torch cannot compile for cpu.*g\+\+"):
        compile_layers(Transformer(small()), CPU)

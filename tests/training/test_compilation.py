"""Training with torch.compile, with a backend that compiles nothing and counts the graphs it gets."""

import logging
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
import torch

from tests.support.small_model import Counting, randomised, small
from tests.support.small_training import tensors, toy_recipe
from transformer.config import TrainingConfig
from transformer.data.batches import Batch, collate
from transformer.errors import TrainingError
from transformer.model import Transformer
from transformer.recipe import load_recipe
from transformer.training import train
from transformer.training.compilation import compile_decoder_output
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
    compile_decoder_output(compiled, CPU, True)
    trial = len(graphs)
    for batch in batches():
        for model in (plain, compiled):
            model.zero_grad()
            summed_loss(model, batch, 0.1).backward()
        for (name, weight), (_, same) in zip(plain.named_parameters(), compiled.named_parameters(), strict=True):
            torch.testing.assert_close(weight.grad, same.grad, rtol=1e-9, atol=1e-12, msg=name)
    assert len(graphs) - trial == 1


@pytest.mark.parametrize("first", [(4, 4, 4), (1, 6, 6)], ids=["equal sizes", "one row"])
def test_a_first_batch_of_any_shape_needs_no_other_graph(
    first: tuple[int, int, int], graphs: list[torch.fx.GraphModule]
) -> None:
    plain, compiled = randomised(small(decoder_layers=1)), randomised(small(decoder_layers=1))
    compile_decoder_output(compiled, CPU, True)
    trial = len(graphs)
    for rows, source, target in (first, (3, 6, 6), (1, 5, 3), (5, 5, 3), (2, 3, 7), (7, 3, 7)):
        batch = collate([[7] * (source - 1)] * rows, [[9] * (target - 1)] * rows)
        torch.testing.assert_close(summed_loss(compiled, batch, 0.1), summed_loss(plain, batch, 0.1), rtol=1e-9, atol=0)
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
        if not name.endswith("key.bias"):  # no softmax sees it: Adam follows what rounding leaves of its gradient
            torch.testing.assert_close(run[name], weight, rtol=1e-4, atol=1e-6, msg=name)


def test_dropout_is_in_the_graph(graphs: list[torch.fx.GraphModule]) -> None:
    model = randomised(small(decoder_layers=1, dropout=0.4)).train()
    compile_decoder_output(model, CPU, True)
    trial = len(graphs)
    losses = [summed_loss(model, batches()[0], 0.0).item() for _ in range(2)]
    assert losses[0] != losses[1]
    assert len(graphs) - trial == 1


def test_a_machine_without_a_compiler_gets_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor import config

    torch._dynamo.reset()
    monkeypatch.setattr(config.cpp, "cxx", ("there-is-no-such-compiler",))
    with pytest.raises(TrainingError, match=r"training\.compile = true, and torch cannot compile for cpu.*g\+\+"):
        compile_decoder_output(Transformer(small()), CPU, True)


def is_compiled(model: Transformer) -> bool:
    return "decoder_output" in vars(model)  # and no longer the method of its class


@pytest.mark.parametrize(
    ("asked", "device", "compiled"),
    [
        ("auto", "cpu", False),
        ("auto", "mps", False),
        ("auto", "cuda", True),
        (False, "cuda", False),
        (True, "cpu", True),
    ],
)
def test_unless_a_recipe_says_otherwise_training_is_compiled_on_cuda_and_nowhere_else(
    asked: Literal["auto", True, False], device: str, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_recipe("paper-base").training.compile == TrainingConfig().compile == "auto"
    monkeypatch.setattr(torch, "compile", lambda function, dynamic=None: partial(function))
    monkeypatch.setattr(torch, "ones", lambda *shape, device: None)  # there need not be such a device
    monkeypatch.setattr(torch, "square", lambda x: x)
    model = Transformer(small())
    compile_decoder_output(model, torch.device(device), asked)
    assert is_compiled(model) == compiled


def test_where_cuda_cannot_compile_training_continues_without_it_and_logs_that(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(function: object) -> None:
        raise RuntimeError("Cannot find a working triton installation.\nMore.")

    monkeypatch.setattr(torch, "compile", fail)
    model = Transformer(small())
    compile_decoder_output(model, torch.device("cuda"), "auto")
    assert not is_compiled(model)
    assert "not compiled, and slower: torch cannot compile for cuda here: Cannot find a working triton" in caplog.text

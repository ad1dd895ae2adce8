"""Runs that take a second: a tiny model, a tiny corpus, and a way to train it in a process of its own."""

import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from safetensors import safe_open
from torch import Tensor
from torch.optim import AdamW

from transformer.config import DecodingConfig, ModelConfig, Recipe, TokenizerConfig, TrainingConfig
from transformer.data.batches import Batch
from transformer.data.data_options import DataConfig
from transformer.data.toy_tasks import toy_pairs
from transformer.data.training_data import Position
from transformer.model import Transformer
from transformer.training import flops
from transformer.training.distributed import Ranks
from transformer.training.measurements import Update
from transformer.training.metrics import read_metrics
from transformer.training.optimizer import make_optimizer
from transformer.training.training import Training
from transformer.training.validation import ValidationText

MODEL = ModelConfig(vocab_size=400, encoder_layers=1, decoder_layers=1, d_model=16, d_ff=32, heads=2, max_positions=64)
TRAINING = TrainingConfig(
    updates=12,
    warmup=4,
    peak_rate=0.01,
    log_every=5,
    validate_every=5,
    save_every=4,
    validation_sentences=8,
    average_last=2,
    precision="float32",  # "auto" is measured: two runs may differ
)
DECODING = DecodingConfig(max_extra_length=2)  # an untrained model would not stop
TIMES = ("seconds", "tokens_per_second", "mfu")  # the only values that may differ between two runs of one recipe


def toy_recipe(**training: Any) -> Recipe:
    """Letters in reverse order, made on the fly."""
    data = DataConfig(
        toy="reverse",
        toy_symbols=4,
        toy_max_length=5,
        toy_epoch=150,
        valid_size=20,
        max_length=20,
        tokens_per_batch=200,
    )
    tokenizer = TokenizerConfig(vocab_size=400)
    training_config = replace(TRAINING, **training)
    return Recipe(name="toy", model=MODEL, data=data, tokenizer=tokenizer, training=training_config, decoding=DECODING)


def corpus_recipe(folder: Path, sampling: float = 0.2, **training: Any) -> Recipe:
    """Number words from a file, with subwords sampled again in each epoch."""
    corpus = folder / "corpus.tsv"
    if not corpus.exists():
        write_pairs(corpus, toy_pairs("numbers", 1, 150))
    return Recipe(
        name="corpus",
        model=MODEL,
        data=DataConfig(train=(str(corpus),), valid_size=12, max_length=60, tokens_per_batch=400),
        tokenizer=TokenizerConfig(vocab_size=350, sampling=sampling),
        training=replace(TRAINING, **training),
        decoding=DECODING,
    )


def write_pairs(path: Path, pairs: list[tuple[str, str]]) -> Path:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    return path


def stop_after(update: int, monkeypatch: pytest.MonkeyPatch, number: signal.Signals = signal.SIGTERM) -> None:
    """The next run gets a signal while it makes this update."""

    def after(training: Training) -> None:
        if training.progress.update == update:
            os.kill(os.getpid(), number)

    wrap_update(monkeypatch, after=after)


def wrap_update(
    monkeypatch: pytest.MonkeyPatch,
    *,
    before: Callable[[Training], None] = lambda _: None,
    after: Callable[[Training], None] = lambda _: None,
) -> None:
    """The next run calls these before and after each update."""
    update = Training.update

    def wrapped(training: Training) -> list[Update]:
        before(training)
        done = update(training)
        after(training)
        return done

    monkeypatch.setattr(Training, "update", wrapped)


def training_of(
    model: Transformer,
    recipe: Recipe,
    batches: Iterator[tuple[Batch, Position]],
    *,
    optimizer: AdamW | None = None,
    ranks: Ranks | None = None,
) -> Training:
    """A training of this model that is never validated."""
    text = ValidationText(cast(Any, None), (), ())
    optimizer = optimizer or make_optimizer(model, recipe.training)
    return Training(recipe, model, optimizer, batches, text, ranks=ranks or Ranks())


# What a run has left behind


def tensors(path: Path) -> dict[str, Tensor]:
    with safe_open(path, framework="pt") as file:
        return {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 (it is no dictionary)


def metadata(path: Path) -> dict[str, Any]:
    with safe_open(path, framework="pt") as file:
        return {name: json.loads(text) for name, text in file.metadata().items() if text.startswith("{")}


def lines(run: Path) -> list[dict[str, Any]]:
    """metrics.jsonl without the times."""
    found = read_metrics(run / "metrics.jsonl")
    return [{name: value for name, value in line.items() if name not in TIMES} for line in found]


def assert_same_run(run: Path, other: Path) -> None:
    """Weights, moments, averages and metrics are equal to the bit, and so is everything else but the times."""
    files = {path.relative_to(run) for path in run.rglob("*.safetensors")}
    assert files == {path.relative_to(other) for path in other.rglob("*.safetensors")}
    for file in files:
        ours, theirs = tensors(run / file), tensors(other / file)
        assert ours.keys() == theirs.keys()
        for name, tensor in ours.items():
            assert torch.equal(tensor, theirs[name]), f"{name} in {file}"
    assert lines(run) == lines(other)
    assert (run / "tokenizer.model").read_bytes() == (other / "tokenizer.model").read_bytes()
    ours, theirs = (metadata(folder / "training.safetensors")["progress"] for folder in (run, other))
    assert {**ours, "seconds": 0, "recent_seconds": 0} == {**theirs, "seconds": 0, "recent_seconds": 0}


# Processes of their own


def in_new_process(function: Callable[..., None], *arguments: Any) -> ForkServerProcess:
    """Starts `function` in a process forked from one that has imported torch and done nothing else."""
    process = knowing_torch().Process(target=_alone, args=(function, *arguments))
    process.start()
    return process


def knowing_torch() -> ForkServerContext:
    """Starts processes by forking one that has imported torch and done nothing else, which is a hundred times quicker
    than starting Python. Not by forking this one: torch's threads do not survive a fork."""
    context = multiprocessing.get_context("forkserver")
    # torch imports _dynamo when the first optimizer is made, which takes longer than all the rest.
    context.set_forkserver_preload(["transformer.training", "torch._dynamo", "tests.support.small_training"])
    return context


def _alone(function: Callable[..., None], *arguments: Any) -> None:
    torch.set_num_threads(1)
    # The speed of matrix products is measured in each process.
    flops.SIDES, flops.MEASURE_FOR = {"cpu": 64}, 0.0
    function(*arguments)

"""What makes training fast: the trainer as one would first write it, then one measure after the other.

    python -m tests.benchmarks.training_tricks [--size small|base|paper-base] [--rounds 3] [--threads 2] [--device auto]

Each row adds to those above it. The first is a simple Transformer without any optimization: attention step by
step, logits of every position, padding included, Adam as a loop over the weights. Every line is a process of its own;
they take turns, and the fastest of several rounds counts. The MFU is what the products of the model need, of
what large square products reach on this device in that precision (transformer/training/flops.py).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from tests.benchmarks.training import best_of, compete, sentences, started
from tests.benchmarks.training_peers import CLIP, LENGTHS, RATE, SMOOTHING, SizeName, config_of
from transformer.config import PAD, TrainingConfig, TrainingPrecision
from transformer.data.batches import Batch
from transformer.device import choose_device
from transformer.kernels.malloc import keep_freed_memory
from transformer.kernels.matmul import use_fast_matmul
from transformer.model import NULL_PROBE, Probe, Transformer, census
from transformer.training.autocast import autocast
from transformer.training.compilation import compile_decoder_output
from transformer.training.loss import summed_loss
from transformer.training.optimizer import make_optimizer


@dataclass(frozen=True)
class Row:
    """How the trainer is set."""

    name: str
    steps: bool = False  # attention step by step, all of its matrices kept
    whole: bool = False  # logits of all positions at once
    loop: bool = False  # Adam weight by weight
    precision: TrainingPrecision = "bfloat16"
    returns: bool = False  # freed memory goes back to the system
    own: bool = False  # torch multiplies float32 with the library that it takes by itself
    compiled: bool = False


ROWS = {
    "first": Row("as first written, float32", True, True, True, "float32", True, True),
    "attention": Row("+ attention that keeps no steps", False, True, True, "float32", True, True),
    "blocks": Row("+ loss in blocks, of what counts", False, False, True, "float32", True, True),
    "adam": Row("+ fused Adam", False, False, False, "float32", True, True),
    "kept": Row("+ freed memory is kept", False, False, False, "float32", False, True),
    "oneDNN": Row("+ float32 by oneDNN on a CPU", False, False, False, "float32"),
    "bfloat16": Row("+ products in bfloat16"),
    "compiled": Row("+ torch.compile", compiled=True),
}


def updater(row: Row, size: SizeName, device: torch.device) -> Callable[[Batch], object]:
    """One update of the trainer, set so."""
    if not row.returns:
        keep_freed_memory()
    if not row.own:
        use_fast_matmul()
    config = config_of(size)
    model = Transformer(config).to(device).train()
    compile_decoder_output(model, device, row.compiled)
    optimizer = make_optimizer(model, TrainingConfig())
    for group in optimizer.param_groups:
        group.update(lr=RATE, fused=not row.loop, foreach=False)
    sites = census(config)

    def loss_of(batch: Batch) -> Tensor:
        if not row.whole:
            return summed_loss(model, batch, SMOOTHING)
        probe = Probe(sites, ["*.weights"]) if row.steps else NULL_PROBE
        logits = model(batch.source, batch.target, probe).float().flatten(0, 1)  # (B * T, V)
        labels = batch.labels.flatten()  # (B * T)
        return cross_entropy(logits, labels, ignore_index=PAD, label_smoothing=SMOOTHING, reduction="sum")

    def update(batch: Batch) -> float:
        with autocast(device, row.precision):
            loss = loss_of(batch.to(device))
        (loss / batch.target_tokens).backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        optimizer.zero_grad()
        return float(loss.detach())

    return update


def measure(row: Row, size: SizeName, device: torch.device) -> None:
    """One line of the table."""
    torch.manual_seed(0)
    update = updater(row, size, device)
    generator = torch.Generator().manual_seed(1)
    batches = [sentences(length, size, generator) for length in LENGTHS]
    compete(update, config_of(size), batches, row.precision, device)


def main(
    size: Annotated[SizeName, typer.Option(help="Of model and batch.")] = "small",
    rounds: Annotated[int, typer.Option(help="The fastest of so many counts.")] = 3,
    threads: Annotated[int, typer.Option(help="0: as many as torch likes.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    compiled: Annotated[
        bool | None, typer.Option(help="The last line too; it takes minutes, and a C++ compiler. Default: on CUDA.")
    ] = None,
    only: Annotated[str, typer.Option(hidden=True)] = "",  # be this line
) -> None:
    """Prints the table."""
    if only:
        if threads:
            torch.set_num_threads(threads)
        return measure(ROWS[only], size, choose_device(device))
    if compiled is None:
        compiled = choose_device(device).type == "cuda"
    names = [name for name, row in ROWS.items() if compiled or not row.compiled]
    options = ("--size", size, "--device", device, "--threads", str(threads))
    best = best_of(rounds, {name: started(__spec__.name, name, *options) for name in names})
    table = Table(title=f"Target tokens per second in training, size {size}")
    for column in ("", "tokens/s", "times the line above", "MFU"):
        table.add_column(column, justify="right" if column else "left")
    above = None
    for name, (speed, share) in best.items():
        times = f"{speed / above:.2f}" if above else ""
        table.add_row(ROWS[name].name, f"{speed:,.0f}", times, f"{share:.0%}")
        above = speed
    Console().print(table)
    return None


if __name__ == "__main__":
    typer.run(main)

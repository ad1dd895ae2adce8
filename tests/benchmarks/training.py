"""How fast is training? Target tokens per second of ours and of two peers, on this machine.

    python -m tests.benchmarks.training [--size small|base|paper-base] [--rounds 5] [--threads 2] [--device auto]
                                        [--compile | --no-compile] [--opennmt FOLDER/bin/python]

The peers are `torch.nn.Transformer`, without any optimization, and Hugging Face's MarianMT, if its library is
installed. All get the same batches of about 4,000 target tokens (at `paper-base` 25,000, for a GPU), with lengths like
those of sentences, and make whole updates: forward, backward, clipping, Adam, with dropout. Ours is `Training.update`,
and compiled where the trainer compiles (on CUDA), unless an option says otherwise; the peers are as they come. Where
our trainer multiplies float32 in another way than torch does by itself (with oneDNN on a CPU, see
transformer/kernels/matmul.py; in TF32 on a GPU), one more row has the peers multiply so, too. A peer that cannot start,
for example because the memory of a GPU is too small for all of them, is left out, and the table says so. With --opennmt
OpenNMT-py takes part as well, on a CPU, in an environment of its own: `python -m venv FOLDER`, then `FOLDER/bin/pip
install OpenNMT-py==3.0.4 torch==2.13.0` (training_opennmt.py).

Each program is a process of its own, so that none changes the settings of another; they take turns, and the fastest
of several rounds counts: other programs can only slow them down. The MFU is what the products of our model
need, of what large square products reach on this device in that precision (transformer/training/flops.py).
"""

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.table import Table

from tests.benchmarks import training_opennmt
from tests.benchmarks.peers import with_opennmt
from tests.benchmarks.training_peers import (
    CLIP,
    DROPOUT,
    LENGTHS,
    PEERS,
    RATE,
    SIZES,
    SMOOTHING,
    SizeName,
    Update,
    config_of,
)
from tests.support.small_training import training_of
from transformer.config import EOS, ModelConfig, Recipe, TrainingConfig, TrainingPrecision
from transformer.data.batches import Batch, collate
from transformer.data.data_options import DataConfig
from transformer.data.training_data import Position
from transformer.device import choose_device
from transformer.kernels.malloc import keep_freed_memory
from transformer.kernels.matmul import use_fast_matmul
from transformer.model import Transformer
from transformer.training.autocast import use_tf32
from transformer.training.compilation import compile_decoder_output
from transformer.training.flops import measured_peak, training_flop
from transformer.training.precision import sixteen_bits


def sentences(length: int, size: SizeName, generator: torch.Generator) -> Batch:
    """A batch of random tokens, `length` and a little more or less in each sentence."""
    vocab_size = SIZES[size].vocab_size
    sources: list[list[int]] = []
    targets: list[list[int]] = []
    while sum(map(len, targets)) + len(targets) < SIZES[size].tokens:
        for side in (sources, targets):
            count = int(torch.randint(length - 2, length + 3, (1,), generator=generator))
            side.append(torch.randint(EOS + 1, vocab_size, (count,), generator=generator).tolist())
    return collate(sources, targets)


def headlight(config: ModelConfig, precision: TrainingPrecision, device: torch.device, compiled: bool | None) -> Update:
    """Our trainer. `compiled`: None as it does by itself."""
    keep_freed_memory()
    multiply_as_ours(device)
    training: dict[str, Any] = {"precision": precision, "clip_norm": CLIP}
    if compiled is not None:
        training["compile"] = compiled
    recipe = Recipe(data=DataConfig(toy="copy"), model=config, training=TrainingConfig(**training))
    model = Transformer(config).to(device)
    compile_decoder_output(model, device, recipe.training.compile)
    run = training_of(model, recipe, iter(()))

    def update(batch: Batch) -> None:
        run.batches = iter([(batch, Position(0, 0))])
        run.update()

    return update


def multiply_as_ours(device: torch.device) -> str:
    """Has torch multiply float32 as our trainer does. Returns by what; "" if that is what torch does by itself."""
    if use_tf32(device):
        return "in TF32"
    return "by oneDNN" if device.type == "cpu" and use_fast_matmul() else ""


PROGRAMS, OPENNMT = ("Headlight", *PEERS), "OpenNMT-py"


def contest(
    name: str,
    size: SizeName,
    precision: TrainingPrecision,
    device: str,
    threads: int,
    compiled: bool | None,
    same_library: bool,
) -> None:
    """One program: for each line on stdin, makes one turn and prints its target tokens per second."""
    if threads:
        torch.set_num_threads(threads)
    torch.manual_seed(0)
    where = choose_device(device)
    config = config_of(size)
    if name == "Headlight":
        update = headlight(config, precision, where, compiled)
    else:
        if same_library:
            multiply_as_ours(where)
        update = PEERS[name](config, precision, where)
    compete(update, config, batches_of(size), precision, where)


def batches_of(size: SizeName) -> list[Batch]:
    """Those of one turn, the same for all."""
    generator = torch.Generator().manual_seed(1)
    return [sentences(length, size, generator) for length in LENGTHS]


def compete(
    update: Update, config: ModelConfig, batches: list[Batch], precision: TrainingPrecision, where: torch.device
) -> None:
    """For each line on stdin an update with each batch; prints target tokens a second and the MFU."""
    flop = sum(training_flop(config, batch) for batch in batches)
    if where.type == "cuda":
        batches = [batch.pinned() for batch in batches]

    def turn() -> None:
        for batch in batches:
            update(batch)

    turn()
    peak = measured_peak(where, precision)
    print("ready", flush=True)
    for _ in sys.stdin:
        began = time.perf_counter()
        turn()
        if where.type == "cuda":
            torch.cuda.synchronize()
        took = time.perf_counter() - began
        print(sum(batch.target_tokens for batch in batches) / took, flop / took / peak, flush=True)


def main(
    size: Annotated[SizeName, typer.Option(help="Of model and batch.")] = "small",
    rounds: Annotated[int, typer.Option(help="The fastest of so many counts.")] = 5,
    threads: Annotated[int, typer.Option(help="0: as many as torch likes.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    compiled: Annotated[
        bool | None, typer.Option("--compile/--no-compile", help="Ours. Default: as the trainer does, on CUDA.")
    ] = None,
    opennmt: Annotated[
        str | None, typer.Option(callback=with_opennmt, help="A Python that has OpenNMT-py, which takes part then.")
    ] = None,
    only: Annotated[str, typer.Option(hidden=True)] = "",  # be this program
    precision: Annotated[TrainingPrecision, typer.Option(hidden=True)] = "float32",
    same_library: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Prints the table."""
    if only:
        return contest(only, size, precision, device, threads, compiled, same_library)
    where = choose_device(device)
    on = torch.cuda.get_device_name(where) if where.type == "cuda" else where.type
    table = Table(title=f"Target tokens per second in training, size {size}, on {on}, torch {torch.__version__}")
    if opennmt and where.type != "cpu":
        raise typer.BadParameter("OpenNMT-py takes part on a CPU: give --device cpu too, or leave --opennmt out.")
    names = (*PROGRAMS, OPENNMT) if opennmt else PROGRAMS
    ratios = [f"ratio to {name}" for name in names[1:]]
    for column in ("precision", *names, *ratios, "our MFU"):
        table.add_column(column, justify="right")
    options = ["--size", size, "--device", device, "--threads", str(threads)]
    if compiled is not None:
        options.append("--compile" if compiled else "--no-compile")
    rows: dict[str, list[str]] = {name: ["--precision", name] for name in ("float32", sixteen_bits(where))}
    notes: list[str] = []
    if by := multiply_as_ours(where):
        rows[f"float32, all {by}"] = [*rows["float32"], "--same-library"]
    elif where.type == "cpu":
        notes.append("oneDNN is not float32-accurate on this processor: all multiply float32 with the same library")
    for label, more in rows.items():
        running: dict[str, subprocess.Popen[str]] = {}
        for name in PROGRAMS:
            try:
                running[name] = started(__spec__.name, name, *options, *more)
            except SystemExit as error:
                if name not in PEERS:
                    raise
                notes.append(f"{label}: {error}")
        with TemporaryDirectory() as folder:
            if opennmt:
                library = "bf16" if "--same-library" in more else "none"
                running[OPENNMT] = with_packages_of(opennmt, Path(folder), size, more[1], threads, library)
        best = best_of(rounds, running)
        ours, share = best["Headlight"]
        speeds = [f"{best[name][0]:,.0f}" if name in best else "" for name in names]
        times = [f"{ours / best[name][0]:.2f}" if name in best else "" for name in names[1:]]
        table.add_row(label, *speeds, *times, f"{share:.0%}")
    table.caption = "\n".join(notes)
    Console().print(table)
    return None


def started(module: str, name: str, *options: str) -> "subprocess.Popen[str]":
    """A program as a process of its own, when it is ready."""
    return when_ready(name, [sys.executable, "-m", module, "--only", name, *options])


def with_packages_of(
    python: str, folder: Path, size: SizeName, precision: str, threads: int, library: str
) -> "subprocess.Popen[str]":
    """OpenNMT-py, run by this interpreter; `library`: what multiplies float32, as torch calls it."""
    settings: dict[str, str | float] = {"precision": precision, "threads": threads, "library": library}
    settings |= {"rate": RATE, "smoothing": SMOOTHING, "dropout": DROPOUT, "clip": CLIP}
    file = training_opennmt.save_contest(folder / "contest.pt", config_of(size), batches_of(size), settings)
    return when_ready(OPENNMT, [python, "-m", training_opennmt.__name__, str(file)])


def when_ready(name: str, command: list[str], environment: dict[str, str] | None = None) -> "subprocess.Popen[str]":
    """A program that has made its first turn. `environment`: None for that of this process."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout
    if process.stdout.readline().strip() != "ready":
        raise SystemExit(f"{name} did not start.")
    return process


def best_of(rounds: int, running: dict[str, "subprocess.Popen[str]"]) -> dict[str, tuple[float, float]]:
    """They take turns; (target tokens a second, MFU) of each one's fastest. Ends them."""
    best = dict.fromkeys(running, (0.0, 0.0))
    for _ in range(rounds):
        for name, process in running.items():
            assert process.stdin
            assert process.stdout
            process.stdin.write("\n")
            process.stdin.flush()
            speed, share = map(float, process.stdout.readline().split())
            best[name] = max(best[name], (speed, share))
    for process in running.values():
        process.communicate()
    return best


if __name__ == "__main__":
    typer.run(main)

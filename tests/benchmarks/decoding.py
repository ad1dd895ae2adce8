"""How fast is decoding? Sentences per second of ours, of Hugging Face's MarianMT and of CTranslate2, on this CPU.

    python tests/benchmarks/decoding.py
    python tests/benchmarks/decoding.py --size small --threads 1
    python tests/benchmarks/decoding.py --opennmt FOLDER/bin/python

All get the same random weights and the same sentences of 20 random tokens, in the same batches, and write 24 tokens:
the model is made such that it never ends by itself. So they find the same outputs: "equal" says of how many that is
true of MarianMT and CTranslate2 in float32; the rest are ties within rounding. CTranslate2 runs in a process of its
own, into which torch never comes.

With --opennmt OpenNMT-py takes part, too, in an environment of its own: `python -m venv FOLDER`, then `FOLDER/bin/pip
install OpenNMT-py==3.0.4 torch==2.13.0`. Its Transformer is pre-norm only, so it gets the weights of a pre-norm model
of the same sizes: the same matrices, and one LayerNorm more on top of each stack; the last number of "equal" says of
how many outputs ours finds the same with that model. Each ratio to a peer in PyTorch is then one to the faster of the
two. (fairseq 0.12.2 can be built beside torch 2.13, but Python 3.11 cannot import it: "mutable default ... CommonConfig
for field common is not allowed".)

They take turns, once a round, and the median of the rounds counts: what else the machine does falls on all of them. A
small step of decoding is often faster with one thread than with two: both are measured, and the summary compares each
with its best number of threads. "By modules" is ours with the model itself.
"""

import statistics
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.peers import with_opennmt
from tests.support.oracles.marian import comparable, generate, marian_like
from tests.support.oracles.opennmt import OpenNMT, save_for_opennmt
from tests.support.oracles.served import Served
from transformer.config import EOS, DecodingConfig
from transformer.decoding.fast.fast_transformer import FastTransformer
from transformer.decoding.search import search
from transformer.device import multiplies_bfloat16
from transformer.export.ctranslate2_model import specification
from transformer.kernels.malloc import keep_freed_memory
from transformer.model import Transformer

SIZES: dict[str, dict[str, int]] = {
    "small": {"d_model": 256, "d_ff": 1024, "encoder_layers": 3, "decoder_layers": 3},
    "base": {"d_model": 512, "d_ff": 2048, "encoder_layers": 6, "decoder_layers": 6},  # the paper's
}
V = 8000
SOURCE, EXTRA = 20, 4  # tokens of a source, </s> included; tokens that each output is longer
SENTENCES = {1: 5, 32: 32}  # in a round, by size of the batch
VOCABULARY = ["<pad>", "<unk>", "<s>", "</s>", *map(str, range(EOS + 1, V))]  # of CTranslate2, whose input is tokens

Batches = list[list[list[int]]]
Run = Callable[[Batches], tuple[float, list[list[int]]]]  # seconds, and the outputs


def endless_model(size: str, pre_norm: bool = False) -> Transformer:
    """Random weights, but </s> is never the best: the first coordinate of the decoder's output is 10 or so, and every
    token weighs it with 0 except </s>, with -10. Pre-norm it is one that OpenNMT-py can express, else one of MarianMT.
    """
    torch.manual_seed(0)
    config = comparable(vocab_size=V, **SIZES[size], max_positions=SOURCE + EXTRA)
    if pre_norm:
        config = replace(config, norm="pre", norm_epsilon=1e-6, sinusoid_layout="interleaved")
    model = Transformer(config).eval()
    with torch.no_grad():
        model.output.weight[:, 0] = 0.0
        model.output.weight[EOS, 0] = -10.0
        last = model.decoder.norm or model.decoder.layers[-1].feed_forward_residual.norm
        last.bias[0] = 10.0
    return model


def batches_of(size: int) -> Batches:
    generator = torch.Generator().manual_seed(1)
    tokens = torch.randint(EOS + 1, V, (SENTENCES[size], SOURCE - 1), generator=generator).tolist()
    sources = [[*sentence, EOS] for sentence in tokens]
    return [sources[i : i + size] for i in range(0, len(sources), size)]


def ours(model: Transformer | FastTransformer, beam: int) -> Run:
    settings = DecodingConfig(method="beam" if beam > 1 else "greedy", beam=beam, max_extra_length=EXTRA)

    def translate(batch: list[list[int]]) -> list[list[int]]:
        found = search(model, batch, settings)
        return [[candidate.token_id for candidate in one.path(one.endings[0])] for one in found]

    return timed(translate)


def marian(model: Any, beam: int) -> Run:
    length = SOURCE + EXTRA

    def translate(batch: list[list[int]]) -> list[list[int]]:
        return generate(
            model, torch.tensor(batch), num_beams=beam, do_sample=False, min_new_tokens=length, max_new_tokens=length
        )

    return timed(translate)


def ctranslate2(served: Served, folder: Path, beam: int) -> Run:
    length = SOURCE + EXTRA
    options = {"beam_size": beam, "min_decoding_length": length, "max_decoding_length": length, "length_penalty": 0}

    def run(batches: Batches) -> tuple[float, list[list[int]]]:
        tokens = [[[VOCABULARY[id] for id in sentence[:-1]] for sentence in batch] for batch in batches]
        seconds, found = served.translate(folder, tokens, options)
        return seconds, [[int(token) for token in output] for output, _ in found]

    return run


def opennmt(process: OpenNMT, path: Path, beam: int) -> Run:
    return lambda batches: process.translate(path, batches, beam, SOURCE + EXTRA)


def timed(translate: Callable[[list[list[int]]], list[list[int]]]) -> Run:
    def run(batches: Batches) -> tuple[float, list[list[int]]]:
        start = time.perf_counter()
        outputs = [output for batch in batches for output in translate(batch)]
        return time.perf_counter() - start, outputs

    return run


def measure(runs: dict[str, Run], batches: Batches, rounds: int) -> tuple[dict[str, float], dict[str, list[list[int]]]]:
    """Sentences per second of each, and its outputs."""
    outputs = {name: run(batches)[1] for name, run in runs.items()}  # and warm up
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            seconds[name].append(run(batches)[0])
    count = sum(map(len, batches))
    return {name: count / statistics.median(spent) for name, spent in seconds.items()}, outputs


def equal(found: list[list[int]], expected: list[list[int]]) -> str:
    return f"{sum(one == other for one, other in zip(found, expected, strict=True)) / len(expected):.0%}"


def show_summary(best: dict[tuple[str, str, int], dict[str, float]], peers: list[str]) -> None:
    """How many times as fast, each with its best number of threads; and as the fastest of the peers in PyTorch."""
    table = Table(title="How many times as fast")
    peer = f"best of {', '.join(peers)}" if len(peers) > 1 else peers[0]
    ratios = [("ours", peer), ("ours bf16", peer), ("ours bf16", "MarianMT bf16")]
    ratios += [("ours", "CTranslate2"), ("ours bf16", "CTranslate2")]
    for column in ("size", "search", "batch", *(f"{one} / {other}" for one, other in ratios)):
        table.add_column(column, justify="right")
    for (size, kind, batch), measured in best.items():
        speeds = measured | {peer: max(measured[name] for name in peers)}
        shown = [f"{speeds[a] / speeds[b]:.2f}" if a in speeds and b in speeds else "-" for a, b in ratios]
        table.add_row(size, kind, str(batch), *shown)
    Console().print(table)


def main(
    size: Annotated[list[str] | None, typer.Option(help=f"Of the model: {' or '.join(SIZES)}. Default: both.")] = None,
    threads: Annotated[list[int] | None, typer.Option(help="Default: 1 and 2.")] = None,
    rounds: Annotated[int, typer.Option(help="The median of so many counts.")] = 7,
    python: Annotated[
        str | None,
        typer.Option("--opennmt", callback=with_opennmt, help="A Python that has OpenNMT-py, which takes part then."),
    ] = None,
) -> None:
    """Prints the tables."""
    keep_freed_memory()
    peers = ["MarianMT", "OpenNMT-py"] if python else ["MarianMT"]
    names = ["ours", "ours bf16", *peers, "MarianMT bf16", "CTranslate2", "by modules"]
    table = Table(title="Sentences per second")
    for column in ("size", "search", "batch", "threads", *names, "equal"):
        table.add_column(column, justify="right")
    best: dict[tuple[str, str, int], dict[str, float]] = {}
    with ExitStack() as stack, Live(table):
        for one in size or list(SIZES):
            model = endless_model(one)
            half = deepcopy(model).bfloat16()
            flat, flat_half = FastTransformer(model), FastTransformer(half)
            marians = marian_like(model), marian_like(half)
            folder = Path(stack.enter_context(TemporaryDirectory()))
            spec = specification(model, VOCABULARY)
            spec.validate()
            spec.optimize()
            spec.save(str(folder))
            twin = endless_model(one, pre_norm=True)
            save_for_opennmt(twin, folder / "opennmt.pt")
            for count in threads or [1, 2]:
                torch.set_num_threads(count)
                with Served(count) as served, OpenNMT(python, count) if python else nullcontext() as other:
                    for beam in (1, 4):
                        runs = {
                            "ours": ours(flat, beam),
                            "MarianMT": marian(marians[0], beam),
                            "CTranslate2": ctranslate2(served, folder, beam),
                            "by modules": ours(model, beam),
                        }
                        if multiplies_bfloat16(torch.device("cpu")):
                            runs |= {"ours bf16": ours(flat_half, beam), "MarianMT bf16": marian(marians[1], beam)}
                        if other:
                            runs["OpenNMT-py"] = opennmt(other, folder / "opennmt.pt", beam)
                        kind = f"beam {beam}" if beam > 1 else "greedy"
                        for batch in SENTENCES:
                            batches = batches_of(batch)
                            speeds, outputs = measure(runs, batches, rounds)
                            shown = [f"{speeds[name]:.1f}" if name in speeds else "-" for name in names]
                            shares = [equal(outputs[name], outputs["ours"]) for name in ("MarianMT", "CTranslate2")]
                            if other:
                                shares.append(equal(outputs["OpenNMT-py"], ours(twin, beam)(batches)[1]))
                            table.add_row(one, kind, str(batch), str(count), *shown, " ".join(shares))
                            before = best.setdefault((one, kind, batch), {})
                            best[one, kind, batch] = {
                                name: max(speed, before.get(name, 0.0)) for name, speed in speeds.items()
                            }
    show_summary(best, peers)
    from tests.benchmarks.decoding_tricks import show_tricks  # it uses the runs of this module

    for one in size or list(SIZES):
        for count in threads or [1, 2]:
            torch.set_num_threads(count)
            show_tricks(one, rounds)


if __name__ == "__main__":
    typer.run(main)

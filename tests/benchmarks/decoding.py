"""How fast is decoding? Sentences per second of ours and of Hugging Face's MarianMT `generate`, on this machine's CPU.

    python tests/benchmarks/decoding.py

Both get the same random weights and the same sentences (random pieces, lengths like those of everyday sentences), in
the same batches, and find the same outputs: "equal outputs" says of how many that is true; the rest are ties within the
rounding of float32. A random model does not know when to end, so each output is made to end when it is four pieces
longer than its source, with both. They take turns, and the fastest of several rounds counts: other programs can only
slow them down. "By modules": how many times as long ours takes with `Transformer.step`, the definition, in place of the
flat step.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
import typer
from rich.live import Live
from rich.table import Table
from transformers import StoppingCriteria, StoppingCriteriaList

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.oracles.marian import comparable, generate, marian_like
from transformer.config import EOS, PAD, DecodingConfig
from transformer.decoding.flat import FlatTransformer
from transformer.decoding.search import search
from transformer.model import Transformer

SIZES: dict[str, dict[str, int]] = {
    "en-de": {"vocab_size": 8000, "d_model": 256, "d_ff": 1024},  # like the checkpoint that ships
    "base": {"vocab_size": 37000, "d_model": 512, "d_ff": 2048},  # the paper's
}
EXTRA = 4  # pieces that each output is longer than its source
LONGEST = 20  # pieces in a source, </s> included

Run = Callable[[list[list[int]]], list[list[int]]]


def endless_model(size: str) -> Transformer:
    """Random weights, but </s> is never the best: the first coordinate of the decoder's output is 10 or so, and every
    piece weighs it with 0 except </s>, with -10."""
    torch.manual_seed(0)
    model = Transformer(comparable(**SIZES[size], max_positions=LONGEST + EXTRA)).eval()
    with torch.no_grad():
        model.output.weight[:, 0] = 0.0
        model.output.weight[EOS, 0] = -10.0
        last = model.decoder.layers[-1].feed_forward_residual.norm
        last.bias[0] = 10.0
    return model


def sentences(count: int, vocab_size: int) -> list[list[int]]:
    generator = torch.Generator().manual_seed(1)
    lengths = torch.randint(4, LONGEST + 1, (count,), generator=generator).tolist()
    return [
        [*torch.randint(EOS + 1, vocab_size, (length - 1,), generator=generator).tolist(), EOS] for length in lengths
    ]


def ours(model: Transformer | FlatTransformer, beam: int) -> Run:
    settings = DecodingConfig(method="beam" if beam > 1 else "greedy", beam=beam, max_extra_length=EXTRA)

    def run(batch: list[list[int]]) -> list[list[int]]:
        found = search(model, batch, settings)
        return [[candidate.token for candidate in one.path(one.endings[0])] for one in found]

    return run


class StopAt(StoppingCriteria):
    """Lets each sentence's output end after as many pieces as it may have."""

    def __init__(self, limits: torch.Tensor):
        self.limits = limits  # (B)

    def __call__(self, input_ids: torch.LongTensor, scores: Any, **kwargs: Any) -> Any:
        """input_ids (R, T), some rows a sentence, <s> included."""
        return (self.limits < input_ids.shape[1]).repeat_interleave(len(input_ids) // len(self.limits))  # (R)


def theirs(model: Any, beam: int) -> Run:
    def run(batch: list[list[int]]) -> list[list[int]]:
        tensors = [torch.tensor(sentence) for sentence in batch]
        source = torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=PAD)
        limits = torch.tensor([len(sentence) + EXTRA for sentence in batch])
        outputs = generate(
            model,
            source,
            num_beams=beam,
            do_sample=False,
            max_new_tokens=int(limits.max()),
            stopping_criteria=StoppingCriteriaList([StopAt(limits)]),
        )
        return [[piece for piece in output if piece != EOS] for output in outputs]  # beam search pads with </s>

    return run


def measure(run: Run, batches: list[list[list[int]]]) -> tuple[float, list[list[int]]]:
    """Seconds, and the outputs."""
    start = time.perf_counter()
    outputs = [output for batch in batches for output in run(batch)]
    return time.perf_counter() - start, outputs


def main(
    size: Annotated[Literal["en-de", "base"], typer.Option(help="Of the model.")] = "en-de",
    rounds: Annotated[int, typer.Option(help="The fastest of so many counts.")] = 4,
    threads: Annotated[int, typer.Option(help="0: as many as torch likes.")] = 0,
) -> None:
    """Prints the table."""
    if threads:
        torch.set_num_threads(threads)
    model = endless_model(size)
    marian = marian_like(model)
    flat = FlatTransformer(model)  # as in a Translator
    table = Table(title=f"Sentences per second, model size {size}, {torch.get_num_threads()} threads")
    for column in ("search", "batch", "ours", "Hugging Face", "ratio", "equal outputs", "by modules"):
        table.add_column(column, justify="right")
    with Live(table):
        for beam in (4, 1):
            for batch, count in ((1, 5), (32, 32)):
                todo = sentences(count, SIZES[size]["vocab_size"])
                batches = [todo[i : i + batch] for i in range(0, count, batch)]
                runs = {"ours": ours(flat, beam), "theirs": theirs(marian, beam), "modules": ours(model, beam)}
                best = dict.fromkeys(runs, float("inf"))
                outputs = {name: measure(run, batches)[1] for name, run in runs.items()}  # and warm up
                for _ in range(rounds):
                    for name, run in runs.items():
                        best[name] = min(best[name], measure(run, batches)[0])
                equal = sum(one == other for one, other in zip(outputs["ours"], outputs["theirs"], strict=True)) / count
                table.add_row(
                    f"beam {beam}" if beam > 1 else "greedy",
                    str(batch),
                    f"{count / best['ours']:.1f}",
                    f"{count / best['theirs']:.1f}",
                    f"{best['theirs'] / best['ours']:.2f}",
                    f"{equal:.0%}",
                    f"{best['modules'] / best['ours']:.2f}",
                )


if __name__ == "__main__":
    typer.run(main)

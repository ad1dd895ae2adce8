"""Options that several commands share, and the translator that they describe.

Modules that need torch are imported inside the functions, so that --help is fast.
"""

from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from transformer.errors import HeadlightError

if TYPE_CHECKING:
    from transformer.config import DecodingConfig
    from transformer.decoding.reranking import Reranker
    from transformer.decoding.translator import Translator

Device = Annotated[
    Literal["auto", "cpu", "cuda", "mps"], typer.Option(help="Where to compute. auto: the GPU if there is one.")
]
Precision = Annotated[
    Literal["float32", "bfloat16"],
    typer.Option(help="bfloat16 is faster on hardware that supports it, and less exact: compare with `evaluate`."),
]
CheckpointFile = Annotated[Path, typer.Argument(metavar="CHECKPOINT", help="A .safetensors file made by training.")]
Beam = Annotated[
    int | None, typer.Option(min=1, max=64, metavar="N", help="Hypotheses kept in the search. Default: the recipe's.")
]

Rerank = Annotated[
    Path | None,
    typer.Option(
        metavar="CHECKPOINT",
        help="A model of the other direction, which chooses among the hypotheses of the beam: slower, often better.",
    ),
]


def open_translator(
    checkpoint: Path, device: str, precision: Literal["float32", "bfloat16"] = "float32"
) -> "Translator":
    """The checkpoint, ready to translate on this device. Prints a note if the precision is slow there."""
    from transformer.decoding.translator import Translator
    from transformer.device import choose_device, multiplies_bfloat16
    from transformer.kernels.malloc import keep_freed_memory

    keep_freed_memory()
    chosen = choose_device(device)
    if precision == "bfloat16" and not multiplies_bfloat16(chosen):
        typer.echo("This hardware does not multiply bfloat16: --precision float32 would be faster.", err=True)
    return Translator.load(checkpoint, chosen, precision)


def beside_other_programs(translator: "Translator") -> AbstractContextManager[None]:
    """Inside, waiting threads do not occupy a core if other programs use the cores.

    Beside two training runs on two cores, 100 sentences took 4 s instead of 70 s.
    """
    from transformer.kernels.thread_waiting import spinning_on_free_cores

    return spinning_on_free_cores(next(translator.model.parameters()).device)


def settings_of(translator: "Translator", beam: int | None) -> "DecodingConfig":
    """The settings of the checkpoint's recipe; `--beam` turns them into a beam search."""
    settings = replace(translator.settings, n_best=1)
    return settings if beam is None else replace(settings, method="beam", beam=beam)


def with_reranking(
    translator: "Translator",
    rerank: Path | None,
    settings: "DecodingConfig",
    device: str,
    precision: Literal["float32", "bfloat16"],
) -> "Translator | Reranker":
    """The translator. If there is a model of `--rerank`, it ranks the hypotheses of the translator again.

    Args:
        settings: of the search, which has to keep more than one hypothesis.

    Raises:
        HeadlightError: that model is known to translate between other languages, or the search keeps one hypothesis.
    """
    from transformer.decoding.language_pair import languages
    from transformer.decoding.reranking import Reranker

    if rerank is None:
        return translator
    if settings.method != "beam" or settings.beam == 1:
        raise HeadlightError("--rerank chooses among the hypotheses of a beam, and here is only one: add --beam 4.")
    reverse = open_translator(rerank, device, precision)
    own, other = languages(translator), languages(reverse)
    if own and other and own != other[::-1]:
        raise HeadlightError(
            f"--rerank {rerank}: that model translates {other[0]} to {other[1]}. Needed is one that translates "
            f"{own[1]} to {own[0]}."
        )
    return Reranker(translator, reverse)


def check_output(output: Path | None, option: str, *read: Path | str | None) -> None:
    """Raises HeadlightError if the file to write is a folder, or one of those that are read."""
    if output is None or not output.exists():
        return
    if output.is_dir():
        raise HeadlightError(f"{output} is a folder. Name a file for {option}.")
    for file in (Path(file) for file in read if file is not None):
        if file.exists() and file.samefile(output):
            raise HeadlightError(f"{output} would be overwritten while it is read. Choose another file for {option}.")

"""Options that several commands share, and the translator that they describe.

Modules that need torch are imported inside the functions, so that --help is fast.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
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


def open_translator(
    checkpoint: Path, device: str, precision: Literal["float32", "bfloat16"] = "float32"
) -> "Translator":
    """The checkpoint, ready to translate on this device. Prints a note if the precision is slow there."""
    from transformer.decoding.translator import Translator
    from transformer.kernels.malloc import keep_freed_memory
    from transformer.training.device import choose_device, multiplies_bfloat16

    keep_freed_memory()
    chosen = choose_device(device)
    if precision == "bfloat16" and not multiplies_bfloat16(chosen):
        typer.echo("This hardware does not multiply bfloat16: --precision float32 would be faster.", err=True)
    return Translator.load(checkpoint, chosen, precision)


def settings_of(translator: "Translator", beam: int | None) -> Any:
    """The settings of the checkpoint's recipe; `--beam` turns them into a beam search."""
    settings = replace(translator.settings, n_best=1)
    return settings if beam is None else replace(settings, method="beam", beam=beam)

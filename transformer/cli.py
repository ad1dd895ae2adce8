"""The command line: train, translate, evaluate, average, inspect, export.

    python -m transformer COMMAND --help

Each command says its errors in sentences on stderr and leaves with 1 (with 2 if the command itself was wrong). What
it computes goes to stdout, what it has to say about that to stderr. Whatever needs torch is imported inside the
commands, so that help comes at once.
"""

import errno
import json
import logging
import os
import sys
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

import typer
from typer.core import TyperGroup

from transformer.errors import ConfigError, HeadlightError
from transformer.progress import show_progress

if TYPE_CHECKING:
    from transformer.decoding.translator import Translator


class Commands(TyperGroup):
    """All commands; an error that a user can mend is told without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        logging.basicConfig(format="%(message)s")  # to stderr
        logging.getLogger("transformer").setLevel(logging.INFO)
        try:
            return super().invoke(ctx)
        except HeadlightError as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(2 if isinstance(error, ConfigError) else 1) from None
        except OSError as error:  # a missing file, a full disk
            if error.errno == errno.EPIPE:  # `... | head -1`: typer ends in silence
                raise
            full = " Free some space and give the command again." if error.errno == errno.ENOSPC else ""
            where = error.filename or "A file could not be read or written"
            typer.echo(f"Error: {where}: {error.strerror or error}.{full}", err=True)
            raise typer.Exit(1) from None


app = typer.Typer(
    cls=Commands,
    help="Train a Transformer, translate with it, and look inside. Each command has --help of its own, with examples.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain text: examples (after a backspace, which keeps their lines) can be copied
    pretty_exceptions_enable=False,
)

Device = Annotated[
    Literal["auto", "cpu", "cuda", "mps"], typer.Option(help="Where to compute. auto: the GPU if there is one.")
]
Precision = Annotated[
    Literal["float32", "bfloat16"],
    typer.Option(help="bfloat16 is faster on hardware that multiplies it, and rounds: compare with `evaluate`."),
]
CheckpointFile = Annotated[Path, typer.Argument(metavar="CHECKPOINT", help="A .safetensors file made by training.")]
Beam = Annotated[
    int | None, typer.Option(min=1, max=64, metavar="N", help="Hypotheses kept in the search. Default: the recipe's.")
]


@app.command()
def train(
    recipe: Annotated[str, typer.Argument(metavar="RECIPE.toml", help="A recipe file, or the name of a bundled one.")],
    set: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="section.key=value", help="Change one value of the recipe. Can be repeated."),
    ] = None,
    run_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for checkpoints and metrics. Default: runs/NAME-OF-THE-RECIPE."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in the folder where it stopped.")
    ] = False,
    init_from: Annotated[
        Path | None, typer.Option(metavar="CHECKPOINT", help="Start from these weights and this vocabulary.")
    ] = None,
    device: Device = "auto",
) -> None:
    """Train a model by a recipe, on the corpus that the recipe names.

    The folder of the run gets best.safetensors, last.safetensors and average.safetensors, metrics.jsonl, and a log
    for TensorBoard. Ctrl-C saves and stops; --resume goes on as if nothing had happened.

    \b
    Examples:
      python -m transformer train reverse
      python -m transformer train paper-base --set data.train=my.tsv --set data.valid=my-valid.tsv
      python -m transformer train my-recipe.toml --run-dir runs/second-try --set training.updates=20000
      python -m transformer train my-recipe.toml --run-dir runs/second-try --resume
      torchrun --nproc-per-node 8 -m transformer train paper-base --set data.train=my.tsv
    """
    from transformer.recipe import check_files, load_recipe

    try:
        loaded = load_recipe(recipe, set or [])
        check_files(loaded)
    except ConfigError:
        if "TORCHELASTIC_RUN_ID" in os.environ:  # then one process tells it for all
            from transformer.training.ranks import Ranks

            with Ranks():
                raise
        raise

    from transformer.training import train as run

    run(loaded, run_dir or Path("runs") / loaded.name, resume=resume, init_from=init_from, device=device)


@app.command()
def translate(
    checkpoint: CheckpointFile,
    beam: Beam = None,
    device: Device = "auto",
    precision: Precision = "float32",
    input: Annotated[Path | None, typer.Option(metavar="FILE", help="Text to translate. Default: stdin.")] = None,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Where to write. Default: stdout.")] = None,
) -> None:
    """Translate text, line by line.

    Each line of the input gives one line of the output. An empty line stays empty, and a line with several sentences
    stays one line. A line that cannot be translated is told on stderr and gives an empty line; the command then ends
    with 1. Text is UTF-8. From a file or a pipe, 128 lines are gathered and translated together, which is much faster:
    the first answer waits for them, or for the end of the input. What is typed on a terminal is answered line by line.

    \b
    Examples:
      echo "Where is the station?" | python -m transformer translate pretrained/en-de.safetensors
      python -m transformer translate pretrained/en-de.safetensors --input in.txt --output out.txt
    """
    from transformer.lines import translate_lines

    for read in (checkpoint, input):
        if read is not None and output is not None and output.exists() and read.exists() and read.samefile(output):
            raise HeadlightError(f"{output} would be read and overwritten at once. Choose another file for --output.")
    with ExitStack() as stack:
        lines: BinaryIO = sys.stdin.buffer if input is None else stack.enter_context(input.open("rb"))
        translator = _translator(checkpoint, device, precision)
        settings = _settings(translator, beam)
        out: BinaryIO = sys.stdout.buffer if output is None else stack.enter_context(output.open("wb"))
        total = None
        if input is not None and lines.seekable():
            total = sum(1 for _ in lines)
            lines.seek(0)
        show = output is not None or not sys.stdout.isatty()
        advance = stack.enter_context(show_progress("lines", show))
        failed = 0
        for line in translate_lines(translator, lines, settings, at_once=1 if lines.isatty() else 128):
            out.write(line.text.encode() + b"\n")
            out.flush()
            if line.problem:
                failed += 1
                typer.echo(f"Line {line.number}: {line.problem}", err=True)
            advance(line.number, total)
    if failed:
        raise HeadlightError(f"Lines that could not be translated, and are empty in the output: {failed}.")


@app.command()
def evaluate(
    checkpoint: CheckpointFile,
    data: Annotated[
        Path, typer.Option(metavar="FILE.tsv[.gz]", help="Sentences and their translations, a pair a line.")
    ],
    source_column: Annotated[
        int, typer.Option(min=1, metavar="N", help="Column of the sentences, counted from 1.")
    ] = 1,
    target_column: Annotated[int, typer.Option(min=1, metavar="N", help="Column of the translations.")] = 2,
    beam: Beam = None,
    device: Device = "auto",
    precision: Precision = "float32",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Score a checkpoint on a test set.

    The scores are BLEU and chrF by sacrebleu, with their signatures. Rows that share a source are several right
    translations of it: it is translated once and compared with all.

    \b
    Examples:
      python -m transformer evaluate pretrained/en-de.safetensors --data test.tsv.gz
      python -m transformer evaluate pretrained/en-de.safetensors --data test.tsv.gz --precision bfloat16
      python -m transformer evaluate my.safetensors --data de-en.tsv --source-column 2 --target-column 1 --json
    """
    from transformer.evaluation import as_text
    from transformer.evaluation import evaluate as run
    from transformer.text.corpus import read_pairs

    pairs = read_pairs(data, source_column, target_column)
    translator = _translator(checkpoint, device, precision)
    settings = _settings(translator, beam)
    with show_progress("sentences") as advance:
        result = run(translator, pairs, settings, advance)
    device_used = str(next(translator.model.parameters()).device)
    result |= {"checkpoint": str(checkpoint), "data": str(data), "device": device_used, "precision": precision}
    result |= {"decoding": asdict(settings)}
    typer.echo(json.dumps(result, ensure_ascii=False) if as_json else as_text(result))


@app.command()
def average(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The checkpoint to write.")],
    checkpoints: Annotated[list[Path], typer.Argument(metavar="CHECKPOINT", help="The checkpoints to average.")],
) -> None:
    """Average the weights of checkpoints of one run.

    The mean of the last few often translates better than each of them (section 6.1 of the paper). A file that is there
    already is not overwritten.

    \b
    Example:
      python -m transformer average mean.safetensors runs/mine/snapshots/*.safetensors
    """
    from transformer.averaging import average_checkpoints

    if out.exists() or len(checkpoints) < 2:  # most likely OUT was forgotten
        there = f"{out} is there already. " if out.exists() else ""
        raise ConfigError(f"{there}Name first a new file to write, then at least two checkpoints to average.")
    average_checkpoints(out, checkpoints)
    typer.echo(f"{out} is the average of {len(checkpoints)} checkpoints.", err=True)


@app.command()
def inspect(
    checkpoint: CheckpointFile,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what is in a checkpoint.

    That is its configuration, parameters by part, tokenizer, metrics, and every site of the model that can be watched,
    with its shape.

    \b
    Examples:
      python -m transformer inspect pretrained/en-de.safetensors
      python -m transformer inspect pretrained/en-de.safetensors --json
    """
    from transformer.checkpoint import load_checkpoint
    from transformer.inspection import as_text, describe

    description = describe(load_checkpoint(checkpoint))
    typer.echo(json.dumps(description) if as_json else as_text(description))


@app.command()
def export(
    checkpoint: CheckpointFile,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write. It must not be there yet.")],
    to: Annotated[Literal["ctranslate2"], typer.Option(help="The format.")] = "ctranslate2",
    quantization: Annotated[
        Literal["float32", "float16", "bfloat16", "int8"], typer.Option(help="How the weights are stored.")
    ] = "float32",
) -> None:
    """Write a model for CTranslate2, a fast engine.

    It is for those who translate a lot. The folder gets the model, its vocabulary, and a README.md with the code that
    translates. Translations are the same, up to the rounding of another --quantization than float32.

    \b
    Examples:
      python -m transformer export --to ctranslate2 pretrained/en-de.safetensors en-de-ct2
      python -m transformer export --to ctranslate2 pretrained/en-de.safetensors en-de-int8 --quantization int8
    """
    from transformer.export import export_ctranslate2

    translator = _translator(checkpoint, "cpu")
    assert translator.checkpoint is not None
    export_ctranslate2(translator.checkpoint, folder, translator.settings, quantization)
    typer.echo(f"{folder} is a model for {to}. How to translate with it stands in {folder / 'README.md'}.", err=True)


def _translator(checkpoint: Path, device: str, precision: Literal["float32", "bfloat16"] = "float32") -> "Translator":
    from transformer.decoding.translator import Translator
    from transformer.training.device import choose_device, keep_memory, multiplies_bfloat16

    keep_memory()
    chosen = choose_device(device)
    if precision == "bfloat16" and not multiplies_bfloat16(chosen):
        typer.echo("This hardware does not multiply bfloat16: --precision float32 would be faster.", err=True)
    return Translator.load(checkpoint, chosen, precision)


def _settings(translator: "Translator", beam: int | None) -> Any:
    """The settings of the checkpoint's recipe; `--beam` turns them into a beam search."""
    settings = replace(translator.settings, n_best=1)
    return settings if beam is None else replace(settings, method="beam", beam=beam)

"""The commands that translate: `translate` text, `evaluate` a checkpoint on a test set."""

import json
import sys
from contextlib import ExitStack
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from transformer.commands.options import Beam, CheckpointFile, Device, Precision, open_translator, settings_of
from transformer.errors import HeadlightError
from transformer.progress_bar import show_progress

# Lines that are translated together: sorted by length, so that little is padded.
BY_HAND, FROM_A_PIPE, FROM_A_FILE = 1, 128, 2048


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
    stays one line. A line that cannot be translated is reported on stderr and gives an empty line; the command then
    ends with 1. Text is UTF-8. From a pipe, 128 lines are translated together, which is much faster: the first output
    comes after 128 lines or the end of the input. From a file it is 2,048 lines, which is even faster, because more of
    them have similar lengths. From a terminal, each line is translated when it is typed.

    \b
    Examples:
      echo "Where is the station?" | python -m transformer translate pretrained/en-de.safetensors
      python -m transformer translate pretrained/en-de.safetensors --input in.txt --output out.txt
    """
    from transformer.data.text_files import bounded
    from transformer.decoding.translate_lines import translate_lines

    for read in (checkpoint, input):
        if read is not None and output is not None and output.exists() and read.exists() and read.samefile(output):
            raise HeadlightError(f"{output} would be read while it is written. Choose another file for --output.")
    with ExitStack() as stack:
        lines: BinaryIO = sys.stdin.buffer if input is None else stack.enter_context(input.open("rb"))
        translator = open_translator(checkpoint, device, precision)
        settings = settings_of(translator, beam)
        out: BinaryIO = sys.stdout.buffer if output is None else stack.enter_context(output.open("wb"))
        total = None
        if input is not None and lines.seekable():
            total = sum(1 for _ in bounded(lines))
            lines.seek(0)
        show = output is not None or not sys.stdout.isatty()
        advance = stack.enter_context(show_progress("lines", show))
        failed = 0
        at_once = BY_HAND if lines.isatty() else FROM_A_PIPE if total is None else FROM_A_FILE
        for line in translate_lines(translator, bounded(lines), settings, at_once):
            out.write(line.text.encode() + b"\n")
            out.flush()
            if line.problem:
                failed += 1
                typer.echo(f"Line {line.number}: {line.problem}", err=True)
            advance(line.number, total)
    if failed:
        raise HeadlightError(f"Lines that could not be translated and are empty in the output: {failed}.")


def evaluate(
    checkpoint: CheckpointFile,
    data: Annotated[
        Path | None, typer.Option(metavar="FILE.tsv[.gz]", help="Sentences and their translations, a pair a line.")
    ] = None,
    required_words: Annotated[
        Path | None,
        typer.Option(metavar="FILE.tsv", help="Instead of --data: sentences, and words that translations must have."),
    ] = None,
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

    With --required-words no score is computed: the command counts the translations that have all words that a file asks
    for (names, numbers, a negation, ...), and prints those that lack one. transformer/required_words.py has the format.

    \b
    Examples:
      python -m transformer evaluate pretrained/en-de.safetensors --data test.tsv.gz
      python -m transformer evaluate pretrained/en-de.safetensors --data test.tsv.gz --precision bfloat16
      python -m transformer evaluate my.safetensors --required-words pretrained/hundred-sentences/en-de.tsv
      python -m transformer evaluate my.safetensors --data de-en.tsv --source-column 2 --target-column 1 --json
    """
    from transformer import evaluation
    from transformer import required_words as words
    from transformer.data.corpus import read_pairs

    if (data is None) == (required_words is None):
        raise typer.BadParameter("give one of --data and --required-words.")
    pairs = read_pairs(data, source_column, target_column) if data else []
    required = words.read_required(required_words) if required_words else []
    translator = open_translator(checkpoint, device, precision)
    settings = settings_of(translator, beam)
    with show_progress("sentences") as advance:
        if required:
            result, as_text = words.check_words(translator, required, settings, advance), words.as_text
        else:
            result, as_text = evaluation.evaluate(translator, pairs, settings, advance), evaluation.as_text
    device_used = str(next(translator.model.parameters()).device)
    file = str(data or required_words)
    result |= {"checkpoint": str(checkpoint), "data": file, "device": device_used, "precision": precision}
    result |= {"decoding": asdict(settings), "date": date.today().isoformat()}
    typer.echo(json.dumps(result, ensure_ascii=False) if as_json else as_text(result))

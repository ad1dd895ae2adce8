"""The command `translate`."""

import codecs
import gzip
import shlex
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, cast

import typer

from transformer.commands.options import (
    Beam,
    CheckpointFile,
    Device,
    Precision,
    Rerank,
    beside_other_programs,
    check_output,
    open_translator,
    settings_of,
    with_reranking,
)
from transformer.errors import HeadlightError
from transformer.progress_bar import show_progress

if TYPE_CHECKING:
    from transformer.decoding.translator import Translator

# Lines that are translated together. They are sorted by length, which reduces padding.
LINES_FROM_TERMINAL, LINES_FROM_PIPE, LINES_FROM_FILE = 1, 128, 2048


def translate(
    checkpoint: CheckpointFile,
    beam: Beam = None,
    rerank: Rerank = None,
    correct_spelling: Annotated[
        bool,
        typer.Option("--correct-spelling", help="Read an unknown word as the known one that was probably meant."),
    ] = False,
    device: Device = "auto",
    precision: Precision = "float32",
    input: Annotated[Path | None, typer.Option(metavar="FILE", help="Text to translate. Default: stdin.")] = None,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Where to write. Default: stdout.")] = None,
) -> None:
    """Translate text, line by line.

    Each line of the input gives one line of the output. An empty line stays empty, and a line with several sentences
    stays one line. A line that cannot be translated is reported on stderr and gives an empty line; the command then
    ends with 1. Text is UTF-8. From a pipe, 128 lines are translated together, which is much faster: the first output
    comes after 128 lines or the end of the input. With --input FILE it is 2,048 lines, which is even faster, because
    more of them have similar lengths. From a terminal, each line is translated when it is typed.

    \b
    Examples:
      echo "Where is the station?" | python -m transformer translate pretrained/en-de.safetensors
      python -m transformer translate pretrained/en-de.safetensors --input in.txt --output out.txt
    """
    from transformer.data.text_files import bounded
    from transformer.decoding.translate_lines import translate_lines

    check_output(output, "--output", checkpoint, input, rerank)
    with ExitStack() as stack:
        lines = stack.enter_context(_opened(input)) if input else _standard_input()
        translator = open_translator(checkpoint, device, precision)
        if correct_spelling:
            translator = _correcting(translator, checkpoint)
        stack.enter_context(beside_other_programs(translator))
        settings = settings_of(translator, beam)
        searching = with_reranking(translator, rerank, settings, device, precision)
        out: BinaryIO = sys.stdout.buffer if output is None else stack.enter_context(output.open("wb"))
        total = None
        if input is not None and lines.seekable():
            with _reading(input):
                total = sum(1 for _ in bounded(lines))
            lines.seek(0)
        show = output is not None or not sys.stdout.isatty()
        advance = stack.enter_context(show_progress("lines", show))
        failed = 0
        at_once = LINES_FROM_TERMINAL if lines.isatty() else LINES_FROM_PIPE if total is None else LINES_FROM_FILE
        for line in translate_lines(searching, bounded(lines), settings, at_once):
            out.write(line.text.encode() + b"\n")
            out.flush()
            if line.problem:
                failed += 1
                typer.echo(f"Line {line.number}: {line.problem}", err=True)
            advance(line.number, total)
    if failed:
        raise HeadlightError(f"Lines that could not be translated and are empty in the output: {failed}.")


def _correcting(translator: "Translator", checkpoint: Path) -> "Translator":
    if translator.checkpoint is None or translator.checkpoint.words is None:
        raise HeadlightError(
            f"{checkpoint} does not hold the words of its training text, so it cannot correct spelling: leave "
            "--correct-spelling out. Checkpoints hold them if the training text has 20,000 different words or more."
        )
    return translator.correcting_spelling()


def _opened(path: Path) -> BinaryIO:
    """The text of a file, gzip or not. Raises HeadlightError: it is packed in another way, damaged or UTF-16."""
    from transformer.data.text_files import unzipped

    file: BinaryIO = path.open("rb")
    if not file.seekable():  # a pipe
        return file
    file = cast(BinaryIO, unzipped(path, file))
    with _reading(path):
        begin = file.read(2)
    if begin in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise HeadlightError(f"{path} is UTF-16. Convert it: iconv -f UTF-16 -t UTF-8 {shlex.quote(str(path))} > NEW")
    file.seek(0)
    return file


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise HeadlightError(f"{path}: the gzip file is damaged or cut off. Compress it again.") from None


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise HeadlightError("The standard input is closed. Name a file (--input FILE), or send text through a pipe.")
    return sys.stdin.buffer

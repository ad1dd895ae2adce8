"""Monolingual files of a mix: text in the target language, and where the sources that a model wrote for it are stored.

training/back_translation.py writes them. Their name is a hash of the file and of the model. So another run with the
same two finds them, and with another model or another text they are written again.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from transformer.data.data_options import DataConfig
from transformer.data.mix_options import MixPart
from transformer.data.prepared_store import store_of
from transformer.data.text_files import decode_line, portions_of, unreadable
from transformer.errors import BadLine, CorpusError
from transformer.files.checksum import sha256_of

FORMAT = 1  # increased when a new version writes other sources with the same model


def sources_path(part: MixPart, config: DataConfig, run_dir: Path) -> Path:
    """The file of the sources: its line n belongs to line n of the monolingual file. Raises CorpusError."""
    assert part.monolingual
    assert config.back_translator is not None
    content = f"{FORMAT}".encode() + _sum(Path(config.back_translator)) + _sum(config.path_of(part.file))
    digest = hashlib.blake2b(content, digest_size=8).hexdigest()
    return store_of(config, run_dir).folder / f"sources-{digest}.txt"


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file, gzip or not, with their line ends. Raises CorpusError."""
    return (line for portion, _ in portions_of(path) for (line,) in portion)


def check_lines(path: Path, config: DataConfig) -> int:
    """The number of lines of a monolingual file.

    Raises:
        CorpusError: a line cannot be read (with data.on_error = "skip" it is left out later), there is no text, or the
            file has columns.
    """
    number, with_text, with_tabs = 0, 0, 0
    for number, line in enumerate(lines_of(path), start=1):
        try:
            text = decode_line(line, path, number)
        except BadLine as error:
            if config.on_error == "stop":
                raise CorpusError(f'{error}\nTo skip such lines, set data.on_error = "skip".') from None
            continue
        with_text += bool(text.strip())
        with_tabs += "\t" in text
    if not with_text:
        raise CorpusError(f"{path} has no text. A monolingual file has one sentence of the target language per line.")
    if 2 * with_tabs > number:
        raise CorpusError(
            f"{path}: {with_tabs:,} of {number:,} lines have a TAB, so it has columns. A monolingual file has one "
            "sentence of the target language per line: remove the other columns, or remove monolingual = true."
        )
    return number


def _sum(path: Path) -> bytes:
    try:
        return bytes.fromhex(sha256_of(path))
    except OSError as error:
        raise unreadable(path, error) from None

"""Back-translation (Sennrich et al. 2016, arXiv:1511.06709): a model writes the sources of text in the target language.

    [data]
    back_translator = "pretrained/de-en.safetensors"     a model of the other direction
    [[data.mix]]
    file = "my.de"                                       one sentence per line
    monolingual = true

Each line is translated once, greedily, before the text is prepared, and line n of the sources belongs to line n of the
file. A line that cannot be translated has an empty source, so the pair is left out and counted. The sources are kept in
the folder of the prepared text, named by a hash of the two files: another run with the same two finds them. If the
process is stopped meanwhile, the next run continues.
"""

import hashlib
import logging
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO

import torch

from transformer.config import DataConfig, DecodingConfig, Recipe
from transformer.data.mix_options import MixPart
from transformer.data.prepared_store import Store, store_of
from transformer.data.text_files import portions_of, unreadable
from transformer.decoding.language_pair import languages
from transformer.decoding.translate_lines import translate_lines
from transformer.decoding.translator import Translator
from transformer.errors import ConfigError
from transformer.files.atomic_write import sync
from transformer.progress_bar import show_progress

log = logging.getLogger(__name__)

AT_ONCE = 2048  # lines that are translated together: similar lengths are found among them, which reduces padding
GREEDY = DecodingConfig(method="greedy")


def with_back_translations(recipe: Recipe, run_dir: Path, device: torch.device) -> Recipe:
    """The recipe with its monolingual files as line-aligned pairs of files, whose sources this call has written.

    Raises:
        ConfigError: the model of data.back_translator translates between other languages.
        CheckpointError: it cannot be loaded.
        CorpusError: a file cannot be read, or the sources cannot be written.
    """
    data = recipe.data
    if data.back_translator is None:
        return recipe
    model, store = Path(data.back_translator), store_of(data, run_dir)
    mix = tuple(_paired(part, data, model, store, device) if part.monolingual else part for part in data.mix)
    return replace(recipe, data=replace(data, mix=mix, back_translator=None))


def _paired(part: MixPart, data: DataConfig, model: Path, store: Store, device: torch.device) -> MixPart:
    """A part of a mix with its sources. The file of the part has the targets, so the two are exchanged."""
    targets = data.path_of(part.file)
    name = hashlib.blake2b(_sum(model) + _sum(targets), digest_size=8).hexdigest()
    sources = store.folder / f"sources-{name}.txt"
    if not sources.exists():
        with store.locked():
            if not sources.exists():  # no other process was faster
                _write_sources(_translator(model, data, device), targets, sources)
    return replace(part, monolingual=False, target_file=str(sources.absolute()), swapped=True)


def _sum(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        raise unreadable(path, error) from None


def _translator(model: Path, data: DataConfig, device: torch.device) -> Translator:
    translator = Translator.load(model, device)
    found, needed = languages(translator), (data.target_language, data.source_language)
    if found and found != needed:
        raise ConfigError(
            f"data.back_translator = {model}: that model translates {found[0]} to {found[1]}. Needed is one that "
            f"translates {needed[0]} to {needed[1]}."
        )
    return translator


def _write_sources(translator: Translator, targets: Path, sources: Path) -> None:
    """Translates the lines of a file, AT_ONCE together. What an earlier call has written of them is kept."""
    log.info("Translating the lines of %s, for back-translation.", targets)
    total, partial = sum(1 for _ in _lines(targets)), sources.with_suffix(".part")
    with partial.open("a+b") as out, show_progress("lines back-translated") as advance:
        done = _keep_whole_blocks(out)
        lines = islice(_lines(targets), done, None)
        while block := list(islice(lines, AT_ONCE)):
            for line in translate_lines(translator, block, GREEDY, AT_ONCE):
                out.write(line.text.encode() + b"\n")
            out.flush()
            done += len(block)
            advance(done, total)
    sync(partial)
    partial.rename(sources)


def _keep_whole_blocks(file: IO[bytes]) -> int:
    """Removes what is written after the last complete block of AT_ONCE lines. Returns the number of lines that remain.

    A block is translated as a whole, so an interrupted translation has the same lines as one that was not interrupted.
    """
    file.seek(0)
    lines = file.read().split(b"\n")[:-1]  # what follows the last line end is not a whole line
    kept = lines[: len(lines) // AT_ONCE * AT_ONCE]
    file.truncate(sum(len(line) + 1 for line in kept))
    return len(kept)


def _lines(path: Path) -> Iterator[bytes]:
    return (line for portion, _ in portions_of(path) for (line,) in portion)

"""Back-translation (Sennrich et al. 2016, arXiv:1511.06709): a model writes the sources of text in the target language.

    [data]
    back_translator = "pretrained/de-en.safetensors"     a model of the other direction
    [[data.mix]]
    file = "my.de"                                       one sentence per line
    monolingual = true

Before the text is prepared, each line is translated once, greedily. Line n of the sources belongs to line n of the
file. A line that cannot be translated has an empty source, so the pair is left out and counted. The sources are kept in
the folder of the prepared text (data/monolingual.py). If the process is stopped meanwhile, the next run continues (on a
disk without locks, it begins again).
"""

import logging
import os
from itertools import islice
from pathlib import Path
from typing import IO
from uuid import uuid4

import torch

from transformer.config import DecodingConfig
from transformer.data.data_options import DataConfig
from transformer.data.monolingual import check_lines, lines_of, sources_path
from transformer.data.prepared_store import store_of
from transformer.decoding.language_pair import languages
from transformer.decoding.translate_lines import translate_lines
from transformer.decoding.translator import Translator
from transformer.errors import ConfigError
from transformer.files.atomic_write import sync
from transformer.progress_bar import show_progress

log = logging.getLogger(__name__)

AT_ONCE = 2048  # lines that are translated together: among many lines, similar lengths are found, which reduces padding
LOG_EVERY = 50_000  # lines
GREEDY = DecodingConfig(method="greedy")


def write_sources(data: DataConfig, run_dir: Path, device: torch.device, *, is_resumed: bool = False) -> None:
    """Writes the sources of each monolingual file that has none yet.

    Args:
        is_resumed: the run has been trained on sources already.

    Raises:
        ConfigError: the model of data.back_translator translates between other languages.
        CheckpointError: it cannot be loaded.
        CorpusError: a file cannot be read, or the sources cannot be written.
    """
    paths = {sources_path(part, data, run_dir): data.path_of(part.file) for part in data.mix if part.monolingual}
    totals = {sources: check_lines(targets, data) for sources, targets in paths.items() if not sources.exists()}
    if not totals:
        return
    assert data.back_translator is not None
    if is_resumed:
        log.warning(
            "Warning: the sources that this run was started with are not there. Their text is translated again; if %s "
            "or a monolingual file has changed since, the run cannot be continued with the result.",
            data.back_translator,
        )
    translator = _translator(data.back_translator, data, device)
    with store_of(data, run_dir).locked() as locked:
        for sources, total in totals.items():
            if not sources.exists():  # no other process was faster
                # Without a lock another process may write at the same time. Then each writes a file of its own.
                partial = sources.with_suffix(".part" if locked else f".{uuid4().hex[:12]}.part")
                _translate(translator, paths[sources], total, partial)
                os.replace(partial, sources)


def _translator(model: str, data: DataConfig, device: torch.device) -> Translator:
    translator = Translator.load(model, device)
    found, needed = languages(translator), (data.target_language, data.source_language)
    if found and found != needed:
        raise ConfigError(
            f"data.back_translator = {model}: that model translates {found[0]} to {found[1]}. Needed is one that "
            f"translates {needed[0]} to {needed[1]}."
        )
    return translator


def _translate(translator: Translator, targets: Path, total: int, partial: Path) -> None:
    """Translates the lines of a file, AT_ONCE together. What an earlier call has written of them is kept."""
    with partial.open("a+b") as out, show_progress("lines back-translated") as advance:
        done = _keep_whole_blocks(out)
        begin = f" It continues after line {done:,}." if done else ""
        log.info("Translating the %s lines of %s, for back-translation.%s", f"{total:,}", targets, begin)
        lines = islice(lines_of(targets), done, None)
        while block := list(islice(lines, AT_ONCE)):
            for line in translate_lines(translator, block, GREEDY, AT_ONCE):
                out.write(line.text.encode() + b"\n")
            out.flush()
            done += len(block)
            advance(done, total)
            if done // LOG_EVERY > (done - len(block)) // LOG_EVERY:
                log.info("%s of %s lines are translated.", f"{done:,}", f"{total:,}")
    sync(partial)


def _keep_whole_blocks(file: IO[bytes]) -> int:
    """Removes what follows the last complete block of AT_ONCE lines. Returns the number of lines that remain.

    A block is translated as a whole, so an interrupted translation has the same lines as one that was not interrupted.
    """
    file.seek(0)
    lines, kept, size, kept_size = 0, 0, 0, 0
    for line in file:
        lines, size = lines + line.endswith(b"\n"), size + len(line)
        if lines % AT_ONCE == 0 and line.endswith(b"\n"):
            kept, kept_size = lines, size
    file.truncate(kept_size)
    return kept

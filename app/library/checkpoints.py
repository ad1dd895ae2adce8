"""Checkpoints, found and loaded once for all sessions. What they compute is in app/compute/cached_results.py.

A loaded checkpoint is kept by (path, time of change, size), so a file that was replaced is read again. Models are
shared by all sessions and never written to.
"""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from app.library.uploads import is_upload
from transformer.files.strict_json import is_unicode
from transformer.text.normalisation import normalise
from transformer.text.sentence_splitting import split_sentences

if TYPE_CHECKING:  # torch is imported with the first model
    from transformer.decoding.translator import Translator

MOST_CARD = 200_000  # characters of a model card
MOST_CHARACTERS = 4000  # of a whole text; for a longer one, the page says so instead of translating for minutes
MOST_SENTENCES = 24
MOST_TOKENS = 100  # of a sentence: a larger matrix cannot be read
_USED: dict[tuple[str, int, int], float] = {}  # when each loaded model was last asked for (time.monotonic)


@dataclass(frozen=True)
class CheckpointFile:
    """A file that can be opened, as it is now."""

    name: str  # without .safetensors
    path: str
    modified: int  # ns
    size: int  # bytes

    @classmethod
    def at(cls, path: Path, name: str | None = None) -> "CheckpointFile":
        found = path.stat()
        return cls(name or path.stem, str(path.resolve()), found.st_mtime_ns, found.st_size)

    @property
    def is_there(self) -> bool:
        """Whether the file still exists; newer uploads replace older ones."""
        return Path(self.path).is_file()

    @property
    def card(self) -> str | None:
        """The model card NAME.md beside it, in Markdown without images, which the browser would fetch.

        Every image of CommonMark begins with `![`, and a character reference cannot replace either character. The
        backslash makes the bracket plain text, and it leaves no `![` behind.
        """
        try:
            with Path(self.path).with_suffix(".md").open(encoding="utf-8", errors="replace") as file:
                return file.read(MOST_CARD).replace("![", "!\\[")
        except OSError:  # there is none, or it cannot be read
            return None


def checkpoint_folder() -> Path:
    """The folder of checkpoints: HEADLIGHT_CHECKPOINTS, or `pretrained/` of the repository."""
    return Path(os.environ.get("HEADLIGHT_CHECKPOINTS") or Path(__file__).resolve().parents[2] / "pretrained")


def checkpoints() -> dict[str, CheckpointFile]:
    """Checkpoints in the folder by name; `en-de`, where there is one, comes first, and members of families last."""
    names = sorted((path for path in _checkpoint_paths() if has_unicode_name(path)), key=_place)
    return {file.name: file for file in existing(names)}


def existing(paths: Iterable[Path]) -> Iterator[CheckpointFile]:
    """These files as they are now, without those that have just been deleted."""
    for path in paths:
        with suppress(OSError):
            yield CheckpointFile.at(path)


def skipped_checkpoints() -> list[str]:
    """The names of files in the folder that `checkpoints` leaves out, escaped: they are not UTF-8."""
    return sorted(escaped_name(path) for path in _checkpoint_paths() if not has_unicode_name(path))


def has_unicode_name(path: Path) -> bool:
    """Whether a page can show the name of this file or folder. Linux allows any bytes in a name, and Python reads those
    that are not UTF-8 as lone surrogates, which cannot be sent to a browser."""
    return is_unicode(f"{path.name}{path.resolve()}")


def escaped_name(path: Path) -> str:
    r"""Its name in ASCII; every other byte is escaped, such as \xff."""
    return repr(os.fsencode(path.name))[2:-1]


def _checkpoint_paths() -> list[Path]:
    return [path for path in checkpoint_folder().glob("*.safetensors") if path.is_file()]


def _place(path: Path) -> tuple[bool, bool, str]:
    return path.stem != "en-de", path.stem.startswith(("family-", "reverse-")), path.stem


def load(file: CheckpointFile) -> "Translator":
    """The checkpoint, ready to translate. Raises CheckpointError with everything that is wrong with the file."""
    key = (file.path, file.modified, file.size)
    _USED[key] = time.monotonic()
    return _load(*key)


def release_unused(before: float) -> bool:
    """Releases the models that were last used before this time (time.monotonic). Returns whether there were any."""
    unused = [key for key, used in list(_USED.items()) if used <= before]
    for key in unused:
        _USED.pop(key, None)
        _load.clear(*key)
    if unused:
        _load_snapshot.clear()
    return bool(unused)


@st.cache_resource(max_entries=6, show_spinner=False)
def _load(path: str, modified: int, size: int) -> "Translator":
    return _checked(path)


@st.cache_resource(max_entries=2, show_spinner=False)
def _load_snapshot(path: str, modified: int, size: int) -> "Translator":
    return _checked(path)


def _checked(path: str) -> "Translator":
    from app.library.limits import check_showable, check_upload
    from transformer.checkpoint.header import read_header
    from transformer.decoding.translator import Translator

    header = read_header(path)
    check_showable(header)
    if is_upload(path):
        check_upload(header)
    return Translator.load(path)


def load_snapshot(file: CheckpointFile) -> "Translator":
    """`load` for all snapshots of a run: it has its own cache, so that it does not evict what visitors use."""
    return _load_snapshot(file.path, file.modified, file.size)


def tokens_needed(file: CheckpointFile, text: str) -> tuple[int, int]:
    """(tokens of the longest sentence of the text as it was typed, how many sentences there are)."""
    lengths = sentence_lengths(load(file), text)
    return max(lengths, default=0), len(lengths)


def fits(file: CheckpointFile, text: str) -> bool:
    """Whether the page can show each sentence of the text."""
    return tokens_needed(file, text)[0] <= most_tokens(load(file))


def sentence_lengths(translator: "Translator", text: str) -> list[int]:
    """The tokens of each sentence of a text, </s> not counted, as the translator will split it."""
    sentences = [found for line in text[: 2 * MOST_CHARACTERS].splitlines() for found in split_sentences(line)]
    return [len(translator.tokenizer.encode(normalise(sentence))) for sentence in sentences]


def most_tokens(translator: "Translator") -> int:
    """How many tokens a sentence may have on the page, </s> not counted."""
    return min(translator.max_length, MOST_TOKENS)

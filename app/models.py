"""Checkpoints, found and loaded once for all sessions. What they compute is in app/computed.py.

A loaded checkpoint is kept by (path, time of change, size), so a file that was replaced is read again. Models are
shared by all sessions and never written to.
"""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import streamlit as st

from transformer.decoding.translator import Translator
from transformer.files import replacing
from transformer.text.normalise import normalise
from transformer.text.sentences import split_sentences

MOST_CHARACTERS = 4000  # of a whole text; beyond, the page says so instead of translating for minutes
MOST_SENTENCES = 24
MOST_PIECES = 100  # of a sentence: a larger matrix is no picture any more
MOST_UPLOADS = 4  # on this server at once; the oldest goes first


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
        """Still; newer uploads push out older ones."""
        return Path(self.path).is_file()

    @property
    def card(self) -> str | None:
        """The model card NAME.md beside it, in Markdown without images, which the browser would fetch.

        Every image of CommonMark begins with `![`, and a character reference cannot stand for either character. The
        backslash makes the bracket plain text, and it leaves no `![` behind.
        """
        path = Path(self.path).with_suffix(".md")
        return path.read_text(encoding="utf-8", errors="replace").replace("![", "!\\[") if path.is_file() else None


def checkpoint_folder() -> Path:
    """Where checkpoints are looked for: HEADLIGHT_CHECKPOINTS, or `pretrained/` of the repository."""
    return Path(os.environ.get("HEADLIGHT_CHECKPOINTS") or Path(__file__).resolve().parents[1] / "pretrained")


def checkpoints() -> dict[str, CheckpointFile]:
    """Checkpoints in the folder by name; `en-de`, where there is one, comes first, and members of families last."""
    names = sorted((path for path in checkpoint_folder().glob("*.safetensors") if path.is_file()), key=_place)
    return {path.stem: CheckpointFile.at(path) for path in names}


def _place(path: Path) -> tuple[bool, bool, str]:
    return path.stem != "en-de", path.stem.startswith("family-"), path.stem


def load(file: CheckpointFile) -> Translator:
    """The checkpoint, ready to translate. Raises CheckpointError with everything that is wrong with the file."""
    return _load(file.path, file.modified, file.size)


@st.cache_resource(max_entries=3, show_spinner=False)
def _load(path: str, modified: int, size: int) -> Translator:
    return Translator.load(path)


@st.cache_resource(max_entries=2, show_spinner=False)
def _load_rung(path: str, modified: int, size: int) -> Translator:
    return Translator.load(path)


def load_rung(file: CheckpointFile) -> Translator:
    """`load` for whoever goes through all rungs of a ladder: it must not push out what visitors are looking at."""
    return _load_rung(file.path, file.modified, file.size)


@st.cache_resource
def _upload_folder() -> tuple[tempfile.TemporaryDirectory[str], Lock]:
    return tempfile.TemporaryDirectory(prefix="headlight-"), Lock()


def keep_upload(name: str, content: bytes) -> CheckpointFile:
    """Keeps an uploaded file for as long as the server runs, or until newer uploads push it out.

    It is stored under the hash of its bytes, never under the name the visitor gave it.
    """
    folder, lock = _upload_folder()
    path = Path(folder.name) / f"{hashlib.sha256(content).hexdigest()}.safetensors"
    with lock:
        if not path.exists():
            others = sorted(Path(folder.name).glob("*.safetensors"), key=lambda other: other.stat().st_mtime_ns)
            for old in others[: max(len(others) - MOST_UPLOADS + 1, 0)]:
                old.unlink()
            with replacing(path) as temporary:  # on a disk that is full, no half of it under its name
                temporary.write_bytes(content)
    return CheckpointFile.at(path, name)


def pieces_needed(file: CheckpointFile, text: str) -> tuple[int, int]:
    """(pieces of the longest sentence of the text, how many sentences there are), counted as the translator will."""
    tokenizer = load(file).tokenizer
    sentences = [found for line in text[: 2 * MOST_CHARACTERS].splitlines() for found in split_sentences(line)]
    return max((len(tokenizer.encode(normalise(sentence))) for sentence in sentences), default=0), len(sentences)


def most_pieces(translator: Translator) -> int:
    """How many pieces a sentence may have on the page, its end sign not counted."""
    return min(translator.max_length, MOST_PIECES)

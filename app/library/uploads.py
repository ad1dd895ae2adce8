"""Uploaded checkpoints are stored in a temporary folder of the server, under the hash of their bytes.

The name that the visitor gave a file is never part of a path. All visitors share the folder, and it is removed when the
server ends.
"""

import hashlib
import tempfile
from pathlib import Path
from threading import Lock

import streamlit as st

from transformer.files.atomic_write import replacing

MOST_UPLOADS = 4  # on this server at once; the oldest is deleted first
LONGEST_NAME = 40  # characters
MARK = " (yours)"  # at the end of the name of an upload, so that it differs from the checkpoints of all visitors


@st.cache_resource
def _folder() -> tuple[tempfile.TemporaryDirectory[str], Lock]:
    return tempfile.TemporaryDirectory(prefix="headlight-"), Lock()


def store_upload(content: bytes) -> Path:
    """Stores an uploaded file until the server ends or newer uploads take its place. Returns where it is."""
    path = upload_path(content)
    folder, lock = _folder()
    with lock:
        if path.exists():
            path.touch()  # it is the newest again
        else:
            others = sorted(Path(folder.name).glob("*.safetensors"), key=lambda other: other.stat().st_mtime_ns)
            for old in others[: max(len(others) - MOST_UPLOADS + 1, 0)]:
                old.unlink()
            with replacing(path) as temporary:  # so a full disk leaves no half of a file under this name
                temporary.write_bytes(content)
    return path


def upload_name(file: str) -> str:
    """What an upload is called, by the name that the visitor's file has."""
    return f"{file.removesuffix('.safetensors')[:LONGEST_NAME]}{MARK}"


def upload_path(content: bytes) -> Path:
    """Where an upload is stored."""
    return Path(_folder()[0].name).resolve() / f"{hashlib.sha256(content).hexdigest()}.safetensors"


def is_upload(path: str | Path) -> bool:
    """Whether a file is in the folder of uploads."""
    return Path(path).parent == Path(_folder()[0].name).resolve()

"""A trace as one .npz file that NumPy alone can read: `numpy.load(path)["encoder.layers.0.self_attention.weights"]`.

    SITE                     the array of each site, by its name
    about.format             version of this format
    about.sentence           what was translated; "" if it is not known
    about.checkpoint         name of the checkpoint, and about.checkpoint_sum: sha256 of its file
    about.source_ids         (S); about.source_tokens the same as text
    about.target_ids         (T), what each row of the decoder reads; about.target_tokens
    about.predicted_ids      (T), what each row predicts; about.predicted_tokens

Nothing in the file is pickled. Nothing is compressed, so the arrays take no more memory than the file has bytes. The
size, the type and the shape of every array are checked before memory is allocated for it.
"""

import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, NoReturn

import numpy as np
from numpy.lib import format as npy

from transformer.errors import TraceError
from transformer.files.atomic_write import replacing
from transformer.files.strict_json import is_unicode
from transformer.files.untrusted_values import shown

VERSION = 1
ABOUT = "about."
TEXTS = ("sentence", "checkpoint", "checkpoint_sum")
IDS = ("source_ids", "target_ids", "predicted_ids")
TOKENS = ("source_tokens", "target_tokens", "predicted_tokens")
MOST_ARRAYS = 20_000
MOST_HEADER = 10_000  # bytes of the header of an array
LONGEST_AXIS = 2**31  # the size of the file does not limit the axes of an empty array (shape (0, 2**40))
ADVICE = "Use a file that Trace.save wrote; if it is one, copy it again."


def write_arrays(path: Path, about: Mapping[str, object], sites: Mapping[str, np.ndarray]) -> None:
    """Writes the file, completely or not at all.

    Raises:
        ValueError: a text ends in a NUL, so NumPy cannot store it.
    """
    described = {name: np.array(value, np.int64) if name in IDS else _texts(value) for name, value in about.items()}
    described["format"] = np.array(VERSION)
    with replacing(path) as temporary, temporary.open("wb") as file:  # not a path: NumPy would add ".npz" to it
        np.savez(file, allow_pickle=False, **{ABOUT + name: value for name, value in described.items()}, **sites)


def read_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """What is said about the trace, by name without `about.`, and the arrays by site.

    Raises:
        TraceError: the file cannot be read, or is not a trace.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = _entries(path, archive)
            _check_sizes(path, entries)
            found = {name: _array(path, archive, entry, name) for name, entry in entries.items()}
    except (OSError, ValueError, EOFError, RuntimeError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or error
        refuse(path, f"It cannot be read: {shown(str(reason))}.")
    about = {name.removeprefix(ABOUT): array for name, array in found.items() if name.startswith(ABOUT)}
    _check_about(path, about)
    sites = {name: array for name, array in found.items() if not name.startswith(ABOUT)}
    for name, array in sites.items():
        if array.ndim not in (2, 3) or array.dtype.kind not in "bf":
            refuse(path, f"{shown(name)} is not an array of numbers with 2 or 3 axes.")
    return about, sites


def refuse(path: Path, problem: str) -> NoReturn:
    """Raises the TraceError that says what is wrong and what to do."""
    raise TraceError(f"{path} is not a stored trace. {problem} {ADVICE}")


def _texts(value: object) -> np.ndarray:
    found = np.array(value, np.str_)
    if found.tolist() != (value if isinstance(value, str) else list(value)):  # type: ignore[call-overload]
        raise ValueError(f"NumPy cannot store a text that ends in a NUL: {shown(value)}")
    return found


def _entries(path: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The entries by name, without .npy."""
    listed = archive.infolist()
    if len(listed) > MOST_ARRAYS:
        refuse(path, f"It lists {len(listed):,} arrays; at most {MOST_ARRAYS:,} are read.")
    entries: dict[str, zipfile.ZipInfo] = {}
    for entry in listed:
        name = entry.filename.removesuffix(".npy")
        if name == entry.filename or name in entries:
            refuse(
                path,
                f"{shown(entry.filename)} is not an array."
                if name == entry.filename
                else f"{shown(name)} occurs twice.",
            )
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
            refuse(path, f"{shown(name)} is compressed or encrypted, which Trace.save does not do.")
        entries[name] = entry
    return entries


def _check_sizes(path: Path, entries: Mapping[str, zipfile.ZipInfo]) -> None:
    """Refuses arrays that claim more bytes than the file has: uncompressed arrays that do not overlap have no more."""
    total, size = sum(entry.file_size for entry in entries.values()), path.stat().st_size
    if total > size or any(entry.file_size != entry.compress_size for entry in entries.values()):
        refuse(path, f"Its arrays claim {total:,} bytes, and the file has {size:,}.")


def _array(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> np.ndarray:
    with archive.open(entry) as file:
        shape, dtype = _header(path, file, name)
        room = entry.file_size - file.tell()
        if dtype.hasobject:
            refuse(path, f"{shown(name)} has Python objects, which may run code when they are read.")
        if dtype.kind not in "bifU" or dtype.names or dtype.subdtype:
            refuse(path, f"{shown(name)} has the type {shown(str(dtype))}, which no trace has.")
        if math.prod(shape) * dtype.itemsize != room or max(shape, default=0) > LONGEST_AXIS:
            refuse(path, f"{shown(name)} claims the shape {shown(str(shape))}, and has {room:,} bytes.")
        file.seek(0)
        array: np.ndarray = npy.read_array(file, allow_pickle=False, max_header_size=MOST_HEADER)
    array.flags.writeable = False
    return array


def _header(path: Path, file: IO[bytes], name: str) -> tuple[tuple[int, ...], np.dtype]:
    version = npy.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        refuse(path, f"{shown(name)} is stored in a version of .npy that no trace has.")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    try:
        shape, _, dtype = read(file, max_header_size=MOST_HEADER)
    except Exception as error:  # NumPy parses it as Python, which may raise anything, such as TokenError
        refuse(path, f"The header of {shown(name)} cannot be read: {shown(str(error))}.")
    return shape, dtype


def _check_about(path: Path, about: Mapping[str, np.ndarray]) -> None:
    version = about.get("format")
    if version is None or version.shape or version.dtype.kind != "i":
        refuse(path, "It does not say which version of the format it has.")
    if version != VERSION:
        refuse(path, f"It has version {int(version)} of the format, and this Headlight reads version {VERSION}.")
    for name in (*TEXTS, *IDS, *TOKENS):
        found = about.get(name)
        kind, axes = ("i", 1) if name in IDS else ("U", int(name in TOKENS))
        if found is None or found.dtype.kind != kind or found.ndim != axes:
            refuse(path, f"It lacks {ABOUT}{name}, or has something else in its place.")
        if kind == "U" and not all(is_unicode(text) for text in found.ravel().tolist()):
            refuse(path, f"{ABOUT}{name} is not valid Unicode.")
    source, target = len(about["source_ids"]), len(about["target_ids"])
    lengths = {"source_tokens": source, "target_tokens": target, "predicted_ids": target, "predicted_tokens": target}
    for name, length in lengths.items():
        if len(about[name]) != length:
            refuse(path, f"{ABOUT}{name} has {len(about[name])} entries, and should have {length}.")

"""How a .safetensors file is laid out, checked by its first bytes alone.

    8 bytes: length of the header | header: a JSON object | data of the tensors, one after the other

The header gives the dtype, shape and byte range of each tensor, and `__metadata__`, text to text. Nothing of it is
believed: the library that reads the data comes later, and only to files whose every byte is accounted for.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from transformer.checkpoint.untrusted_config import shown
from transformer.errors import CheckpointError
from transformer.files.strict_json import parse_object

MAX_HEADER = 4 * 2**20  # bytes; 64 + 64 layers take 0.5 MB
MAX_LISTED = 20  # problems told one by one
MAX_BYTES = 2**62  # no file has more; Python's own integers know no bounds
ITEM_SIZE = {"F32": 4, "F16": 2, "U8": 1}  # bytes; weights are F32 or F16, the tokenizer is U8
FOREIGN = {
    b"PK\x03\x04": "a zip archive (PyTorch's own .pt and .pth files are such)",
    b"\x80\x02": "a Python pickle, which Headlight never opens, because it could run anything",
    b"\x80\x03": "a Python pickle, which Headlight never opens, because it could run anything",
    b"\x80\x04": "a Python pickle, which Headlight never opens, because it could run anything",
    b"\x80\x05": "a Python pickle, which Headlight never opens, because it could run anything",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"\x1f\x8b": "a gzip file",
    b"%PDF": "a PDF document",
    b"GGUF": "a GGUF file",
    b"\x89HDF": "an HDF5 file",
}


@dataclass(frozen=True)
class StoredTensor:
    """One tensor as the header lists it."""

    dtype: str  # in the words of safetensors: F16, F32, U8
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """What the first bytes of a file say, before anybody asks what it means."""

    file_size: int  # bytes
    tensors: dict[str, StoredTensor]
    metadata: object
    problems: list[str]


def read_layout(path: Path) -> Layout:
    """Reads the header of a .safetensors file and checks it against the size of the file.

    Raises:
        CheckpointError: it is no such file, or cannot be opened. What is wrong inside of one is in `problems`.
    """
    try:
        if path.is_dir():
            refuse(path, ["It is a folder. Name a .safetensors file."])
        if path.exists() and not path.is_file():
            refuse(path, ["It is not a plain file."])
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            entries, data_bytes = _read_entries(path, file, size)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise CheckpointError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    metadata = entries.pop("__metadata__", None)
    tensors, problems = _check_entries(entries, data_bytes)
    return Layout(size, tensors, metadata, problems)


def refuse(path: Path, problems: list[str]) -> NoReturn:
    """Raises the CheckpointError that lists all problems of a file."""
    if len(problems) == 1:
        raise CheckpointError(f"{path} is not a checkpoint that Headlight can load. {problems[0]}")
    listed = [f"- {problem}" for problem in problems[:MAX_LISTED]]
    if len(problems) > MAX_LISTED:
        listed.append(f"- and {len(problems) - MAX_LISTED} more of the kind.")
    raise CheckpointError(f"{path} is not a checkpoint that Headlight can load:\n" + "\n".join(listed))


def _read_entries(path: Path, file: BinaryIO, size: int) -> tuple[dict[str, Any], int]:
    """The header's entries and how many bytes of data follow; refuses what is no safetensors file."""
    if size == 0:
        refuse(path, ["It is empty."])
    start, brace = file.read(8), file.read(1)
    for magic, kind in FOREIGN.items():
        if start.startswith(magic) and brace != b"{":  # the length of a header may look like any of them
            refuse(path, [f"It is {kind}, whatever its name says."])
    file.seek(8)
    length = int.from_bytes(start, "little")
    if len(start) < 8 or not 2 <= length <= MAX_HEADER:
        refuse(path, ["It does not begin like a .safetensors file."])
    if 8 + length > size:
        refuse(path, [f"It is cut off: its header alone should have {length:,} bytes, and the file has {size:,}."])
    try:
        entries = parse_object(file.read(length).decode())
    except ValueError as error:
        refuse(path, [f"It does not begin like a .safetensors file: its header is not a JSON object ({error})."])
    return entries, size - 8 - length


def _check_entries(entries: dict[str, Any], data_bytes: int) -> tuple[dict[str, StoredTensor], list[str]]:
    """The tensors, and what is wrong with where they lie: one after the other, no gap, no overlap, to the end."""
    tensors: dict[str, StoredTensor] = {}
    ranges: list[tuple[int, int, str]] = []
    problems = []
    for name, entry in entries.items():
        match entry:
            case {"dtype": str(dtype), "shape": [*shape], "data_offsets": [int(begin), int(end)]} if (
                0 <= begin <= end <= MAX_BYTES and len(shape) <= 8 and all(map(_is_length, shape))
            ):
                tensors[name] = StoredTensor(dtype, tuple(shape))
                ranges.append((begin, end, name))
                needed = math.prod(shape) * ITEM_SIZE.get(dtype, 0)
                if dtype not in ITEM_SIZE:
                    problems.append(f"{shown(name)} has the dtype {shown(dtype)}; Headlight stores F32 and F16.")
                elif end - begin != needed:
                    problems.append(f"{shown(name)} needs {needed:,} bytes and has {shown(end - begin)}.")
            case _:
                problems.append(f"The header's entry for {shown(name)} makes no sense: {shown(entry)}.")
    reached = 0
    for begin, end, name in sorted(ranges):
        if begin != reached:
            problems.append(f"{shown(name)} begins at byte {shown(begin)} of the data instead of {reached:,}.")
            return tensors, problems
        reached = end
    if reached > data_bytes:
        problems.append(f"It is cut off: {reached:,} bytes of data are announced, and {data_bytes:,} are there.")
    elif reached < data_bytes and not problems:
        problems.append(f"{data_bytes - reached:,} bytes at its end belong to no tensor.")
    return tensors, problems


def _is_length(value: object) -> bool:
    return type(value) is int and 0 <= value <= MAX_BYTES

"""The layout of a .safetensors file, read and checked before its tensors.

    8 bytes: length of the header | header: a JSON object | data of the tensors, one after the other

The header gives the dtype, shape and byte range of each tensor, and `__metadata__`, which maps texts to texts. The
safetensors library refuses ranges that overlap, leave gaps, do not fit dtype and shape, or do not end with the file. It
accepts headers of up to 100 MB and duplicate names, and its messages often name neither the tensor nor the real file
format. This module adds these checks and messages.
"""

import math
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from safetensors import SafetensorError

from transformer.checkpoint.refusal import refuse
from transformer.errors import CheckpointError
from transformer.files.open_safetensors import open_safetensors
from transformer.files.strict_json import parse_object
from transformer.files.untrusted_values import shown

MAX_HEADER = 4 * 2**20  # bytes; the header of a model with 64 + 64 layers has 0.5 MB
ITEM_SIZE = {"F32": 4, "F16": 2, "U8": 1}  # bytes; weights are F32 or F16, the tokenizer is U8
FOREIGN = {
    b"PK\x03\x04": "a zip archive (PyTorch's own .pt and .pth files are such)",
    **{
        bytes([0x80, protocol]): "a Python pickle, which Headlight never opens, because it could run any code"
        for protocol in range(2, 6)
    },
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"\x1f\x8b": "a gzip file",
    b"%PDF": "a PDF document",
    b"GGUF": "a GGUF file",
    b"\x89HDF": "an HDF5 file",
}


class StoredTensor(NamedTuple):
    """One tensor as the header lists it."""

    dtype: str  # as safetensors writes it: F16, F32, U8
    shape: tuple[int, ...]


class Layout(NamedTuple):
    """What the header says, before its metadata is interpreted."""

    file_size: int  # bytes
    tensors: dict[str, StoredTensor]
    metadata: object
    problems: list[str]


def read_layout(path: Path) -> Layout:
    """Reads the header of a .safetensors file and checks it against the size of the file.

    Raises:
        CheckpointError: it is not a .safetensors file, or cannot be opened. What is wrong inside it is in `problems`.
    """
    try:
        if path.is_dir():
            refuse(path, ["It is a folder."])
        if path.exists() and not path.is_file():
            refuse(path, ["It is not a regular file."])
        with path.open("rb") as file:
            size = path.stat().st_size
            entries, data_bytes = _read_header(path, file, size)
        metadata = entries.pop("__metadata__", None)
        tensors, problems = _check_entries(path, entries, data_bytes)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise CheckpointError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    return Layout(size, tensors, metadata, problems)


def _read_header(path: Path, file: BinaryIO, size: int) -> tuple[dict[str, Any], int]:
    """The header's entries and how many bytes of data follow; refuses a file that is not a safetensors file."""
    if size == 0:
        refuse(path, ["It is empty."])
    start, brace = file.read(8), file.read(1)
    for magic, kind in FOREIGN.items():
        if start.startswith(magic) and brace != b"{":  # a header's length may have the same bytes; "{" then follows
            refuse(path, [f"It is {kind}, whatever its name says."])
    file.seek(8)
    length = int.from_bytes(start, "little")
    if len(start) < 8 or not 2 <= length <= MAX_HEADER:
        refuse(path, ["It is not a safetensors file: its first 8 bytes are not the length of a header."])
    if 8 + length > size:
        refuse(path, [f"It is cut off: its header alone should have {length:,} bytes, and the file has {size:,}."])
    try:
        entries = parse_object(file.read(length).decode())
    except ValueError as error:
        refuse(path, [f"It is not a safetensors file: its header is not a JSON object ({error})."])
    return entries, size - 8 - length


def _check_entries(path: Path, entries: dict[str, Any], data_bytes: int) -> tuple[dict[str, StoredTensor], list[str]]:
    """The tensors, and the problems for which safetensors refuses the file. They name the tensor where possible."""
    tensors: dict[str, StoredTensor] = {}
    problems, expected = [], 0
    for name, entry in entries.items():
        match entry:
            case {"dtype": str(dtype), "shape": [*shape], "data_offsets": [int(begin), int(end)]} if len(
                shape
            ) <= 8 and all(type(number) is int and 0 <= number < 2**63 for number in (*shape, begin, end)):
                tensors[name] = StoredTensor(dtype, tuple(shape))
                expected = max(expected, end)
                if end - begin == math.prod(shape) * ITEM_SIZE.get(dtype, -1):
                    continue
        problems.append(f"The header's entry for {shown(name)} is invalid: {shown(entry, 200)}.")
    try:
        with open_safetensors(path):
            return tensors, []
    except SafetensorError as error:
        if expected > data_bytes:
            problems = [f"It is cut off: {expected:,} bytes of data are expected, and the file has {data_bytes:,}."]
        elif expected < data_bytes and not problems:
            problems = [f"{data_bytes - expected:,} bytes at its end belong to no tensor."]
        reason = str(error).removeprefix("Error while deserializing header: ")
        return tensors, problems or [f"Its header is damaged: {shown(reason, 200)}."]

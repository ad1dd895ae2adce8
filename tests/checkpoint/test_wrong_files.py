"""A file that is no checkpoint, or is cut off or damaged, is refused: the message says what it is."""

import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.small_checkpoint import NORM, complaint, rewrite
from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.checkpoint.header import read_header
from transformer.config import TokenizerConfig
from transformer.errors import CheckpointError
from transformer.text.tokenizer import Tokenizer


def make_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.pkl", b"x" * 100)


def test_a_header_whose_length_has_the_first_bytes_of_a_pickle_is_read(saved: Path) -> None:
    length = 0x20480  # its first two bytes are those of protocol 4

    def pad(entries: dict[str, Any], about: dict[str, Any]) -> None:
        entries["__metadata__"]["headlight"] = json.dumps(about)
        entries["__metadata__"]["padding"] = "x" * (length - len(json.dumps(entries | {"__metadata__": {
            **entries["__metadata__"], "padding": ""}}).encode()))  # fmt: skip

    rewrite(saved, pad)
    assert saved.read_bytes()[:2] == b"\x80\x04"
    assert read_header(saved).parameters


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda path: path.write_bytes(b""), "It is empty"),
        (lambda path: path.write_bytes(b"\x05\0\0"), "not a safetensors file"),
        (lambda path: path.write_text("Dear reader,\nthis is a letter.\n"), "not a safetensors file"),
        (lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100)), "PNG picture"),
        (lambda path: path.write_bytes(pickle.dumps({"a": 1})), "pickle"),
        (lambda path: torch.save({"a": torch.ones(2)}, path), "zip archive"),
        (make_zip, "zip archive"),
        (lambda path: path.mkdir(), "folder"),
        (lambda path: path.write_bytes((2**63).to_bytes(8, "little") + bytes(100)), "not a safetensors file"),
        (lambda path: path.write_bytes((4_000_000).to_bytes(8, "little") + b"{"), "cut off"),
        (lambda path: path.write_bytes((8).to_bytes(8, "little") + b"[1, 2]  "), "not a JSON object"),
        (lambda path: path.write_bytes((9).to_bytes(8, "little") + b'{"a":NaN}'), "not a JSON object"),
        (lambda path: path.write_bytes((100_000).to_bytes(8, "little") + b"[" * 100_000), "not a JSON object"),
        (lambda path: path.write_bytes((2).to_bytes(8, "little") + b"{}"), "Headlight did not write it"),
    ],
)
def test_the_message_about_a_foreign_file_says_what_it_is(
    tmp_path: Path, make: Callable[[Path], object], expected: str
) -> None:
    path = tmp_path / "notone.safetensors"
    make(path)
    assert expected in complaint(path)


@pytest.mark.parametrize(
    ("kept", "expected"), [(4, "not a safetensors file"), *((kept, "cut off") for kept in (9, 200, 1500, 0.5, 0.9999))]
)
def test_a_truncated_file_is_refused(saved: Path, kept: float, expected: str) -> None:
    content = saved.read_bytes()
    saved.write_bytes(content[: int(kept * len(content)) if kept < 1 else int(kept)])
    assert expected in complaint(saved)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"missing\.safetensors cannot be read: No such file"):
        load_checkpoint(tmp_path / "missing.safetensors")


def test_a_gap_between_tensors_is_refused(saved: Path) -> None:
    def shift(entries: dict[str, Any], about: dict[str, Any]) -> None:
        for name, entry in entries.items():
            if name != "__metadata__":
                entry["data_offsets"] = [offset + 4 for offset in entry["data_offsets"]]

    content = saved.read_bytes()
    rewrite(saved, shift, bytes(4) + content[8 + int.from_bytes(content[:8], "little") :])
    assert "Its header is damaged: invalid offset for tensor `" in complaint(saved)


def test_bytes_after_the_end_are_refused(saved: Path) -> None:
    saved.write_bytes(saved.read_bytes() + b"more")
    assert "4 bytes at its end" in complaint(saved)


def test_weights_that_are_not_finite_are_refused(saved: Path) -> None:
    content = bytearray(saved.read_bytes())
    length = int.from_bytes(content[:8], "little")
    begin = json.loads(content[8 : 8 + length])[NORM]["data_offsets"][0] + 8 + length
    content[begin : begin + 4] = b"\x00\x00\xc0\x7f"  # a NaN
    saved.write_bytes(content)
    assert f"{NORM} contains infinities" in complaint(saved)


@pytest.mark.parametrize("content", [b"", b"\xff" * 50, b"\x0a\xff\xff\xff\xff\x7f"])
def test_a_broken_tokenizer_is_refused(saved: Path, content: bytes) -> None:
    def change(entries: dict[str, Any], about: dict[str, Any]) -> None:
        begin, end = entries["tokenizer"]["data_offsets"]
        assert end == len(data)
        entries["tokenizer"] |= {"shape": [len(content)], "data_offsets": [begin, begin + len(content)]}

    stored = saved.read_bytes()
    data = stored[8 + int.from_bytes(stored[:8], "little") :]
    tokenizer_bytes = len(load_checkpoint(saved).tokenizer.to_bytes())
    rewrite(saved, change, data[:-tokenizer_bytes] + content)
    assert "Its tokenizer cannot be read: " in complaint(saved)


def test_a_tokenizer_of_another_size_is_refused(tokenizer: Tokenizer, saved: Path) -> None:
    other = Tokenizer.train(["abc abd"], TokenizerConfig(vocab_size=9, byte_fallback=False)).to_bytes()
    stored = saved.read_bytes()
    data = stored[8 + int.from_bytes(stored[:8], "little") : -len(tokenizer.to_bytes())]

    def change(entries: dict[str, Any], about: dict[str, Any]) -> None:
        entries["tokenizer"] |= {"shape": [len(other)], "data_offsets": [len(data), len(data) + len(other)]}

    rewrite(saved, change, data + other)
    assert f"and its model {tokenizer.vocab_size}" in complaint(saved)

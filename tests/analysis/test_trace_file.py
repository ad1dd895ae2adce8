"""A stored trace is the same trace; a file that is none is refused with a sentence that says why."""

import copy
import hashlib
import io
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from tests.support.small_decoding import small_translator
from transformer.analysis.trace import Trace
from transformer.checkpoint.checkpoint_file import TrainedModel, save_checkpoint
from transformer.config import DecodingConfig
from transformer.decoding import Translator
from transformer.errors import TraceError, TranslationError

SETTINGS = DecodingConfig(beam=2, n_best=2, max_extra_length=4)
SENTENCE = "The <b>cat</b> sat, und ☃."


@pytest.fixture(scope="module")
def traced() -> Trace:
    return small_translator(SETTINGS).trace(SENTENCE)


@pytest.fixture
def stored(traced: Trace, tmp_path: Path) -> Path:
    traced.save(tmp_path / "trace.npz")
    return tmp_path / "trace.npz"


def test_a_stored_trace_is_the_same_to_the_bit(traced: Trace, stored: Path) -> None:
    found = Trace.load(stored)
    for each in fields(Trace):
        if each.name != "arrays":
            assert getattr(found, each.name) == getattr(traced, each.name)
    assert list(found.arrays) == list(traced.arrays)
    assert len(found.arrays) > 50
    for site, array in traced.arrays.items():
        assert (found[site].dtype, found[site].shape) == (array.dtype, array.shape)
        assert found[site].tobytes() == array.tobytes()
        assert not found[site].flags.writeable
    assert found.sentence == SENTENCE


def test_numpy_alone_reads_a_stored_trace(traced: Trace, stored: Path) -> None:
    with np.load(stored, allow_pickle=False) as file:
        assert file["about.source_tokens"].tolist() == list(traced.source_tokens)
        np.testing.assert_array_equal(file["logits"], traced["logits"])


def test_a_trace_names_its_checkpoint(tmp_path: Path) -> None:
    made = small_translator(SETTINGS)
    single = copy.deepcopy(made.model).float()  # other tests share the model, and need it in float64
    save_checkpoint(tmp_path / "small.safetensors", TrainedModel(single, made.tokenizer))
    found = Translator.load(tmp_path / "small.safetensors").trace("A dog barks.", "*.cross_attention.weights")
    assert found.checkpoint == "small"
    assert found.checkpoint_sum == hashlib.sha256((tmp_path / "small.safetensors").read_bytes()).hexdigest()
    assert set(found.arrays) == {"decoder.layers.0.cross_attention.weights"}
    edited = Translator.load(tmp_path / "small.safetensors").edited({})
    assert edited.trace("A dog barks.", "logits").checkpoint == "small, edited"
    with pytest.raises(TranslationError):
        made.trace("  ")


def changed(path: Path, change: Callable[[dict[str, bytes]], object], compression: int = zipfile.ZIP_STORED) -> Path:
    """The file with other entries."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    change(entries)
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def stored_array(array: np.ndarray, pickled: bool = False) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=pickled)
    return file.getvalue()


def header_only(text: str) -> bytes:
    """An array whose header claims what it has not."""
    padded = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded


HUGE = header_only("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000000), }")
CHANGES: dict[str, tuple[Callable[[dict[str, bytes]], object], str]] = {
    "objects": (lambda all: all.update({"logits.npy": stored_array(np.array([{}]), True)}), "Python objects"),
    "a huge shape": (lambda all: all.update({"logits.npy": HUGE}), "claims the shape"),
    "a type": (lambda all: all.update({"logits.npy": stored_array(np.zeros(2, complex))}), "complex128"),
    "a cut array": (lambda all: all.update({"logits.npy": all["logits.npy"][:-1]}), "claims the shape"),
    "no array": (lambda all: all.update({"logits.npy": b"nothing"}), "magic string"),
    "another file": (lambda all: all.update({"run.py": b"1"}), "run.py is not an array"),
    "another version": (lambda all: all.update({"about.format.npy": stored_array(np.array(2))}), "version 2"),
    "no version": (lambda all: all.pop("about.format.npy"), "which version"),
    "no ids": (lambda all: all.pop("about.source_ids.npy"), "about.source_ids"),
    "too few tokens": (lambda all: all.update({"about.source_tokens.npy": stored_array(np.array(["a"]))}), "entries"),
    "one axis": (lambda all: all.update({"logits.npy": stored_array(np.zeros(3, np.float32))}), "2 or 3 axes"),
    "a site of text": (lambda all: all.update({"logits.npy": stored_array(np.array([["a"]]))}), "2 or 3 axes"),
    "a long header": (lambda all: all.update({"logits.npy": header_only("{'descr': " + "(" * 30_000)}), "large|read"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_file_is_refused(stored: Path, name: str) -> None:
    change, reason = CHANGES[name]
    with pytest.raises(TraceError, match=reason) as found:
        Trace.load(changed(stored, change))
    assert str(found.value).startswith(f"{stored} is not a stored trace.")


HEADERS = {  # what NumPy raises for each
    "TokenError": "{'descr': '<f4', 'fortran_order': False, 'shape': (1,",
    "IndentationError": "  1\n 2",
    "TypeError": "{[]: 1}",
    "IndexError": "{'descr': ('<f4',), 'fortran_order': False, 'shape': (2,)}",
    "MemoryError": "-" * 9000 + "1",
    "OverflowError": "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 99999999999999999999)}",
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_damaged_header_of_an_array_is_refused(stored: Path, name: str) -> None:
    with zipfile.ZipFile(stored, "a") as archive:
        archive.writestr("more.npy", header_only(HEADERS[name]))
    with pytest.raises(TraceError, match=r"trace\.npz is not a stored trace\. .*more.*copy it again"):
        Trace.load(stored)


def test_a_compressed_file_is_refused_before_it_is_read(stored: Path) -> None:
    """A bomb of zeros is a thousand times smaller than what it becomes."""
    bomb = changed(stored, lambda all: all.update({"logits.npy": bytes(10**7)}), zipfile.ZIP_DEFLATED)
    with pytest.raises(TraceError, match="is compressed"):
        Trace.load(bomb)


def test_entries_that_overlap_are_refused(stored: Path) -> None:
    """Many names for the same bytes: in memory they would be many times as large as the file."""
    content = stored_array(np.zeros(100_000))
    with zipfile.ZipFile(stored, "w") as archive:
        archive.writestr("a.npy", content)
        (one,) = archive.infolist()
        for number in range(50):
            other = zipfile.ZipInfo(f"b{number}.npy")
            for name in ("CRC", "compress_size", "file_size", "header_offset"):
                setattr(other, name, getattr(one, name))
            archive.filelist.append(other)
            archive.NameToInfo[other.filename] = other
    with pytest.raises(TraceError, match="claim"):
        Trace.load(stored)


def test_what_is_no_trace_is_refused(stored: Path, tmp_path: Path) -> None:
    content = stored.read_bytes()
    for cut in (0, 10, len(content) // 2, len(content) - 1):
        stored.write_bytes(content[:cut])
        with pytest.raises(TraceError):
            Trace.load(stored)
    for path in (tmp_path, tmp_path / "missing.npz"):
        with pytest.raises(TraceError):
            Trace.load(path)


def test_a_file_with_any_changed_byte_is_a_trace_or_refused(stored: Path) -> None:
    content = bytearray(stored.read_bytes())
    random = np.random.default_rng(0)
    for place in random.integers(len(content), size=50):
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(random.integers(8))
        stored.write_bytes(damaged)
        with suppress(TraceError):
            Trace.load(stored)

"""Checkpoints that are damaged or hostile: each is refused with a reason, or loads and translates within bounds."""

import json
import os
import random
import struct
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.library.limits import bounded, check_search, check_showable, check_upload
from tests.benchmarks.corpora import resident
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.fuzzer import Fuzzer, run_fuzzer
from transformer.checkpoint.header import read_header
from transformer.decoding.translator import Translator
from transformer.errors import HeadlightError

SECONDS = 5.0  # for one file, on a busy machine
PEAK = "VmHWM"  # in /proc/PROCESS/status
GROWTH = 400e6  # bytes of memory, over all files of a test
TEXTS = ("the cat", "a" * 60, "Wo ist? 7:45 \U0001f600", "the the the the", "\u00a0.\u202f?")
NUMBERS = (0, 1, -1, 2, 3, 7, 64, 65, 128, 1000, 65_536, 2**31, 2**53, 2**63, 2**200, 0.5, 1e400, float("nan"), -0.0)
OTHERS: tuple[Any, ...] = (
    None,
    True,
    False,
    "",
    "none",
    "pre",
    "learned",
    "\ud800",
    "x" * 300,
    [],
    [1],
    {},
    {"a": {}},
    [[[]]],
)


def split(file: bytes) -> tuple[dict[str, Any], bytes]:
    """The header of a .safetensors file, and its data."""
    (length,) = struct.unpack("<Q", file[:8])
    return json.loads(file[8 : 8 + length]), file[8 + length :]


def joined(header: object, data: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def flip_bytes(rng: random.Random, file: bytes) -> bytes:
    changed = bytearray(file)
    head = 8 + struct.unpack("<Q", file[:8])[0]
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        end = rng.choice((8, head, len(changed)))
        changed[rng.randrange(end)] = rng.randrange(256)
    return bytes(changed)


def cut_or_extend(rng: random.Random, file: bytes) -> bytes:
    at = rng.randrange(len(file))
    return rng.choice((file[:at], file + file[:at], file[:at] + file[at + rng.randrange(64) :], file[at:]))


def edit_header(rng: random.Random, file: bytes) -> bytes:
    """A tensor that states another dtype, shape or place; or none; or one too many."""
    header, data = split(file)
    name = rng.choice([name for name in header if name != "__metadata__"])
    match rng.randrange(6):
        case 0:
            header[name]["dtype"] = rng.choice(("F16", "F64", "BF16", "I64", "U8", "F32", "", 3))
        case 1:
            header[name]["shape"] = [rng.choice(NUMBERS[:13]) for _ in range(rng.randrange(5))]
        case 2:
            header[name]["data_offsets"] = [rng.choice(NUMBERS[:14]), rng.choice(NUMBERS[:14])]
        case 3:
            del header[name]
        case 4:
            header[rng.choice(("extra", "\ud800", "tokenizer", "encoder.layers.9"))] = header[name]
        case _:
            header[name] = rng.choice(OTHERS)
    return joined(header, data)


def edit_metadata(rng: random.Random, file: bytes) -> bytes:
    """What the file says of itself: any value of any section becomes any other."""
    header, data = split(file)
    about = json.loads(header["__metadata__"]["headlight"])
    for _ in range(rng.choice((1, 1, 2, 5))):
        place: Any = about
        keys = [rng.choice(list(about))]
        while isinstance(place.get(keys[-1]), dict) and place[keys[-1]] and rng.random() < 0.9:
            place = place[keys[-1]]
            keys.append(rng.choice(list(place)))
        if rng.random() < 0.1:
            place.pop(keys[-1], None)
        else:
            place[keys[-1]] = rng.choice((*NUMBERS, *OTHERS))
    header["__metadata__"]["headlight"] = json.dumps(about)
    return joined(header, data)


def edit_numbers(rng: random.Random, file: bytes) -> bytes:
    """Weights that are huge, zero, infinite or NaN."""
    header, data = split(file)
    name = rng.choice([name for name, entry in header.items() if entry.get("dtype") == "F32"])
    begin, end = header[name]["data_offsets"]
    value = struct.pack("<f", rng.choice((0.0, 1e30, -1e38, 1e-40, float("inf"), float("nan"), 1e4)))
    changed = bytearray(data)
    for at in range(begin, end, 4 * rng.choice((1, 1, 7, (end - begin) // 4))):
        changed[at : at + 4] = value
    return joined(header, bytes(changed))


def edit_tokenizer(rng: random.Random, file: bytes) -> bytes:
    header, data = split(file)
    begin, end = header["tokenizer"]["data_offsets"]
    changed = bytearray(data)
    for _ in range(rng.choice((1, 2, 8))):
        changed[rng.randrange(begin, end)] = rng.randrange(256)
    return joined(header, bytes(changed))


MUTATIONS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    flip_bytes, cut_or_extend, edit_header, edit_metadata, edit_metadata, edit_numbers, edit_tokenizer,
)  # fmt: skip


def try_checkpoint(path: Path, text: str) -> str:
    """Loads and translates as the app does; what became of it. Raises what no user should see."""
    try:
        header = read_header(path)
        check_showable(header)
        check_upload(header)
        translator = Translator.load(path)
        settings = bounded(translator.settings)
        length = len(translator.tokenizer.encode(text)) + 1
        check_search(header.config, header.parameters, [length], settings)
        found = translator.translate(text, settings)
    except HeadlightError as error:
        message = str(error)
    else:
        found.text.encode()
        json.dumps([translator.checkpoint.metrics, translator.checkpoint.recipe]).encode()  # type: ignore[union-attr]
        return "translated"
    assert message, "an error without a message"
    message.encode()  # it can be printed and sent to a browser
    return "refused"


def checkpoint_fuzzer(folder: Path, results: Counter[str]) -> Fuzzer:
    """Tries damaged files in this folder, and counts how many were refused and how many translated."""

    def fuzz_checkpoints(rng: random.Random, cases: int) -> None:
        originals = [
            write_checkpoint(folder / "base.safetensors").read_bytes(),
            write_checkpoint(
                folder / "small.safetensors", Size(1, 1, 2), options={"positions": "learned"}
            ).read_bytes(),
        ]
        path, before = folder / "case.safetensors", peak_from_now_on()
        for number in range(cases):
            path.write_bytes(mutated(rng, rng.choice(originals)))
            begin = time.process_time()
            try:
                results[try_checkpoint(path, rng.choice(TEXTS))] += 1
            except BaseException as error:
                error.add_note(f"This is case {number}; its file is {path}.")
                raise
            assert time.process_time() - begin < SECONDS, f"case {number} takes too long: {path}"
        grown = resident(os.getpid(), PEAK) - before
        assert grown < GROWTH, f"{grown / 1e6:.0f} MB more memory"

    return fuzz_checkpoints


def peak_from_now_on() -> int:
    """The memory of this process in bytes; 0 if the system does not report it. From here on its peak is measured anew,
    whatever earlier tests needed."""
    reset = Path("/proc/self/clear_refs")
    if reset.exists():
        reset.write_text("5")
    return resident(os.getpid(), PEAK)


def mutated(rng: random.Random, file: bytes) -> bytes:
    for _ in range(rng.choice((1, 1, 1, 2))):
        try:
            file = rng.choice(MUTATIONS)(rng, file)
        except (ValueError, KeyError, IndexError, AttributeError, TypeError, struct.error):
            break  # a file that was damaged before has no such part any more
    return file


def test_damaged_checkpoints_are_refused_or_translate(tmp_path: Path) -> None:
    results: Counter[str] = Counter()
    run_fuzzer(checkpoint_fuzzer(tmp_path, results), 200)
    assert len(results) == 2, f"the mutations are too weak or too strong: {results}"


@pytest.mark.soak
def test_many_damaged_checkpoints_are_refused_or_translate(tmp_path: Path) -> None:
    run_fuzzer(checkpoint_fuzzer(tmp_path, Counter()), 20_000)

"""A header with wrong claims is refused: the message lists what is wrong, quickly and in little memory."""

import json
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.support.small_checkpoint import NORM, complaint, rewrite
from transformer.checkpoint.checkpoint_file import load_checkpoint


def test_a_name_that_occurs_twice_is_refused(saved: Path) -> None:
    """The library takes the last of them."""
    content = saved.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = content[8 : 8 + length].rstrip()
    twice = header[:-1] + b", " + json.dumps({NORM: json.loads(header)[NORM]}).encode()[1:]
    saved.write_bytes(len(twice).to_bytes(8, "little") + twice + content[8 + length :])
    assert len(load_file(saved)) == len(json.loads(header)) - 1
    assert f"the name {NORM} occurs twice" in complaint(saved)


def overlap(entries: dict[str, Any], about: dict[str, Any]) -> None:
    entries[NORM]["data_offsets"] = [0, 64]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda entries, about: entries.update({NORM: {**entries[NORM], "shape": [4, 4]}}),
            f"{NORM} has the shape (4, 4)",
        ),
        (lambda entries, about: entries.update({"x\x1b[31m": entries.pop(NORM)}), f"{NORM} is missing"),
        (lambda entries, about: entries.update({"x\x1b[31m": entries.pop(NORM)}), "x\\x1b[31m is not a weight"),
        (
            lambda entries, about: entries.update({NORM: {**entries[NORM], "dtype": "I64"}}),
            f"{NORM} is invalid: {{'dtype': 'I64'",
        ),
        (
            lambda entries, about: entries.update({NORM: {**entries[NORM], "dtype": "F16"}}),
            f"{NORM} is invalid: {{'dtype': 'F16'",
        ),
        (lambda entries, about: entries.update({NORM: 7}), f"entry for {NORM} is invalid: 7"),
        (lambda entries, about: entries[NORM].update(shape=[2**63, 2**63]), f"entry for {NORM} is invalid"),
        (
            lambda entries, about: entries[NORM].update(shape=[2**40, 2**40]),
            f"entry for {NORM} is invalid: {{'dtype': 'F32', 'shape': [1099511627776",
        ),
        (lambda entries, about: entries[NORM].update(data_offsets=[-64, 0]), f"entry for {NORM} is invalid"),
        (overlap, "Its header is damaged: invalid offset for tensor `"),
        (lambda entries, about: entries.pop("tokenizer"), "It has no tokenizer"),
        (
            lambda entries, about: entries.update(words={"dtype": "U8", "shape": [0, 0], "data_offsets": [0, 0]}),
            "Its words should be a row of bytes",
        ),
        (lambda entries, about: entries.pop("__metadata__"), "Headlight did not write it"),
        (lambda entries, about: entries.update(__metadata__={"format": "pt"}), "Headlight did not write it"),
        (lambda entries, about: about.update(format_version=4), "reads up to 3. Update Headlight"),
        (lambda entries, about: about.update(format_version="1"), "which does not exist"),
        (lambda entries, about: about.update(metrics=[]), "metrics should be a JSON object"),
        (lambda entries, about: about.update(recipe=3), "recipe should be a JSON object"),
        (lambda entries, about: about["config"].update(d_model=10**9), "config.d_model = 1000000000"),
        (lambda entries, about: about["config"].update(encoder_layers=10**6), "config.encoder_layers = 1000000"),
        (lambda entries, about: about["config"].update(encoder_layers=64), "has 65 layers"),
        (lambda entries, about: about["config"].update(d_model=16_384), "instead of"),
        (lambda entries, about: about["config"].update(max_positions=65_537), "config.max_positions"),
        (lambda entries, about: about["config"].update(attention_window=10**30), "config.attention_window"),
        (lambda entries, about: about["config"].update(heads=True), "config.heads = True: should be a valid integer"),
        (lambda entries, about: about["config"].update(d_model="16"), "config.d_model = 16: should be a valid integer"),
        (lambda entries, about: about["config"].update(d_modle=3), "Did you mean d_model?"),
        (lambda entries, about: about["config"].update(heads=3), "over 3 heads"),
        (lambda entries, about: about["config"].update(norm_epsilon=10**400), "config.norm_epsilon"),
        (lambda entries, about: about.update(config=None), "config should be a JSON object"),
        (
            lambda entries, about: about.update(recipe={"data": {"source_language": "\ud800"}}),
            "recipe.data.source_language = \\ud800: not valid Unicode",
        ),
        (
            lambda entries, about: about["metrics"].update({"\udc80": 1}),
            "the name metrics.\\udc80 is not valid Unicode",
        ),
    ],
)
def test_a_header_with_wrong_claims_is_refused(
    saved: Path, change: Callable[[dict[str, Any], dict[str, Any]], object], expected: str
) -> None:
    rewrite(saved, change)
    assert expected in complaint(saved)


def test_everything_that_is_wrong_is_listed_at_once(saved: Path) -> None:
    def change(entries: dict[str, Any], about: dict[str, Any]) -> None:
        entries[NORM]["shape"] = [4, 4]
        entries["stranger"] = entries.pop("encoder.layers.1.feed_forward.hidden.bias")
        about["metrics"] = 5

    rewrite(saved, change)
    message = complaint(saved)
    assert "encoder.layers.1.feed_forward.hidden.bias is missing" in message
    assert "stranger is not a weight" in message
    assert f"{NORM} has the shape (4, 4) instead of (16,)" in message
    assert "metrics should be" in message
    assert message.count("\n- ") == 4


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps to a limit of the address space")
def test_claims_of_enormous_size_take_no_memory(saved: Path, tmp_path: Path) -> None:
    """Headers that claim gigabytes, in a process that may allocate 32 MB: more would raise a MemoryError."""
    claims: dict[str, Callable[[dict[str, Any], dict[str, Any]], object]] = {
        "d_model": lambda entries, about: about["config"].update(d_model=10**9),
        "wide": lambda entries, about: about["config"].update(d_model=16_384, vocab_size=10**6),
        "deep": lambda entries, about: about["config"].update(encoder_layers=10**6),
        "layers": lambda entries, about: about["config"].update(encoder_layers=64, decoder_layers=64),
        "far": lambda entries, about: about["config"].update(d_model=16_384, max_positions=65_536),
        "shape": lambda entries, about: entries[NORM].update(shape=[2**31], data_offsets=[0, 2**33]),
    }
    paths = [tmp_path / f"{name}.safetensors" for name in claims]
    for path, change in zip(paths, claims.values(), strict=True):
        path.write_bytes(saved.read_bytes())
        rewrite(path, change)
    paths.append(tmp_path / "length.safetensors")
    paths[-1].write_bytes((2**40).to_bytes(8, "little") + bytes(100))
    load_checkpoint(saved)  # imports what is imported late
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + 32 * 2**20, limits[1]))
    try:
        for path in paths:
            complaint(path)
        with pytest.raises((MemoryError, RuntimeError)):  # the limit works
            torch.empty(2 * 2**30, dtype=torch.uint8)  # more than earlier tests can have freed
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)

"""One safe file in, one safe file out. For a wrong file the message lists what is wrong, quickly and in little
memory."""

import copy
import json
import math
import pickle
import resource
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from transformer.checkpoint.checkpoint_file import (
    Checkpoint,
    TrainedModel,
    load_checkpoint,
    read_header,
    save_checkpoint,
)
from transformer.config import BOS, EOS, ModelConfig, TokenizerConfig
from transformer.errors import CheckpointError
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer

FORMAT_1 = Path(__file__).parent / "format-1.safetensors"
LINES = ["the cat sat on the mat", "die Katze sass auf der Matte", "a dog and a bone", "ein Hund und ein Knochen"]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(LINES, TokenizerConfig(vocab_size=60, byte_fallback=False))


def tiny(tokenizer: Tokenizer, **changes: Any) -> Transformer:
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"encoder_layers": 2, "decoder_layers": 1, "d_model": 16, "d_ff": 24, "heads": 2}
    sizes |= {"max_positions": 32, "vocab_size": tokenizer.vocab_size}
    return Transformer(ModelConfig(**sizes | changes)).eval()


@pytest.fixture
def saved(tokenizer: Tokenizer, tmp_path: Path) -> Path:
    path = tmp_path / "tiny.safetensors"
    save_checkpoint(path, TrainedModel(tiny(tokenizer), tokenizer, {"name": "tiny"}, {"bleu": 12.5}))
    return path


def logits(model: Transformer) -> Tensor:
    """(T, V) for one fixed pair of sentences."""
    source = torch.tensor([[5, 6, 7, 8, EOS]])
    with torch.inference_mode():
        return model(source, torch.tensor([[BOS, 9, 10, 11]]))[0]


def make_format_1(path: Path) -> None:
    """How tests/checkpoint/format-1.safetensors was made. It never changes; a later format gets its own file."""
    lines = [*LINES, "0123456789"]
    tokenizer = Tokenizer.train(lines, TokenizerConfig(vocab_size=48, byte_fallback=False))
    model = tiny(tokenizer)
    metrics = {
        "logits": [[round(x, 6) for x in row] for row in logits(model).tolist()],
        "ids": tokenizer.encode(LINES[0]),
    }
    save_checkpoint(path, TrainedModel(model, tokenizer, {"name": "format-1"}, metrics))


# Loading what was saved


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"shared_embeddings": False},
        {"positions": "learned", "norm": "pre"},
        {"positions": "none"},
        {"sinusoid_layout": "concatenated", "attention_window": 2, "activation": "gelu"},
    ],
)
def test_a_loaded_model_computes_bit_for_bit_what_the_saved_one_did(
    tokenizer: Tokenizer, tmp_path: Path, changes: dict[str, Any]
) -> None:
    model = tiny(tokenizer, **changes)
    save_checkpoint(tmp_path / "x.safetensors", TrainedModel(model, tokenizer, {"a": {"b": [1]}}, {"bleu": 1.5}))
    loaded = load_checkpoint(tmp_path / "x.safetensors")
    assert torch.equal(logits(loaded.model), logits(model))
    assert not loaded.model.training
    assert loaded.config == model.config
    assert loaded.recipe == {"a": {"b": [1]}}
    assert loaded.metrics == {"bleu": 1.5}
    assert loaded.tokenizer.to_bytes() == tokenizer.to_bytes()
    assert not any(tensor.is_meta for tensor in [*loaded.model.parameters(), *loaded.model.buffers()])


def test_shared_embeddings_are_one_parameter_after_loading(saved: Path) -> None:
    model = load_checkpoint(saved).model
    for moved in (model, copy.deepcopy(model), model.to(torch.float64), torch.compile(model)._orig_mod):  # type: ignore[attr-defined]
        assert moved.encoder.embedding.tokens.weight is moved.decoder.embedding.tokens.weight
        assert moved.encoder.embedding.tokens.weight is moved.output.weight
    named = dict(model.named_parameters())
    assert len(named) == len({id(weight) for weight in named.values()})
    assert all(weight.requires_grad for weight in named.values())


def test_shared_embeddings_are_stored_and_counted_once(saved: Path, tokenizer: Tokenizer) -> None:
    stored = load_file(saved)
    model = tiny(tokenizer)
    embeddings = [name for name, weight in stored.items() if weight.shape == (tokenizer.vocab_size, 16)]
    assert embeddings == ["encoder.embedding.tokens.weight"]
    assert not [name for name in stored if "_orig_mod" in name or "positions" in name]
    assert read_header(saved).parameters == sum(weight.numel() for weight in model.parameters())


def test_a_compiled_model_is_saved_under_the_names_of_the_plain_one(tokenizer: Tokenizer, tmp_path: Path) -> None:
    model = tiny(tokenizer)
    save_checkpoint(tmp_path / "x.safetensors", TrainedModel(torch.compile(model), tokenizer))  # type: ignore[arg-type]
    assert torch.equal(logits(load_checkpoint(tmp_path / "x.safetensors").model), logits(model))


def test_equal_checkpoints_are_equal_files(tokenizer: Tokenizer, tmp_path: Path) -> None:
    contents = set()
    for i in range(5):
        path = tmp_path / f"{i}.safetensors"
        save_checkpoint(path, TrainedModel(tiny(tokenizer), tokenizer, {"x": 1, "y": 2}, {"z": 3}))
        contents.add(path.read_bytes())
    assert len(contents) == 1


def test_half_precision_halves_the_file_and_is_computed_in_float32(tokenizer: Tokenizer, tmp_path: Path) -> None:
    model = tiny(tokenizer, d_model=64, d_ff=256)
    for name, half in (("full", False), ("half", True)):
        save_checkpoint(tmp_path / name, TrainedModel(model, tokenizer), half=half)
    weights = [read_header(tmp_path / name).file_size - len(tokenizer.to_bytes()) for name in ("full", "half")]
    assert weights[1] < 0.6 * weights[0]
    assert read_header(tmp_path / "half").half
    loaded = load_checkpoint(tmp_path / "half").model
    assert {weight.dtype for weight in loaded.parameters()} == {torch.float32}
    torch.testing.assert_close(logits(loaded), logits(model), rtol=0, atol=0.02)
    assert not torch.equal(logits(loaded), logits(model))
    assert next(model.parameters()).dtype == torch.float32  # the saved model has not changed


def test_loading_leaves_the_random_state_alone(saved: Path) -> None:
    state = torch.get_rng_state()
    load_checkpoint(saved)
    assert torch.equal(torch.get_rng_state(), state)


def test_overwriting_its_file_does_not_change_a_loaded_model(saved: Path) -> None:
    model = load_checkpoint(saved).model
    before = logits(model)
    saved.write_bytes(b"\xff" * saved.stat().st_size)
    assert torch.equal(logits(model), before)


def test_metrics_that_are_not_finite_become_null(tokenizer: Tokenizer, tmp_path: Path) -> None:
    metrics = {"loss": math.nan, "history": [1.0, -math.inf]}
    save_checkpoint(tmp_path / "x", TrainedModel(tiny(tokenizer), tokenizer, metrics=metrics))
    assert read_header(tmp_path / "x").metrics == {"loss": None, "history": [1.0, None]}


def test_format_version_1_still_loads() -> None:
    assert FORMAT_1.stat().st_size < 100_000
    checkpoint: Checkpoint = load_checkpoint(FORMAT_1)
    assert checkpoint.format_version == 1
    assert checkpoint.tokenizer.encode(LINES[0]) == checkpoint.metrics["ids"]
    # The model that was saved wrote these logits into the file.
    torch.testing.assert_close(
        logits(checkpoint.model), torch.tensor(checkpoint.metrics["logits"]), rtol=1e-4, atol=1e-5
    )


# Saving


def test_weights_that_are_not_finite_are_not_saved(tokenizer: Tokenizer, saved: Path) -> None:
    before = saved.read_bytes()
    model = tiny(tokenizer)
    torch.nn.init.constant_(model.encoder.layers[0].feed_forward.hidden.weight, math.nan)
    with pytest.raises(CheckpointError, match="diverged"):
        save_checkpoint(saved, TrainedModel(model, tokenizer))
    torch.nn.init.constant_(model.encoder.layers[0].feed_forward.hidden.weight, 1e5)
    with pytest.raises(CheckpointError, match="too large for half precision"):
        save_checkpoint(saved, TrainedModel(model, tokenizer), half=True)
    assert saved.read_bytes() == before


def test_a_tokenizer_of_another_size_is_not_saved(tokenizer: Tokenizer, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=f"41 tokens, the tokenizer {tokenizer.vocab_size}"):
        save_checkpoint(tmp_path / "x", TrainedModel(tiny(tokenizer, vocab_size=41), tokenizer))


def test_with_a_full_disk_the_old_file_stays_and_the_message_says_so(saved: Path) -> None:
    """A full disk is simulated: this process may not write a file larger than 5 kB."""
    before = saved.read_bytes()
    checkpoint = load_checkpoint(saved)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, limits[1]))
    try:
        with pytest.raises(CheckpointError, match=r"could not be written.*older file of that name is not changed"):
            save_checkpoint(saved, TrainedModel(checkpoint.model, checkpoint.tokenizer))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_a_checkpoint_has_the_permissions_of_other_new_files(saved: Path) -> None:
    plain = saved.with_name("plain.txt")
    plain.touch()
    assert saved.stat().st_mode == plain.stat().st_mode


# Wrong files


def rewrite(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], object], data: bytes | None = None) -> None:
    """Changes the header of a checkpoint: `change(entries, about)` may change both."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    entries = json.loads(content[8 : 8 + length])
    about = json.loads(entries["__metadata__"]["headlight"])
    change(entries, about)
    if "headlight" in entries.get("__metadata__", {}):
        entries["__metadata__"]["headlight"] = json.dumps(about)
    header = json.dumps(entries).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + (content[8 + length :] if data is None else data))


def complaint(path: Path) -> str:
    """The message, which comes quickly and says what to do."""
    started = time.process_time()
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(path)
    assert time.process_time() - started < 3
    message = str(caught.value)
    assert str(path) in message
    assert "a .safetensors file that Headlight wrote" in message or "Update Headlight." in message
    assert message.isprintable() or "\n- " in message
    return message


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


def test_a_name_that_occurs_twice_is_refused(saved: Path) -> None:
    """The library takes the last of them."""
    content = saved.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = content[8 : 8 + length].rstrip()
    twice = header[:-1] + b", " + json.dumps({NORM: json.loads(header)[NORM]}).encode()[1:]
    saved.write_bytes(len(twice).to_bytes(8, "little") + twice + content[8 + length :])
    assert len(load_file(saved)) == len(json.loads(header)) - 1
    assert f"the name {NORM} occurs twice" in complaint(saved)


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


NORM = "encoder.layers.0.self_attention_residual.norm.weight"


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
        (lambda entries, about: entries.pop("__metadata__"), "Headlight did not write it"),
        (lambda entries, about: entries.update(__metadata__={"format": "pt"}), "Headlight did not write it"),
        (lambda entries, about: about.update(format_version=3), "reads up to 2. Update Headlight"),
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


@pytest.mark.parametrize("character", ["a", '"', "\\", "\n", "\x01", "ä", "😀"])
def test_a_description_of_any_characters_that_is_saved_can_be_read(
    tokenizer: Tokenizer, tmp_path: Path, character: str
) -> None:
    """The header of a file is limited in bytes, and a character may take many."""
    path, model = tmp_path / "long.safetensors", tiny(tokenizer, encoder_layers=12, decoder_layers=12)
    for length in (200_000, 1_040_000):
        try:
            save_checkpoint(path, TrainedModel(model, tokenizer, None, {"text": character * length}))
        except CheckpointError as error:
            assert "recipe and metrics are larger" in str(error)  # noqa: PT017
        else:
            assert read_header(path).metrics["text"] == character * length

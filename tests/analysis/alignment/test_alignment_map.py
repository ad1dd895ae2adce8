"""The map of a model whose alignment is known, against a pass of our own; and how it is stored."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from tests.support.small_alignment import REVERSE, mirrored, write
from transformer.analysis.alignment.alignment_map import AlignmentMap, map_path, read_map, weights_checksum, write_map
from transformer.analysis.alignment.gold_alignments import read_gold
from transformer.analysis.alignment.measure_heads import measure
from transformer.analysis.alignment.word_attention import SHIFTS
from transformer.analysis.inspection import as_text, describe
from transformer.analysis.trace import trace
from transformer.checkpoint.checkpoint_file import Checkpoint, TrainedModel, load_checkpoint, save_checkpoint
from transformer.cli import app
from transformer.config import BOS, EOS
from transformer.errors import CheckpointError, CorpusError
from transformer.model import Transformer


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def reverse(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    """A copy of the shipped toy model without an alignment map beside it."""
    path = tmp_path_factory.mktemp("checkpoint") / "reverse.safetensors"
    path.write_bytes(REVERSE.read_bytes())
    return load_checkpoint(path)


def measured(checkpoint: Checkpoint, path: Path, *, swap: bool = False) -> AlignmentMap:
    return measure(checkpoint, read_gold(path, swap=swap))


@pytest.fixture(scope="module")
def found(reverse: Checkpoint, tmp_path_factory: pytest.TempPathFactory) -> AlignmentMap:
    return measured(reverse, mirrored(tmp_path_factory.mktemp("gold") / "mirrored.tsv"))


def test_a_head_of_the_reverse_toy_aligns_almost_without_error_and_the_diagonal_does_not(found: AlignmentMap) -> None:
    best = found.of_shift(found.best_shift)
    assert best.together[0] == min(min(row) for row in best.aer) < 0.1
    assert found.diagonal.aer > 0.8
    assert found.chance.aer > 0.8


def test_every_rate_is_that_of_one_sentence_at_a_time(reverse: Checkpoint, tmp_path: Path) -> None:
    """Letters are tokens and words at once, so nothing has to be put together."""
    path = mirrored(tmp_path / "gold.tsv", 5)
    config = reverse.config
    right = {shift: np.zeros((config.decoder_layers, config.heads)) for shift in SHIFTS}
    means = {shift: np.zeros(config.decoder_layers) for shift in SHIFTS}
    words = 0
    for pair in read_gold(path).pairs:
        source, target = (reverse.tokenizer.encode(" ".join(side)) for side in (pair.source, pair.target))
        seen = trace(reverse.model, [*source, EOS], [*target, EOS], ["decoder.layers.*.cross_attention.weights"])
        weights = np.stack(list(seen.arrays.values()))[..., :-1]  # (L, H, T, S), without </s>
        words += len(target)
        for shift, first in (("predicts", 0), ("reads", 1)):
            for t in range(len(target)):
                row = weights[:, :, t + first]
                right[shift][row.argmax(axis=-1) == len(source) - 1 - t] += 1  # type: ignore[index]
                means[shift][row.mean(axis=1).argmax(axis=-1) == len(source) - 1 - t] += 1  # type: ignore[index]
    whole = measured(reverse, path)
    for shift in SHIFTS:
        assert np.array(whole.of_shift(shift).aer) == pytest.approx(1 - right[shift] / words)
        assert np.array(whole.of_shift(shift).precision) == pytest.approx(right[shift] / words)
        assert np.array(whole.of_shift(shift).layers) == pytest.approx(1 - means[shift] / words)
        order = sorted(np.ndindex(*right[shift].shape), key=lambda head: -right[shift][head])
        assert [right[shift][head] for head in whole.of_shift(shift).best] == [
            right[shift][head] for head in order[: len(whole.of_shift(shift).best)]
        ]


def test_the_best_heads_together_are_the_mean_of_the_first_one_two_three(reverse: Checkpoint, tmp_path: Path) -> None:
    path = mirrored(tmp_path / "gold.tsv", 4)
    found = measured(reverse, path)
    for shift, first in (("predicts", 0), ("reads", 1)):
        best = found.of_shift(shift).best  # type: ignore[arg-type]
        right, words = np.zeros(len(best)), 0
        for pair in read_gold(path).pairs:
            source, target = (reverse.tokenizer.encode(" ".join(side)) for side in (pair.source, pair.target))
            seen = trace(reverse.model, [*source, EOS], [*target, EOS], ["decoder.layers.*.cross_attention.weights"])
            heads = [seen[f"decoder.layers.{layer}.cross_attention.weights"][head] for layer, head in best]  # (T, S)
            words += len(target)
            for n in range(len(best)):
                mean = np.mean(heads[: n + 1], axis=0)[first:, :-1]
                right[n] += sum(mean[t].argmax() == len(source) - 1 - t for t in range(len(target)))
        assert np.array(found.of_shift(shift).together) == pytest.approx(1 - right / words)  # type: ignore[arg-type]


def test_swapped_columns_give_the_same_map(reverse: Checkpoint, found: AlignmentMap, tmp_path: Path) -> None:
    turned = measured(reverse, mirrored(tmp_path / "mirrored.tsv", swap=True), swap=True)
    assert turned.predicts == found.predicts
    assert turned.reads == found.reads


def test_the_text_is_measured_as_validation_measures_it(reverse: Checkpoint, tmp_path: Path) -> None:
    path = mirrored(tmp_path / "gold.tsv", 6)
    pairs = [(" ".join(pair.source), " ".join(pair.target)) for pair in read_gold(path).pairs]
    total, count = 0.0, 0
    for source, target in pairs:
        ids = [*reverse.tokenizer.encode(target), EOS]
        with torch.no_grad():
            logits = reverse.model(
                torch.tensor([[*reverse.tokenizer.encode(source), EOS]]), torch.tensor([[BOS, *ids[:-1]]])
            )
        total -= float(logits[0].log_softmax(-1)[torch.arange(len(ids)), ids].sum())
        count += len(ids)
    gold = read_gold(path)
    whole = measure(reverse, gold, ("home", pairs[:3]))
    assert whole.text.loss == pytest.approx(total / count, rel=1e-4)
    assert whole.text.source_words == pytest.approx(np.mean([len(pair.source) for pair in gold.pairs]))
    assert whole.text.source_tokens_per_word == whole.text.target_tokens_per_word == 1
    assert whole.home is not None
    assert (whole.home.name, whole.home.pairs) == ("home", 3)


@pytest.mark.parametrize("stated", [-0.5, float("inf"), float("nan"), 10**400, "0.5"], ids=lambda value: str(value)[:4])
def test_an_invalid_validation_loss_is_left_out(reverse: Checkpoint, tmp_path: Path, stated: object) -> None:
    strange = replace(reverse, metrics={"valid_loss": stated})
    assert measured(strange, mirrored(tmp_path / "gold.tsv", 2)).valid_loss is None


def test_the_heads_shown_first_are_as_many_of_the_best_heads_as_align_best_together(found: AlignmentMap) -> None:
    reading = replace(found.reads, best=[(1, 0), (0, 1), (0, 0)], together=[0.5, 0.4, 0.45])
    assert replace(found, reads=reading).heads_shown_first("reads") == [(0, 1), (1, 0)]


def test_pairs_too_long_for_the_model_are_left_out_and_counted(reverse: Checkpoint, tmp_path: Path) -> None:
    model = Transformer(replace(reverse.config, max_positions=8)).eval()
    save_checkpoint(tmp_path / "short.safetensors", TrainedModel(model, reverse.tokenizer))
    lines = ["a b c\tc b a\t0-2 1-1 2-0", " ".join("a" * 9) + "\ta\t0-0", " ".join("a" * 8) + "\ta\t0-0"]
    gold = measured(load_checkpoint(tmp_path / "short.safetensors"), write(tmp_path / "gold.tsv", *lines)).gold
    assert (gold.pairs, gold.left_out, gold.sure) == (1, 2, 3)
    with pytest.raises(CorpusError, match="every pair with a sure link has 8 tokens or more"):
        measured(load_checkpoint(tmp_path / "short.safetensors"), write(tmp_path / "gold.tsv", *lines[1:], "a\tb\t\t"))


# Stored


@pytest.fixture
def beside(tmp_path: Path, reverse: Checkpoint) -> Path:
    (tmp_path / "reverse.safetensors").write_bytes(reverse.path.read_bytes())
    return tmp_path / "reverse.safetensors"


def test_a_stored_map_is_read_again_and_the_checkpoint_is_not_changed(found: AlignmentMap, beside: Path) -> None:
    before = beside.read_bytes()
    assert read_map(beside, load_checkpoint(beside).config) is None
    assert write_map(found, beside) == map_path(beside)
    again = read_map(beside, load_checkpoint(beside).config)
    assert again is not None
    assert beside.read_bytes() == before
    for shift in SHIFTS:
        assert np.array(again.of_shift(shift).aer) == pytest.approx(np.array(found.of_shift(shift).aer), abs=1e-5)
        assert again.heads_shown_first(shift) == found.heads_shown_first(shift)
    assert again.gold == found.gold


def test_the_checksum_depends_on_the_weights_and_not_on_the_scores(beside: Path) -> None:
    loaded, before = load_checkpoint(beside), weights_checksum(beside)
    save_checkpoint(beside, TrainedModel(loaded.model, loaded.tokenizer, metrics={"bleu": 99.0}))
    assert weights_checksum(beside) == before
    with torch.no_grad():
        loaded.model.output.weight[5, 0] += 1
    save_checkpoint(beside, TrainedModel(loaded.model, loaded.tokenizer))
    assert weights_checksum(beside) != before


def test_a_map_of_other_weights_is_refused(found: AlignmentMap, beside: Path) -> None:
    write_map(replace(found, weights_sha256="0" * 64), beside)
    with pytest.raises(CheckpointError, match="measured on other weights"):
        read_map(beside, load_checkpoint(beside).config)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda map: map | {"format_version": 1}, "has the format 1"),
        (lambda map: map["predicts"]["aer"].pop(), "a map of another model"),
        (lambda map: map["reads"]["best"].append([0, 99]), "a map of another model"),
        (lambda map: map["reads"].update(best=[], together=[]), "a map of another model"),
        (lambda map: map["reads"]["aer"][0].__setitem__(0, 1.5), "reads.aer"),
        (lambda map: map["gold"].pop("name"), "gold.name is missing"),
        (lambda map: map.update(extra=1), "extra is not an option"),
        (lambda map: map.update(home=map["text"] | {"los": 1}), "home.los is not an option. Did you mean loss?"),
        (lambda map: map["diagonal"].update(aer=7), "diagonal.aer"),
        (lambda map: map["chance"].update(recall=-3), "chance.recall"),
    ],
)
def test_a_map_with_invalid_values_is_refused(found: AlignmentMap, beside: Path, change: Any, message: str) -> None:
    values = json.loads(write_map(found, beside).read_text())
    changed = change(values)
    map_path(beside).write_text(json.dumps(changed if isinstance(changed, dict) and "gold" in changed else values))
    with pytest.raises(CheckpointError) as error:
        read_map(beside, load_checkpoint(beside).config)
    assert message in str(error.value)
    assert f"Measure again with `python -m transformer align {beside} " in str(error.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b'{"a": NaN}', b"[" * 9999, b'{"a": "\\ud800"}'])
def test_a_file_that_is_not_a_map_is_refused(beside: Path, content: bytes) -> None:
    map_path(beside).write_bytes(content)
    with pytest.raises(CheckpointError, match="is not a map of heads"):
        read_map(beside, load_checkpoint(beside).config)


# The command


def test_the_command_prints_the_map_and_stores_it_on_request(found: AlignmentMap, beside: Path) -> None:
    data = mirrored(beside.parent / "mirrored.tsv")
    result = run("align", beside, "--data", data, "--device", "cpu")
    assert result.exit_code == 0, result.output
    assert not map_path(beside).exists()
    (layer, head), shift = found.of_shift(found.best_shift).best[0], found.best_shift
    lowest = f"{100 * found.of_shift(shift).aer[layer][head]:.1f}"
    assert f"{shift:<8}  head {layer + 1}.{head + 1}: AER {lowest} " in result.stdout
    rows = [line.split() for line in result.stdout.splitlines() if line[:5].strip().isdigit()]
    tables = np.array([[float(cell) for cell in row[1:-1]] for row in rows]) / 100
    assert tables == pytest.approx(np.array([*found.predicts.aer, *found.reads.aer]), abs=0.0006)
    assert "the checkpoint's own validation loss: 0.00 nats" in result.stdout
    stored = run("align", beside, "--data", data, "--store", "--json", "--device", "cpu")
    assert map_path(beside).exists()
    assert json.loads(stored.stdout)["predicts"]["aer"] == found.predicts.aer
    description = describe(load_checkpoint(beside))
    assert description["alignment"]["gold"] == asdict(found.gold) | {"name": "mirrored.tsv"}
    assert f"head {layer + 1}.{head + 1}: AER {lowest}" in as_text(description)
    map_path(beside).write_text("{}")
    assert "is not a map of heads" in as_text(describe(load_checkpoint(beside)))


def test_home_is_the_validation_text_of_the_recipe_if_it_exists(
    beside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_checkpoint(beside)
    recipe = {"data": {"valid": "valid.tsv", "source_column": 2, "target_column": 1}}
    save_checkpoint(beside, TrainedModel(loaded.model, loaded.tokenizer, recipe, {"valid_loss": 0.5}))
    monkeypatch.chdir(tmp_path)
    data = mirrored(tmp_path / "gold.tsv", 3)
    nowhere = json.loads(run("align", beside, "--data", data, "--json").stdout)
    assert nowhere["home"] is None
    assert nowhere["valid_loss"] == 0.5
    monkeypatch.setattr("transformer.commands.align.HOME_PAIRS", 2)
    write(tmp_path / "valid.tsv", "c b a\ta b c", "b a\ta b", "not read")
    home = json.loads(run("align", beside, "--data", data, "--json").stdout)["home"]
    assert (home["name"], home["pairs"], home["source_words"]) == ("valid.tsv", 2, 2.5)
    assert home["loss"] < 1  # the second column is the source


def test_a_direction_that_the_model_was_not_trained_for_is_reported(tmp_path: Path) -> None:
    """`numbers` writes German; here German is the source."""
    numbers = REVERSE.with_name("numbers.safetensors")
    data = write(tmp_path / "gold.tsv", *["zweiundvierzig\tforty-two\t0-0"] * 3)
    assert "Try with --swap" in run("align", numbers, "--data", data).stderr
    assert "Try" not in run("align", numbers, "--data", data, "--swap").stderr


@pytest.mark.parametrize(
    ("lines", "message"), [(["a b\tb a\t1-2"], "line 1: the link 1-2 points beyond"), ([], "the file is empty")]
)
def test_a_bad_gold_file_gives_an_error_and_an_exit_code(tmp_path: Path, lines: list[str], message: str) -> None:
    result = run("align", REVERSE, "--data", write(tmp_path / "gold.tsv", *lines))
    assert result.exit_code == 1
    assert message in result.stderr
    assert "Traceback" not in result.output

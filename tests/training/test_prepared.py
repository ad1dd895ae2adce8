"""A corpus is prepared once, by any number of processes, and equals the corpus prepared in memory."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from tests.support.patience import PATIENCE
from tests.support.small_training import assert_same_run, corpus_recipe, write_pairs
from transformer.config import Recipe
from transformer.data import encoding, pair_sources, text_preparation
from transformer.data.encoded_pairs import EncodedPairs
from transformer.data.encoding import encode_pairs
from transformer.data.parallel_map import in_order
from transformer.data.toy_tasks import toy_pairs
from transformer.data.training_data import TrainingData
from transformer.errors import CorpusError
from transformer.text.tokenizer import Tokenizer
from transformer.training import train

ROOT = Path(__file__).parents[2]


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Blocks of five pairs, worth two processes; the numbers of processes that were at work, in order."""
    numbers: list[int] = []

    def spied(make: Any, portions: Any, processes: int) -> Any:
        numbers.append(processes)
        return in_order(make, portions, processes)

    for module in (text_preparation, encoding):
        monkeypatch.setattr(module, "in_order", spied)
    monkeypatch.setattr("transformer.data.text_files.AT_ONCE", 5)
    monkeypatch.setattr(text_preparation, "PORTION", 100)
    return numbers


def with_data(recipe: Recipe, **changes: Any) -> Recipe:
    return replace(recipe, data=replace(recipe.data, **changes))


def contents(pairs: EncodedPairs) -> list[list[int]]:
    arrays = pairs.source_ids, pairs.source_starts, pairs.target_ids, pairs.target_starts
    return [array.tolist() for array in arrays]


def nothing_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: Any) -> None:
        raise AssertionError("prepared again")

    for name in ("write_text", "encode_text", "_learn"):
        monkeypatch.setattr(pair_sources, name, never)


@pytest.mark.parametrize("sampling", [0.0, 0.3])
def test_prepared_ids_on_disk_equal_those_encoded_in_memory(sampling: float, tmp_path: Path) -> None:
    """So runs of older versions, which prepared nothing on disk, can be resumed: their fingerprint is the same."""
    recipe = corpus_recipe(tmp_path, sampling)
    data = TrainingData(recipe, tmp_path / "run")
    learnt = [pair for pair in toy_pairs("numbers", 1, 150) if pair not in data.valid_pairs]
    for epoch in (0, 1, 2):
        rng = random.Random(f"subwords {recipe.training.seed} {epoch}")
        assert contents(encode_pairs(data.tokenizer, learnt, 60, alpha=sampling, rng=rng)) == contents(
            data._epoch(epoch)
        )
    ids = data._first.source_ids.tobytes() + data._first.target_ids.tobytes()
    assert data.fingerprint == f"{len(learnt)} pairs, {zlib.crc32(ids):08x}"


@pytest.mark.parametrize(
    ("sampling", "swap_names"),
    [*(pytest.param(*each, marks=pytest.mark.soak) for each in ((0.0, 0.0), (0.3, 0.0), (0.0, 0.5))), (0.3, 0.5)],
)
def test_two_processes_prepare_what_one_does(
    sampling: float, swap_names: float, tmp_path: Path, used: list[int]
) -> None:
    names = cycle(("Ada", "Berta", "Carl"))
    pairs = [
        (f"{name} {one}", f"{name} {two}")
        for name, (one, two) in zip(names, toy_pairs("numbers", 1, 150), strict=False)
    ]
    write_pairs(tmp_path / "corpus.tsv", pairs)
    recipe = with_data(corpus_recipe(tmp_path, sampling), swap_names=swap_names)
    runs = [TrainingData(with_data(recipe, workers=n), tmp_path / str(n)) for n in (1, 2)]
    assert used == [1, 1, 2, 2]
    for epoch in (0, 1) if sampling or swap_names else (0,):
        one, two = (contents(run._epoch(epoch)) for run in runs)
        assert one == two
    assert (contents(runs[0]._epoch(0)) == contents(runs[0]._epoch(1))) == (not sampling and not swap_names)
    assert runs[0].fingerprint == runs[1].fingerprint
    assert runs[0].valid_pairs == runs[1].valid_pairs
    prepared = list((tmp_path / "1" / "prepared").glob("*/*"))
    assert prepared
    for path in prepared:
        assert path.read_bytes() == (tmp_path / "2" / path.relative_to(tmp_path / "1")).read_bytes(), path


@pytest.mark.parametrize("workers", [1, 2])
def test_a_damaged_line_is_reported_with_its_number_by_any_process(
    workers: int, tmp_path: Path, used: list[int]
) -> None:
    recipe = with_data(corpus_recipe(tmp_path), workers=workers)
    corpus = Path(recipe.data.train[0])
    good = corpus.read_bytes().splitlines(keepends=True)
    for damaged, message in ((b"caf\xe9\tKaffee\n", "not UTF-8"), (b"no tab\n", "there is no column 2")):
        corpus.write_bytes(b"".join([*good[:122], damaged, *good[122:]]))
        with pytest.raises(CorpusError, match=rf"corpus\.tsv, line 123: {message}"):
            TrainingData(recipe, tmp_path / "run")
        assert [path.name for path in (tmp_path / "run" / "prepared").iterdir()] == [".lock"]
    assert used == [workers] * 2


def test_a_resumed_run_prepares_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = corpus_recipe(tmp_path, sampling=0.2)
    before = TrainingData(recipe, tmp_path / "run")
    second = contents(before._epoch(2))
    nothing_is_prepared(monkeypatch)
    after = TrainingData(recipe, tmp_path / "run")
    assert contents(after._epoch(0)) == contents(before._epoch(0))
    assert contents(after._epoch(2)) == second
    assert after.valid_pairs == before.valid_pairs
    assert (after.fingerprint, after.judged_by) == (before.fingerprint, before.judged_by)


def test_runs_share_what_is_prepared_in_a_folder_that_they_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = with_data(corpus_recipe(tmp_path, sampling=0.0), prepared=str(tmp_path / "shared"))
    train(replace(recipe, training=replace(recipe.training, updates=4)), tmp_path / "one", device="cpu")
    nothing_is_prepared(monkeypatch)
    train(replace(recipe, training=replace(recipe.training, updates=4)), tmp_path / "two", device="cpu")
    assert_same_run(tmp_path / "one", tmp_path / "two")
    assert not (tmp_path / "two" / "prepared").exists()
    monkeypatch.undo()
    moved = with_data(recipe, prepared=None, workers=1)  # the folder may change when the run is resumed
    train(replace(moved, training=replace(moved.training, updates=6)), tmp_path / "one", resume=True, device="cpu")


@pytest.mark.parametrize(
    "change",
    [
        {"valid_size": 13},
        {"max_length": 50},
        {"drop_duplicates": True},
        {"source_column": 2, "target_column": 1},
        {"seed": 2},
        {"tokenizer": "other"},
        {"text": "other"},
    ],
    ids=str,
)
def test_only_what_depends_on_a_change_is_prepared_again(change: dict[str, Any], tmp_path: Path) -> None:
    recipe = with_data(corpus_recipe(tmp_path, sampling=0.0), prepared=str(tmp_path / "shared"))
    TrainingData(recipe, tmp_path / "one")
    ids = set((tmp_path / "shared").glob("ids-*"))
    tokenizer = None
    if "seed" in change:
        recipe = replace(recipe, training=replace(recipe.training, seed=2))
    elif "tokenizer" in change:
        tokenizer = Tokenizer.train(["a b c"], replace(recipe.tokenizer, vocab_size=300))
    elif "text" in change:
        write_pairs(Path(recipe.data.train[0]), toy_pairs("numbers", 2, 150))
    else:
        recipe = with_data(recipe, **change)
    data = TrainingData(recipe, tmp_path / "two", tokenizer)
    fresh = TrainingData(with_data(recipe, prepared=None), tmp_path / "three", tokenizer)
    assert len(set((tmp_path / "shared").glob("ids-*")) - ids) == 1
    assert contents(data._first) == contents(fresh._first)
    assert data.valid_pairs == fresh.valid_pairs


def test_text_that_has_moved_is_not_prepared_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = corpus_recipe(tmp_path, sampling=0.0)
    before = TrainingData(recipe, tmp_path / "run")
    nothing_is_prepared(monkeypatch)
    (tmp_path / "moved").mkdir()
    place = Path(recipe.data.train[0]).rename(tmp_path / "moved" / "my.tsv")
    after = TrainingData(with_data(recipe, train=(str(place),)), tmp_path / "run", before.tokenizer)
    assert (after.fingerprint, after.judged_by) == (before.fingerprint, before.judged_by)
    (part,) = json.loads((tmp_path / "run" / "corpus-files.json").read_text())
    assert (part["name"], list(part["files"])) == (str(place), [str(place)])
    assert after.files[0] == before.files[0] | {"name": "my.tsv"}


def test_three_epochs_with_sampled_subwords_are_kept_on_disk(tmp_path: Path) -> None:
    recipe = with_data(corpus_recipe(tmp_path, sampling=0.2), prepared=str(tmp_path / "shared"))
    data = TrainingData(recipe, tmp_path / "run")
    first, second, *_ = (contents(data._epoch(epoch)) for epoch in (1, 2, 3, 4))
    assert len(list((tmp_path / "run" / "prepared").glob("epoch-*"))) == 3
    assert not list((tmp_path / "shared").glob("epoch-*"))
    assert contents(data._epoch(1)) == first != second


def test_the_counts_of_kept_and_dropped_pairs_are_logged_and_stored_with_the_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recipe = corpus_recipe(tmp_path, updates=1)
    pairs = toy_pairs("numbers", 1, 150)
    write_pairs(tmp_path / "corpus.tsv", [*pairs, ("", "x"), pairs[3], pairs[3], ("one " * 61, "eins"), ("a", "a")])
    recipe = with_data(recipe, drop_duplicates=True, drop_copies=True, max_length=60)
    with caplog.at_level("INFO", "transformer"):
        train(recipe, tmp_path / "run", device="cpu")
    counts = json.loads((tmp_path / "run" / "corpus.json").read_text())
    assert counts["read"] == 155
    assert (counts["empty"], counts["copies"], counts["too_long"]) == (1, 1, 1)
    assert counts["duplicates"] >= 2
    assert sum(value for name, value in counts.items() if name not in ("read", "shared")) == 155
    assert f"155 pairs read: 1 with an empty side, 1 the same on both sides, {counts['duplicates']} dup" in caplog.text


def session_of(process: int) -> Iterator[int]:
    """The processes of a session that are neither its first nor dead."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == process and fields[0] not in "ZX" and int(path.name) != process:
            yield int(path.name)


@pytest.mark.skipif(sys.platform != "linux", reason="the running processes are read from /proc")
@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.soak), signal.SIGTERM])
def test_preparing_can_be_stopped_and_leaves_no_process_and_nothing_half_made(
    number: signal.Signals, tmp_path: Path
) -> None:
    with (tmp_path / "corpus.en-de.tsv").open("w") as file:
        file.writelines(f"This is sentence number {i}.\tDas ist Satz Nummer {i}.\n" for i in range(600_000))
    options = [f"data.train={tmp_path / 'corpus.en-de.tsv'}", "data.valid=none", "data.workers=2"]
    command = [sys.executable, "-m", "transformer", "train", "multi30k-en-de", "--run-dir", str(tmp_path / "run")]
    command += [part for option in options for part in ("--set", option)]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True)
    store, until = tmp_path / "run" / "prepared", time.monotonic() + PATIENCE
    while not any(path.stat().st_size for path in store.glob(".text-*/text.tsv")) and time.monotonic() < until:
        time.sleep(0.01)
    assert len(list(session_of(process.pid))) >= 2
    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)  # as a terminal does
    printed = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 1
    named = "Ctrl-C" if number == signal.SIGINT else number.name
    assert f"Stopped by {named} before training started" in printed
    assert "Traceback" not in printed
    until = time.monotonic() + PATIENCE
    while list(session_of(process.pid)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not list(session_of(process.pid))
    assert [path.name for path in store.iterdir()] == [".lock"]


def test_a_store_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    recipe = with_data(corpus_recipe(tmp_path), prepared=str(tmp_path / "file" / "store"))
    with pytest.raises(CorpusError, match=r"cannot be kept in .*store.*data\.prepared"):
        train(recipe, tmp_path / "run", device="cpu")

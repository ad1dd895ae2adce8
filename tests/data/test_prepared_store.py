"""A folder that is found in a store is complete, whatever happened while it was made."""

import errno
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np
import pytest

from tests.support.patience import PATIENCE
from transformer.data.data_options import DataConfig
from transformer.data.mapped_arrays import append, mapped
from transformer.data.prepared_store import Store, store_of
from transformer.errors import CorpusError

MADE_FROM = {"text": "a", "options": [1, None]}


def writing(text: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / "file").write_text(text)

    return make


def never(folder: Path) -> None:
    raise AssertionError("made again")


def half_and_dead(folder: Path) -> None:
    (folder / "file").write_text("half a fi")
    os.kill(os.getpid(), signal.SIGKILL)


def die_while_making(store: Path) -> None:
    Store(store).find_or_make("text", MADE_FROM, half_and_dead)


def test_a_folder_is_found_by_what_it_was_made_from(tmp_path: Path) -> None:
    store = Store(tmp_path / "a" / "b")
    first = store.find_or_make("text", MADE_FROM, writing("one"))
    assert store.find_or_make("text", dict(reversed(MADE_FROM.items())), never) == first
    assert (first / "file").read_text() == "one"
    others = [store.find_or_make("ids", MADE_FROM, writing("two"))]
    others += [store.find_or_make("text", {**MADE_FROM, "text": "b"}, writing("three"))]
    assert len({first, *others}) == 3


def test_an_incomplete_folder_of_a_killed_process_is_not_found_and_is_removed(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=die_while_making, args=(tmp_path,))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert len(list(tmp_path.glob(".*.tmp"))) == 1
    made = Store(tmp_path).find_or_make("other", MADE_FROM, writing("whole"))
    assert (made / "file").read_text() == "whole"
    assert not list(tmp_path.glob(".*.tmp"))
    made = Store(tmp_path).find_or_make("text", MADE_FROM, writing("whole"))
    assert (made / "file").read_text() == "whole"


def test_a_failure_leaves_nothing_and_a_full_disk_is_reported(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "file").write_text("half a fi")
        raise KeyboardInterrupt

    def full(folder: Path) -> None:
        (folder / "file").write_text("half a fi")
        raise OSError(errno.ENOSPC, "No space left on device")

    store = Store(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        store.find_or_make("text", MADE_FROM, fail)
    with pytest.raises(
        CorpusError, match=r"cannot be kept in .*No space left on device.*data\.prepared.*command again"
    ):
        store.find_or_make("text", MADE_FROM, full)
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(CorpusError, match=r"cannot be kept in .*file"):
        Store(tmp_path / "file" / "store").find_or_make("text", MADE_FROM, never)


def test_of_two_processes_one_makes_a_folder_and_the_other_waits(tmp_path: Path) -> None:
    begun, may_end, made = threading.Event(), threading.Event(), list[str]()

    def slow(folder: Path) -> None:
        begun.set()
        may_end.wait(PATIENCE)
        made.append("slow")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(Store(tmp_path).find_or_make, "text", MADE_FROM, slow)
        assert begun.wait(PATIENCE)
        second = pool.submit(Store(tmp_path).find_or_make, "text", MADE_FROM, never)
        try:
            assert not wait([second], timeout=0.2).done
            assert not list(tmp_path.glob("text-*"))
        finally:
            may_end.set()
        assert first.result(PATIENCE) == second.result(PATIENCE)
    assert made == ["slow"]
    assert len(list(tmp_path.glob("text-*"))) == 1


def test_without_locks_two_processes_can_make_the_same_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As all ranks of a run do with every epoch, on a network disk that has no locks."""

    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    def first(folder: Path) -> None:
        (folder / "file").write_text("who")
        found.append(store.find_or_make("epoch", MADE_FROM, writing("whole")))  # another one, quicker
        (folder / "file").write_text("whole")

    found, store = list[Path](), Store(tmp_path)
    monkeypatch.setattr("fcntl.flock", flock)
    found.append(store.find_or_make("epoch", MADE_FROM, first))
    assert found[0] == found[1]
    assert (found[0] / "file").read_text() == "whole"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", found[0].name]


def test_drop_keeps_other_kinds_and_mapped_files_stay_readable(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def array(folder: Path) -> None:
        (folder / "array.bin").write_bytes(np.arange(100_000).tobytes())

    old = store.find_or_make("epoch", {"epoch": 1}, array)
    values = mapped(old / "array.bin", np.int64)
    newer, new = (store.find_or_make("epoch", {"epoch": epoch}, array) for epoch in (2, 3))
    kept = store.find_or_make("ids", {}, array)
    store.drop("epoch", but=[newer, new])
    assert (old.exists(), newer.exists(), new.exists(), kept.exists()) == (False, True, True, True)
    assert values.tolist() == list(range(100_000))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint64, np.uint8])
@pytest.mark.parametrize("lengths", [[], [0], [3], [5, 0, 100_000, 1]])
def test_appended_values_are_mapped_as_an_ordinary_array(dtype: type, lengths: list[int], tmp_path: Path) -> None:
    parts = [np.arange(length) for length in lengths]
    with (tmp_path / "a.bin").open("wb") as file:
        for part in parts:
            append(file, part, dtype)
    found = mapped(tmp_path / "a.bin", dtype)
    assert type(found) is np.ndarray
    assert found.dtype == dtype
    assert np.array_equal(found, np.concatenate([np.zeros(0, dtype), *(part.astype(dtype) for part in parts)]))


def test_a_file_that_ends_within_a_value_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(10))
    with pytest.raises(ValueError, match="multiple"):
        mapped(tmp_path / "a.bin", np.int64)


def test_the_folder_of_a_run_is_no_store(tmp_path: Path) -> None:
    """A run locks its folder as a store does, so that it would wait for itself."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "recipe.toml").touch()
    for folder in (tmp_path / "run", other):
        with pytest.raises(CorpusError, match="is the folder of a run"):
            store_of(DataConfig(toy="copy", prepared=str(folder)), tmp_path / "run")
    assert (
        store_of(DataConfig(toy="copy", prepared=str(other / "prepared")), tmp_path / "run").folder
        == other / "prepared"
    )

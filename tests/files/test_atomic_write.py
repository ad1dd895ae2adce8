"""A file is replaced as a whole, also if several threads write it at once."""

import errno
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE
from transformer.files.atomic_write import new_folder, replacing, sync


def test_two_threads_that_replace_one_file_do_not_write_into_one_temporary_file(tmp_path: Path) -> None:
    path, both = tmp_path / "file.txt", threading.Barrier(2)

    def write(letter: str) -> None:
        with replacing(path) as temporary:
            both.wait(PATIENCE)
            temporary.write_text(1000 * letter)
            both.wait(PATIENCE)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, "ab"))
    assert path.read_text() in (1000 * "a", 1000 * "b")
    assert list(tmp_path.iterdir()) == [path]


def test_after_an_error_the_old_file_is_there_and_nothing_else(tmp_path: Path) -> None:
    path, folder = tmp_path / "file.txt", tmp_path / "folder"
    path.write_text("old")

    def replace_file() -> None:
        with replacing(path) as temporary:
            temporary.write_text("new")
            raise ZeroDivisionError

    def make_folder() -> None:
        with new_folder(folder) as temporary:
            (temporary / "file.txt").write_text("new")
            raise ZeroDivisionError

    for write in (replace_file, make_folder):
        with pytest.raises(ZeroDivisionError):
            write()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_disk_that_cannot_sync_folders_is_good_enough_and_one_that_cannot_sync_files_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails_for = [tmp_path]
    truly = os.fsync

    def fsync(descriptor: int) -> None:
        if os.path.samestat(os.fstat(descriptor), fails_for[0].stat()):
            raise OSError(errno.EINVAL, "Invalid argument")
        truly(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    path = tmp_path / "file.txt"
    with replacing(path) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"
    fails_for[0] = path
    with pytest.raises(OSError, match="Invalid argument"):
        sync(path)

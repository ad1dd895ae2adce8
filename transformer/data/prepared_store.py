"""Folders on disk that store what takes long to prepare. A folder is found again by what it was made from.

    STORE/text-3f2a.../     the name ends in a hash of all that the content depends on

A folder is made under a temporary name and renamed when it is complete and on the disk, so a folder that is found is
complete. Several runs may share a store: while one makes a folder, the others wait, and then find it. On a disk without
locks they do not wait: each makes its own, and the first that is complete is used.
"""

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from transformer.data.data_options import DataConfig
from transformer.errors import CorpusError, HeadlightError
from transformer.files.atomic_write import LOCK, lock, sync

OF_A_RUN = "recipe.toml"  # a file that the folder of each run has

log = logging.getLogger(__name__)


class Store:
    """A folder of prepared folders.

    Raises:
        CorpusError: (every method) the folder cannot be written to, or the disk is full. Nothing incomplete remains.
    """

    def __init__(self, folder: Path):
        self.folder = folder

    def find_or_make(self, kind: str, made_from: Mapping[str, object], make: Callable[[Path], None]) -> Path:
        """The folder of this kind that was made from `made_from`. If it does not exist, `make` fills an empty folder.

        Args:
            made_from: all that the content depends on, as JSON.
        """
        digest = hashlib.blake2b(json.dumps(made_from, sort_keys=True).encode(), digest_size=8).hexdigest()
        path = self.folder / f"{kind}-{digest}"
        if path.is_dir():
            return path
        with self.locked() as locked:
            if path.is_dir():  # another process was faster
                return path
            for left_over in self.folder.glob(".*.tmp") if locked else ():  # of a process that was killed
                shutil.rmtree(left_over)
            # The name is random, because two processes on different machines may have the same process id.
            temporary = self.folder / f".{path.name}.{uuid4().hex[:12]}.tmp"
            try:
                temporary.mkdir()
                make(temporary)
                for file in (*temporary.iterdir(), temporary):
                    sync(file)
                _rename(temporary, path)
                sync(self.folder)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
        return path

    def drop(self, kind: str, but: Sequence[Path]) -> None:
        """Removes all folders of a kind except these. Files that a process of this machine has mapped stay readable for
        it; those mapped over a network do not."""
        with self.locked():
            for path in self.folder.glob(f"{kind}-*"):
                if path not in but:
                    shutil.rmtree(path, ignore_errors=True)

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """Locks the store, so that no other process makes or removes folders; waits for a process that does. Yields
        whether the store is locked: False on a disk without locks."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with (self.folder / LOCK).open("w") as file:
                try:
                    locked = lock(file)
                except BlockingIOError:
                    log.info("Waiting for another process that prepares text in %s.", self.folder)
                    locked = lock(file, wait=True)
                yield locked
        except OSError as error:
            raise CorpusError(
                f"Prepared text cannot be kept in {self.folder}: {error.strerror or error}. It needs about three times "
                "the space of the text itself: free some, or set data.prepared to another folder. Then run the same "
                "command again, with --resume if the run has begun."
            ) from error


def store_of(data: DataConfig, run_dir: Path) -> Store:
    """The store of the text of a run: data.prepared, or a folder of the run.

    Raises:
        CorpusError: data.prepared is the folder of a run, which is locked in the same way as long as the run trains.
    """
    if data.prepared is None:
        return Store(run_dir / "prepared")
    folder = Path(data.prepared)
    if folder.resolve() == run_dir.resolve() or (folder / OF_A_RUN).exists():
        raise CorpusError(
            f"data.prepared = {folder} is the folder of a run. Name the folder in it that has the prepared text: "
            f"{folder / 'prepared'}"
        )
    return Store(folder)


def _rename(temporary: Path, path: Path) -> None:
    """Renames the folder, unless another process has made the same one (possible on a disk without locks)."""
    try:
        os.replace(temporary, path)
    except OSError:
        if not path.is_dir():
            raise


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """A context in which a folder of a store is read.

    Raises:
        CorpusError: the folder is damaged, or the disk cannot be read.
    """
    try:
        yield
    except OSError as error:
        if not isinstance(error, FileNotFoundError):
            raise CorpusError(f"Prepared text in {folder} cannot be read: {error.strerror or error}.") from error
        raise _damaged(folder, error) from error
    except (EOFError, ValueError, KeyError, TypeError, RecursionError, HeadlightError) as error:
        raise _damaged(folder, error) from error


def _damaged(folder: Path, error: Exception) -> CorpusError:
    return CorpusError(
        f"Prepared text in {folder} is damaged ({error}). Remove this folder and run the same command again, which "
        "prepares it again."
    )

"""What takes long to prepare is prepared once: folders on disk, found again by what they were made from.

    STORE/text-3f2a.../     the name ends in a hash of all that the content depends on

A folder is made under a temporary name and renamed when it is complete and on the disk, so that what is found under
its name is whole, whatever was killed before. Several runs may share a store: while one makes something the others
wait, and then find it. On a disk without locks nobody waits: each makes its own, and the first that is whole is kept.
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

from transformer.errors import CorpusError, HeadlightError
from transformer.files.atomic_write import lock, sync

log = logging.getLogger(__name__)


class Store:
    """A folder of prepared things.

    Raises:
        CorpusError: (from every method) it cannot be written to, or the disk is full; nothing half-made stays.
    """

    def __init__(self, folder: Path):
        self.folder = folder

    def find_or_make(self, kind: str, made_from: Mapping[str, object], make: Callable[[Path], None]) -> Path:
        """The folder of this kind made from just this; if there is none yet, `make` fills an empty one.

        Args:
            made_from: all that the content depends on, as JSON takes it.
        """
        digest = hashlib.blake2b(json.dumps(made_from, sort_keys=True).encode(), digest_size=8).hexdigest()
        path = self.folder / f"{kind}-{digest}"
        if path.is_dir():
            return path
        with self._alone() as alone:
            if path.is_dir():  # another process was quicker
                return path
            for left_over in self.folder.glob(".*.tmp") if alone else ():  # whoever was at work here was killed
                shutil.rmtree(left_over)
            temporary = self.folder / f".{path.name}.{uuid4().hex[:12]}.tmp"  # processes of two machines share numbers
            try:
                temporary.mkdir()
                make(temporary)
                for file in (*temporary.iterdir(), temporary):
                    sync(file)
                _become(temporary, path)
                sync(self.folder)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
        return path

    def drop(self, kind: str, but: Sequence[Path]) -> None:
        """Removes what is there of a kind, but for these folders. Who has the files of another mapped keeps what is in
        them, on this machine; another one that sees the folder over a network does not."""
        with self._alone():
            for path in self.folder.glob(f"{kind}-*"):
                if path not in but:
                    shutil.rmtree(path, ignore_errors=True)

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        """No other process makes or removes anything meanwhile. Waits for it if one does. Yields whether that is sure:
        not on a disk without locks."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with (self.folder / ".lock").open("w") as file:
                try:
                    locked = lock(file)
                except BlockingIOError:
                    log.info("Another process prepares text in %s: waiting for it.", self.folder)
                    locked = lock(file, wait=True)
                yield locked
        except OSError as error:
            raise CorpusError(
                f"Prepared text cannot be kept in {self.folder}: {error.strerror or error}. It needs about three times "
                "the room of the text itself: free some, or name another folder by data.prepared. Then give the same "
                "command again."
            ) from error


def _become(temporary: Path, path: Path) -> None:
    """Renames it, unless another process, which no lock kept away, has made the same meanwhile."""
    try:
        os.replace(temporary, path)
    except OSError:
        if not path.is_dir():
            raise


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """While a folder of a store is read.

    Raises:
        CorpusError: it is not as it was made: a disk has failed, or somebody has been there.
    """
    try:
        yield
    except (OSError, EOFError, ValueError, KeyError, TypeError, RecursionError, HeadlightError) as error:
        raise CorpusError(
            f"What was prepared in {folder} is damaged ({error}). Remove this folder and give the same command again: "
            "it is then prepared anew."
        ) from error

"""Writing a file so that a crash, a kill or a full disk leaves either the old file or the new one, never a part of it;
and locks between processes."""

import errno
import fcntl
import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO
from uuid import uuid4

CANNOT_SYNC_FOLDERS = (errno.EINVAL, errno.EBADF, errno.EACCES, errno.ENOTSUP, errno.EISDIR)
LOCK = ".lock"  # the file in a folder that is locked by the process that uses the folder
log = logging.getLogger(__name__)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields a temporary path to write to, which is renamed to `path` when the block succeeds.

    The content is on the disk before the file is renamed (fsync, then rename, then fsync of the folder). When the block
    fails, the temporary file is removed and `path` is not changed. The file has the permissions of other new files,
    whatever library writes it: safetensors would let only the owner read it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _beside(path)
    try:
        temporary.touch()
        mode = temporary.stat().st_mode
        yield temporary
        with suppress(PermissionError):  # on some network disks all files belong to somebody else
            temporary.chmod(mode)
        sync(temporary)
        os.replace(temporary, path)
        sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yields a temporary folder, which is renamed to `folder` when the block succeeds and its files are on the disk.
    When the block fails, it is removed."""
    temporary = _beside(folder)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        for file in (*temporary.iterdir(), temporary):
            sync(file)
        temporary.rename(folder)
        sync(folder.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _beside(path: Path) -> Path:
    """A new path in the same folder. Its name is random, because processes of several machines may share the folder."""
    return path.with_name(f".{path.name}.{uuid4().hex[:12]}.tmp")


def sync(path: Path) -> None:
    """Waits until what was written to a file, or a folder, is on the disk. For folders some network disks cannot do
    this; there it is left out."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in CANNOT_SYNC_FOLDERS or not path.is_dir():
            raise


def lock(file: TextIO, wait: bool = False) -> bool:
    """Locks a file for this process until it is closed or the process ends, also if it is killed.

    Some network disks do not support locks: there it logs a warning and returns False.

    Returns:
        Whether the file is locked.

    Raises:
        OSError: BlockingIOError if another process has locked it and this one does not `wait`.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
            raise OSError(error.errno, error.strerror, file.name) from None
        log.warning("%s cannot be locked on this disk: make sure that no second process uses this folder.", file.name)
        return False
    return True

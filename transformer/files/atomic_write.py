"""Writing a file so that a crash, a kill or a full disk leaves either the old one or the new one, never half of one;
and keeping other processes away meanwhile."""

import errno
import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

log = logging.getLogger(__name__)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields a temporary name beside `path` to write to; when the block ends well, it becomes `path`.

    The content reaches the disk before the name does (fsync, then rename, then fsync of the folder). When the block
    fails, the temporary file goes and `path` stays as it was. Whoever may read other new files may read this one,
    whatever library writes it: safetensors would let only the owner.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.touch()
        readers = temporary.stat().st_mode
        yield temporary
        temporary.chmod(readers)
        sync(temporary)
        os.replace(temporary, path)
        sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Sees to it that what was written to a file, or a folder, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lock(file: TextIO, wait: bool = False) -> bool:
    """Locks it for this process until it is closed or the process ends, however that ends.

    Some network disks have no locks: there it warns, and goes on.

    Returns:
        Whether it is locked.

    Raises:
        OSError: BlockingIOError if another process has locked it and this one does not `wait`.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
            raise OSError(error.errno, error.strerror, file.name) from None
        log.warning("%s cannot be locked here: see to it that no second process works in this folder.", file.name)
        return False
    return True

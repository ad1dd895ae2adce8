"""SHA-256 sums of files."""

import hashlib
from pathlib import Path


def sha256_of(path: Path) -> str:
    """The SHA-256 sum of a file, in hexadecimal. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

"""The small models of a family that can be used on a page: their files may be damaged or gone."""

from collections.abc import Mapping
from contextlib import suppress
from typing import TypeVar

from app.compute.subject import Subject
from app.library.checkpoints import CheckpointFile
from transformer.errors import HeadlightError

Key = TypeVar("Key")


def usable(files: Mapping[Key, CheckpointFile]) -> dict[Key, Subject]:
    """Loads these models. A file that cannot be loaded is left out; the page Models says what is wrong with it."""
    found = dict[Key, Subject]()
    for key, file in files.items():
        subject = Subject(file)
        with suppress(HeadlightError, OSError):
            subject.translator  # noqa: B018  # it is loaded
            found[key] = subject
    return found

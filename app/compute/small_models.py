"""The small models of a family that can be used on a page: their files may be damaged or gone."""

from contextlib import suppress

from app.compute.subject import Subject
from app.library.families import Value, shipped_members
from app.library.tasks import Task
from transformer.errors import HeadlightError


def usable_members(option: str, task: Task) -> dict[Value, Subject]:
    """The shipped models of the family that varies this option, by their values of the option, without those whose
    checkpoint cannot be loaded. The page Models says what is wrong with these.

    Args:
        task: a family whose members have this task is preferred.
    """
    found = dict[Value, Subject]()
    for value, file in shipped_members(option, task).items():
        subject = Subject(file)
        with suppress(HeadlightError, OSError):
            subject.translator  # noqa: B018  # it is loaded
            found[value] = subject
    return found

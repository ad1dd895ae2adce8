"""The limits of a class and of what phones may send, and what each refusal says."""

import secrets
from collections.abc import Iterator

from app.classroom.class_rates import Limit
from app.languages import _

ALPHABET = "2345789ACDEFHJKMNPQRTWXY"  # no two look alike: at most one each of 0O, 1IL, 5S, 2Z, 6G, 8B, UV
LENGTH = 6
MOST_CLASSES = 12
MOST_FOLLOWERS = 150
MOST_QUESTIONS = 60  # whose answers are kept
MOST_PICTURES = 4  # that are kept: a follower may still ask for an earlier one
LASTS = 3 * 3600.0  # seconds
IS_HERE = 45.0  # seconds without a request after which a phone counts as gone; it asks at least every ten seconds
WRONG_CODES = Limit("wrong codes of an address", 30, 600)
WRONG_CODES_OF_ALL = Limit("wrong codes", 1000, 600)
JOINS = Limit("joins of an address", 600, 600)  # all phones of a hall may have the same address
REQUESTS = Limit("requests of a follower", 120, 30)
MOST_QUEUED = 20  # sentences of all classes that are not translated yet
LONGEST_SENTENCE = 200  # characters
MOST_BYTES = 4096  # of what a phone sends at once
SENTENCES = Limit("sentences of a follower", 15, 60)
SENTENCES_OF_CLASS = Limit("sentences of a class", 240, 60)


def codes() -> Iterator[str]:
    """Random codes of classes."""
    while True:
        yield "".join(secrets.choice(ALPHABET) for place in range(LENGTH))


class ClassError(Exception):
    """A refusal; its message is for the person who sent the request. `status` is the HTTP status of the response."""

    status = 409


class NoClass(ClassError):
    status = 404

    def __init__(self) -> None:
        super().__init__(_("This class has ended, or Headlight was started again. Ask for the new code."))


class WrongCode(ClassError):
    status = 404

    def __init__(self) -> None:
        super().__init__(_("There is no class with this code. Is every character right?"))


class TooMany(ClassError):
    status = 429


class Busy(ClassError):
    status = 503


class Unfit(ClassError):
    status = 422

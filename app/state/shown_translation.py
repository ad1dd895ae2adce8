"""Which translation is shown, stored so that a change of it can be taken back."""

from typing import NamedTuple


class Shown(NamedTuple):
    """What was shown before the visitor replaced the tokens at some steps: the values of ALTERNATIVE, GIVEN, GIVEN_IDS
    and GIVEN_STEPS (choices.py), and these steps, from 0; () if another translation of the search was chosen."""

    alternative: int
    text: str
    ids: tuple[int, ...]
    steps: tuple[int, ...] | None
    replaced: tuple[int, ...]

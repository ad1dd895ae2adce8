"""How every fuzzer is run: a number of cases and a seed, which the environment may set.

    HEADLIGHT_FUZZ_CASES=50000 HEADLIGHT_FUZZ_SEED=1 python -m pytest tests/fuzz -k strings

A fuzzer is a function `fuzz_X(rng, cases)` that makes that many hostile inputs and fails where one is not handled as it
should be. Without the variables the seed changes every day, and a failure prints it.
"""

import os
from collections.abc import Callable
from datetime import date
from random import Random

Fuzzer = Callable[[Random, int], None]


def run_fuzzer(fuzz: Fuzzer, cases: int) -> None:
    """Runs a fuzzer; a failure gets a note that says how to repeat it.

    Args:
        cases: how many, unless HEADLIGHT_FUZZ_CASES says otherwise.
    """
    seed = os.environ.get("HEADLIGHT_FUZZ_SEED") or str(date.today().toordinal())
    cases = int(os.environ.get("HEADLIGHT_FUZZ_CASES") or cases)
    try:
        fuzz(Random(f"{fuzz.__name__} {seed}"), cases)
    except BaseException as error:
        error.add_note(f"Repeat with HEADLIGHT_FUZZ_SEED={seed} HEADLIGHT_FUZZ_CASES={cases} ({fuzz.__name__}).")
        raise


def damaged(rng: Random, content: bytes, begin: int = 0, end: int | None = None) -> bytes:
    """The content of a file with some damage: bits, bytes or a block that changed, were lost or came in, or a cut end.

    Args:
        begin, end: where the damage may be.
    """
    changed, end = bytearray(content), len(content) if end is None else min(end, len(content))
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        place = rng.randrange(begin, max(end, begin + 1))
        length = rng.choice((1, 1, 4, 64))
        match rng.randrange(6):
            case 0 if changed[place : place + 1]:
                changed[place] ^= 1 << rng.randrange(8)
            case 1:
                changed[place : place + length] = rng.randbytes(length)
            case 2:
                changed[place : place + length] = bytes(length)
            case 3:
                changed[place : place + 1] = rng.choice(b"[](){}'\"\\,:0#\n").to_bytes(1)
            case 4:
                del changed[place : place + length]
            case _:
                changed[place:place] = rng.randbytes(length)
    if rng.random() < 0.05:
        del changed[rng.randrange(len(changed) + 1) :]
    return bytes(changed)

"""Random cases that can be repeated: a seed and a number say what a case is.

HEADLIGHT_FUZZ_SEED and HEADLIGHT_FUZZ_CASES choose another seed than today's, and another count than a test's own.
"""

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Cases:
    """So many random cases; each is a function of the seed and its number."""

    seed: int
    count: int

    def __iter__(self) -> Iterator[tuple[int, random.Random]]:
        for number in range(self.count):
            yield number, random.Random(f"{self.seed}/{number}")

    def __str__(self) -> str:
        return f"HEADLIGHT_FUZZ_SEED={self.seed}"


def cases(count: int) -> Cases:
    """Cases with the seed of today, or as the environment says."""
    seed = os.environ.get("HEADLIGHT_FUZZ_SEED") or date.today().strftime("%Y%m%d")
    return Cases(int(seed), int(os.environ.get("HEADLIGHT_FUZZ_CASES") or count))

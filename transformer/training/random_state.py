"""The random state of an update. A resumed run computes it again, so no file stores it.

    dropout of update u on rank r    seeded by (seed, u, r)    here
    order and subwords of epoch e    seeded by (seed, e)       data/batches.py, text/subword_sampling.py

Trap: a generator that continues from one update to the next would have to be stored, and a run that was killed and
resumed would not end in the same bits (test_a_killed_run_ends_in_the_same_bits).
"""

import torch


def set_random_state(seed: int, update: int, rank: int) -> None:
    """Sets the random state of a rank for its next update, after `update` updates have been made."""
    torch.manual_seed(dropout_seed(seed, update, rank))


def dropout_seed(seed: int, update: int, rank: int) -> int:
    """A function of (seed, update, rank). Ranks differ also in the lower 32 bits, because torch's generator on a CPU
    uses only those (test_every_rank_drops_others)."""
    return seed * 1_000_003 + update + rank * 0x9E3779B1

"""What every test shares: a fixed seed, and property tests that try the same examples on every machine."""

import pytest
import torch
from hypothesis import settings

torch.set_num_threads(1)  # as app/computed.py does when it is imported: a file alone runs as it does among all
settings.register_profile("headlight", deadline=None, derandomize=True, database=None)
settings.load_profile("headlight")


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    torch.manual_seed(1706)

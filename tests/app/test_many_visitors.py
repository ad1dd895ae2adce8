"""A class that presses Enter together: everybody gets their own page in time, and memory is given back afterwards."""

import asyncio
import time
from pathlib import Path

import pytest

from tests.benchmarks.visitors import measure, resident
from tests.support.browser_driver import ROOT, started_app
from tests.support.browser_pages import PAGES

MOST = 1.2e9  # bytes, at any time
AFTERWARDS = 0.8e9  # bytes, when nobody has come for a while
CLOCK = "2.5"  # minutes in place of half an hour: Streamlit keeps the sessions of closed tabs for two


@pytest.mark.soak
def test_twenty_visitors_on_all_pages_stay_within_bounds_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_KEEP_MINUTES", CLOCK)
    pages = [name for name, page in PAGES.items() if name not in ("translate", "training", "models")]
    with started_app(ROOT / "pretrained", tmp_path / "log") as (address, process):
        for turn in (["", *pages], [""]):
            found = asyncio.run(measure(address, process, 20, 5, turn))
            print(turn, {name: round(value, 3) for name, value in found.items()})
            assert found["memory"] < MOST
        time.sleep(1.5 * 60 * float(CLOCK))
        print("afterwards", resident(process))
        assert resident(process) < AFTERWARDS

"""What every test shares: a fixed seed, and property tests that try the same examples on every machine."""

import functools
import gc
from pathlib import Path

import pytest
import torch
from hypothesis import settings
from streamlit import config, type_util
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import local_script_runner
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

# As `streamlit run app/main.py` does: the settings are beside that file.
config._main_script_path = str(Path(__file__).resolve().parents[1] / "app" / "main.py")
# AppTest looks through all installed packages for components in each test, in half of its time; they stay the same.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)
# Streamlit inspects the signature of a cached function whenever it is called; it stays the same, too.
type_util.get_func_parameters = functools.cache(type_util.get_func_parameters)


def _wait_for_the_script(runner: LocalScriptRunner, timeout: float = 3) -> None:
    if runner._script_thread:
        runner._script_thread.join(timeout)
    _look_until_it_has_ended(runner, timeout)


# AppTest looks a thousand times a second whether the script has ended, and interrupts it each time.
_look_until_it_has_ended = local_script_runner.require_widgets_deltas
local_script_runner.require_widgets_deltas = _wait_for_the_script
# A collection of all objects takes a fifth of a second, because the imported libraries have so many; seldom is enough.
gc.set_threshold(20_000, 20, 100)
torch.set_num_threads(1)  # as app/compute/cached_results.py does when it is imported
settings.register_profile("headlight", deadline=None, derandomize=True, database=None)
settings.load_profile("headlight")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Bytes in the name of a test: not their content, which can differ between the worker processes (a gzip file holds
    the time), and then pytest-xdist refuses to run."""
    return "bytes" if isinstance(val, bytes) else None


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    torch.manual_seed(1706)


@pytest.fixture(autouse=True)
def default_matmul() -> None:
    """A test that trains in this process chooses another matmul backend for all of it: results of before and after
    differ by rounding, and some tests compare what was cached before with what is computed after."""
    torch.backends.mkldnn.matmul.fp32_precision = "none"  # type: ignore[attr-defined]

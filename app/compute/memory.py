"""What the server keeps in memory between visits, and when it is released.

Results are kept for all visitors, for half an hour, and each cache up to a number of entries
(app/compute/cached_results.py). A model is released after half an hour without use
(app/library/checkpoints.py). Streamlit removes an old result only when a new one is stored; so after half an
hour without a visit, all results are released here. HEADLIGHT_KEEP_MINUTES sets another time for models, and for
this release of all results.
Uploaded checkpoints stay; they are on disk.
"""

import ctypes
import gc
import os
import sys
import threading
import time
from contextlib import suppress

import streamlit as st

from app.compute import cached_results, subject
from app.library import checkpoints

CHECK_EVERY = 60.0  # seconds
ARENAS = 2  # memory pools of glibc; by default there are up to 8 per core, because each run of a script is a thread
M_ARENA_MAX = -8  # malloc.h

_LOCK = threading.Lock()
_last_visit = time.monotonic()
_released = True  # no page was drawn since the last release
_watches = False


def keep_seconds() -> float:
    """How long unused results and models are kept."""
    try:
        return 60 * max(float(os.environ.get("HEADLIGHT_KEEP_MINUTES", "")), 0.01)
    except ValueError:
        return 30 * 60.0


def visited() -> None:
    """A page is drawn: results are in use. The first call starts the thread that releases them later."""
    global _last_visit, _released, _watches
    _last_visit, _released = time.monotonic(), False
    with _LOCK:
        if not _watches:
            _watches = True
            _limit_arenas()
            threading.Thread(target=_watch, name="release of unused memory", daemon=True).start()


def release_unused(now: float) -> bool:
    """Releases what was not used for `keep_seconds` before `now` (time.monotonic). Returns whether there was any."""
    global _released
    before = now - keep_seconds()
    something = checkpoints.release_unused(before)
    if _last_visit <= before and not _released:
        _released = something = True
        st.cache_data.clear()
        cached_results.release()
    if something:
        subject.release()
        gc.collect()
        _return_to_system()
    return something


def _watch() -> None:
    while True:
        time.sleep(min(CHECK_EVERY, keep_seconds()))
        release_unused(time.monotonic())


def _limit_arenas() -> None:
    """With fewer pools, the process keeps less free memory: measured, 120 MB less with 20 visitors."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL("libc.so.6").mallopt(M_ARENA_MAX, ARENAS)


def _return_to_system() -> None:
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL("libc.so.6").malloc_trim(0)

"""What nobody has used for half an hour is released, and what is in use is not."""

import time
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.runtime.caching.cache_utils import CachedFunc

from app.compute import cached_results, memory, snapshot_results
from app.compute.subject import Subject
from app.library import checkpoints
from app.library.checkpoints import CheckpointFile
from app.library.uploads import store_upload
from transformer.config import EOS, DecodingConfig

GREEDY = DecodingConfig(method="greedy")
HALF_AN_HOUR = 1800.0


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    st.cache_data.clear()
    cached_results.release()
    checkpoints._load.clear()
    checkpoints._USED.clear()
    return


@pytest.fixture
def file(folder: Path) -> CheckpointFile:
    return CheckpointFile.at(folder / "en-de.safetensors")


def test_a_model_is_released_half_an_hour_after_its_last_use(file: CheckpointFile, folder: Path) -> None:
    other = CheckpointFile.at(folder / "small.safetensors")
    old, used = checkpoints.load(file), checkpoints.load(other)
    now = time.monotonic()
    assert checkpoints.load(file) is old
    assert not memory.release_unused(now)
    checkpoints._USED[(file.path, file.modified, file.size)] = now - HALF_AN_HOUR
    assert memory.release_unused(now)
    assert checkpoints.load(other) is used
    assert checkpoints.load(file) is not old


def test_results_are_released_half_an_hour_after_the_last_visit(file: CheckpointFile) -> None:
    memory.visited()
    found = cached_results.observed(Subject(file), (5, EOS), (6, EOS))
    translated = cached_results.translate(Subject(file), "the cat", GREEDY)
    now = time.monotonic()
    memory.release_unused(now + HALF_AN_HOUR - 60)
    assert cached_results.observed(Subject(file), (5, EOS), (6, EOS)) is found
    assert memory.release_unused(now + HALF_AN_HOUR + 1)
    assert cached_results.observed(Subject(file), (5, EOS), (6, EOS)) is not found
    again = cached_results.translate(Subject(file), "the cat", GREEDY)
    assert again == translated


def test_nothing_is_released_twice_while_nobody_comes(file: CheckpointFile) -> None:
    memory.visited()
    checkpoints.load(file)
    later = time.monotonic() + HALF_AN_HOUR + 1
    assert memory.release_unused(later)
    assert not memory.release_unused(later + 60)
    memory.visited()
    assert memory.release_unused(time.monotonic() + HALF_AN_HOUR + 1)


def test_uploads_stay(folder: Path) -> None:
    memory.visited()
    kept = CheckpointFile.at(store_upload((folder / "small.safetensors").read_bytes()))
    memory.release_unused(time.monotonic() + HALF_AN_HOUR + 1)
    assert kept.is_there
    assert checkpoints.load(kept)


@pytest.mark.parametrize(
    ("text", "seconds"), [("5", 300), ("", HALF_AN_HOUR), ("soon", HALF_AN_HOUR), ("-1", 0.6), ("0.5", 30)]
)
def test_the_time_can_be_set(text: str, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_KEEP_MINUTES", text)
    assert memory.keep_seconds() == pytest.approx(seconds)


def test_every_result_has_an_age_limit_and_a_number() -> None:
    functions = [
        each
        for module in (cached_results, snapshot_results)
        for each in vars(module).values()
        if isinstance(each, CachedFunc)
    ]
    caches: list[Any] = [function._info for function in functions]
    assert len(caches) > 10
    for cache in caches:
        assert cache.ttl == cached_results.CACHE_LIFETIME
        assert cache.max_entries

"""Hostile visits: addresses and texts that try to break a page, or to become Markdown on it."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.state.choices import CHOICES, SENTENCE
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.fuzzer import run_fuzzer
from tests.support.pages import MAIN, PAGES, switch_page
from tests.support.patience import PATIENCE

PICTURE = "![x](http://evil.example/x.png)"
NAMES = [choice.key for choice in CHOICES]  # many of them may be in an address
VALUES = [
    "",
    " ",
    "0",
    "-1",
    "1",
    "2",
    "3.7",
    "1e999",
    "NaN",
    "-0",
    "10" * 40,
    "９",
    "small",
    "en-de",
    "small, update 1",
    "../../etc/passwd",
    "/etc/passwd",
    "a\0b",
    "None",
    "true",
    "[]",
    "{}",
    "beam",
    "greedy",
    "sampling",
    PICTURE,
    "<script>alert(1)</script>",
    "$\\frac{1}{0}$",
    ":red[x]",
    "%",
    "%00",
    "\u202eabc",
    "e\u0301" * 50,
    "\u200b",
    "x" * 5000,
]
TEXTS = [
    PICTURE,
    f"{PICTURE} a b c",
    "</script><img src=x onerror=alert(1)>",
    "<2en> </s> <pad> <unk>",
    "▁▁▁",
    "\t\r\n",
    "a " * 300,
    "W" * 4000,
    "🦊🏳️‍🌈" * 5,
    "مرحبا بالعالم",
    "\u202eabc\u202c",
    "a\0b",
    "$x$ `y` **z** :red[w]",
    "a. B. C! D? " * 20,
    "\ufffe\uffff",
    "e" + "\u0301" * 200,
    "1" * 300,
    "{{7*7}} %s {0}",
    "\x1b[31m red",
]


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    write_checkpoint(tmp_path / "en-de.safetensors", Size(1, 1, 2))
    write_checkpoint(tmp_path / "small.safetensors", Size(1, 1, 1), toy="reverse")
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    monkeypatch.setenv("HEADLIGHT_RUNS", str(tmp_path / "runs"))
    st.cache_data.clear()
    yield
    st.cache_data.clear()


def fuzz_visits(rng: Random, cases: int) -> None:
    """Visits to pages with a hostile address, in whose box a hostile text is typed."""
    for _ in range(cases):
        address = {name: rng.choice([*VALUES, *TEXTS]) for name in rng.sample(NAMES, rng.randint(1, 6))}
        visit(rng.choice(PAGES), address, rng.choice(TEXTS))


def visit(page: str, address: dict[str, str], text: str) -> None:
    context = f"page {page}, address {address}, text {text!r}"
    app = AppTest.from_file(str(MAIN), default_timeout=PATIENCE)
    if page != "translate":
        switch_page(app, page)
    for name, value in address.items():
        app.query_params[name] = value
    app.run()
    check(app, context)
    boxes = [box for box in app.text_input if box.key == SENTENCE.key]
    if boxes:
        boxes[0].set_value(text).run()
        check(app, context)


def check(app: AppTest, context: str) -> None:
    assert not app.exception, f"{context}: {app.exception[0].message}"
    markdown = [
        *app.markdown,
        *app.caption,
        *app.title,
        *app.header,
        *app.subheader,
        *app.info,
        *app.warning,
        *app.error,
    ]
    assert not [each.value for each in markdown if PICTURE in str(each.value)], context


def test_hostile_visits_break_no_page(checkpoints: None) -> None:
    run_fuzzer(fuzz_visits, 4)


@pytest.mark.soak
def test_many_hostile_visits_break_no_page(checkpoints: None) -> None:
    run_fuzzer(fuzz_visits, 500)

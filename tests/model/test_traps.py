"""Every hazard that the code marks names the test that guards it, and every test that the code names exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = list((ROOT / "tests").rglob("test_*.py"))
FUNCTIONS = {name for path in FILES for name in re.findall(r"def (test_\w+)\(", path.read_text(encoding="utf-8"))}
EXISTING = FUNCTIONS | {path.stem for path in FILES}


@pytest.mark.parametrize(("package", "least"), [("transformer", 20), ("app", 10)])
def test_every_trap_names_a_test_and_every_test_that_is_named_exists(package: str, least: int) -> None:
    named = 0
    for path in (ROOT / package).rglob("*"):
        if path.suffix not in (".py", ".js", ".css") or "static" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        for trap in re.findall(r"\bTrap:(.*?)(?:\n\s*\n|\"\"\"|\Z)", text, re.DOTALL):
            assert re.search(r"\btest_\w+", trap), f"a trap in {path} names no test"
        for name in re.findall(r"\btest_(?!\d)\w+", text):  # but test_2016_flickr is a text
            assert name in EXISTING, f"{path} names {name}, which does not exist"
            named += 1
    assert named >= least

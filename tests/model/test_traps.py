"""Every hazard that the model's code marks names the test that guards it, and that test exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_trap_marked_in_the_model_names_a_test_that_exists() -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    marked = 0
    for path in (ROOT / "transformer" / "model").glob("*.py"):
        for text in re.split(r"\bTrap:", path.read_text(encoding="utf-8"))[1:]:
            name = re.search(r"\btest_\w+", text)
            assert name, f"a trap in {path.name} names no test"
            assert f"def {name[0]}(" in tests, f"{path.name} names {name[0]}, which does not exist"
            marked += 1
    assert marked >= 8

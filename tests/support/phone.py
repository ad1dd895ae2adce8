"""What a phone needs of a page: large targets, and nothing wider than the screen."""

from pathlib import Path
from typing import Any

FINGER = 44  # px
WRONG = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def wrong_on_a_phone(page: Any, place: str = "[data-testid=stMain]") -> dict[str, list[str]]:
    """What is cut off inside `place`, and which targets are too small for a finger, see phone.js."""
    found: dict[str, list[str]] = page.evaluate(WRONG, [FINGER, place])
    return found

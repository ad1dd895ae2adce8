"""The page Models in tests: opened with its details, its cards, and what it says."""

from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.support.drawn import components, open_view

PRETRAINED = Path(__file__).resolve().parents[2] / "pretrained"


def opened(**address: str) -> AppTest:
    """The page with its details open."""
    return open_view("models", details="true", **address)


def cards(app: AppTest) -> dict[str, dict[str, Any]]:
    """The cards of the picture by the name of the checkpoint."""
    (found,) = components(app, "model_cards")
    return {card["name"]: card for card in found["cards"]}

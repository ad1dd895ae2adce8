"""The checkpoints as cards, of which one is open."""

from collections.abc import Callable
from typing import Any

from app.components.registration import component, sent

_component = component("model_cards")


def model_cards(data: dict[str, Any], *, key: str, on_open: Callable[[str], None]) -> None:
    """Draws the cards; data from `app.views.models.cards_picture`. `on_open` is called with the name of a
    checkpoint."""
    names = {card["name"] for card in data["cards"]}

    def opened() -> None:
        if sent(key, "opened") in names:
            on_open(sent(key, "opened"))

    _component(data=data, key=key, on_opened_change=opened)

"""Attention as lines between two rows of tokens."""

from collections.abc import Callable, Sequence
from typing import Any

from app.components.registration import component, sent

_component = component("attention_lines")


def attention_lines(
    data: dict[str, Any],
    *,
    key: str,
    on_pin: Callable[[int | None, int | None], None] | None = None,
    on_heads: Callable[[Sequence[int]], None] | None = None,
) -> None:
    """Attention as lines between two rows of tokens; data from `app.figures.attention_lines.attention_lines`.

    `on_pin` is called with the row (query) or the column (key) that the reader isolates, and with (None, None) when no
    token is isolated any longer.
    `on_heads` is called with the heads that are on, from 0, when the reader turns one on or off.
    """

    def pinned() -> None:
        found = sent(key, "pin")
        if on_pin and isinstance(found, dict) and isinstance(index := found.get("index"), int):
            row, column = (
                index if found.get("side") == side and 0 <= index < len(data[whose]["tokens"]) else None
                for side, whose in ((1, "queries"), (0, "keys"))
            )
            on_pin(row, column)

    def turned() -> None:
        found = sent(key, "heads")
        if on_heads and isinstance(found, list):
            on_heads(sorted(index for index in found if isinstance(index, int)))

    reports = {"reports": on_pin is not None}
    _component(data=data | reports, key=key, on_pin_change=pinned, on_heads_change=turned)

"""One sentence at every snapshot of a training run."""

from collections.abc import Callable
from typing import Any

from app.components.registration import component, sent

_component = component("time_machine")


def time_machine(
    data: dict[str, Any],
    *,
    key: str,
    on_run: Callable[[str], None],
    on_snapshot: Callable[[int], None],
    on_open: Callable[[int], None],
) -> None:
    """Draws the rows and the head beside them; data from `app.views.training.snapshot_rows`.

    The browser shows other snapshots without the server.

    Args:
        on_run: is called with the chosen run, one of `data["runs"]`.
        on_snapshot: is called with the update of the snapshot at which the reader stopped; -1: the newest.
        on_open: is called with the update of the snapshot that the reader wants to see on the other pages.
    """

    def run() -> None:
        if sent(key, "run") in data["runs"]:
            on_run(sent(key, "run"))

    def snapshot() -> None:
        if isinstance(sent(key, "snapshot"), int):
            on_snapshot(sent(key, "snapshot"))

    def opened() -> None:
        if isinstance(sent(key, "opened"), int):
            on_open(sent(key, "opened"))

    _component(data=data, key=key, on_run_change=run, on_snapshot_change=snapshot, on_opened_change=opened)

"""A list of which one row is chosen."""

from collections.abc import Callable

from app.components.registration import component, sent

_component = component("choice_list")


def choice_list(
    rows: list[dict[str, str]], chosen: int, label: str, *, key: str, on_choose: Callable[[int], None]
) -> None:
    """A list in which one row is chosen. Each row has a `text`; it may have a second text (`second`) and a `detail`."""

    def changed() -> None:
        index = sent(key, "chosen")
        if isinstance(index, int) and 0 <= index < len(rows):
            on_choose(index)

    _component(data={"rows": rows, "chosen": chosen, "label": label}, key=key, on_chosen_change=changed)

"""A row of tokens of which one is chosen."""

from collections.abc import Callable, Sequence

from app.components.numbered import receive, received
from app.components.registration import component

_component = component("token_picker")


def token_picker(
    tokens: Sequence[str],
    chosen: int,
    label: str,
    *,
    color: str,
    key: str,
    on_choose: Callable[[int], None],
    second: Sequence[str] = (),
    disabled: bool = False,
) -> None:
    """A row of tokens of which one is chosen, by click or arrow keys.

    Args:
        second: a token below each token, after an arrow: the token that is predicted at the position that reads the
            upper one.
    """

    def changed() -> None:
        _, index = receive(key)
        if 0 <= index < len(tokens):
            on_choose(index)

    data = {"tokens": list(tokens), "chosen": chosen, "label": label, "color": color, "disabled": disabled}
    data["received"] = received(key)
    _component(data=data | ({"second": list(second)} if second else {}), key=key, on_chosen_change=changed)

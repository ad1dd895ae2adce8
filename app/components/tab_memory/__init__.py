"""Stores the sentence in the tab of the browser, because no address has it."""

from collections.abc import Callable

from app.components.registration import component, sent

_component = component("tab_memory")


def tab_memory(sentence: str, *, fresh: bool, key: str, on_kept: Callable[[str], None]) -> None:
    """Lets the tab keep the sentence, so that it is not lost when the page is loaded again. Draws nothing.

    Args:
        fresh: whether the sentence is only the example with which every visitor begins. Then `on_kept` is called with
            the sentence that this tab showed before, if there is one.
    """

    def kept() -> None:
        text = sent(key, "kept")
        if isinstance(text, str):
            on_kept(text)

    _component(data={"sentence": sentence, "fresh": fresh}, key=key, on_kept_change=kept)

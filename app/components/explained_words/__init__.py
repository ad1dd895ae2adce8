"""The words on the page that have an explanation."""

from collections.abc import Sequence

from app.components.registration import component

_component = component("explained_words")


def explained_words(words: Sequence[tuple[Sequence[str], str]], *, key: str) -> None:
    """Lists those of the words that are on the page. A click on one shows its explanation.

    Args:
        words: of each its forms, the first of which names it, and its explanation.
    """
    _component(data={"words": [{"forms": list(forms), "text": text} for forms, text in words]}, key=key)

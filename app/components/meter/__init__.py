"""How much of a limit is used."""

from app.components.registration import component

_component = component("meter")


def meter(used: int, limit: int, text: str, *, watches: str, key: str) -> str | None:
    """Shows how much of a limit is used, and says it in words, `text`. While the user types into the input labelled
    `watches`, returns the draft."""
    result = _component(
        data={"used": used, "limit": limit, "text": text, "watches": watches}, key=key, on_draft_change=lambda: None
    )
    return result.draft

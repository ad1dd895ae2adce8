"""Says in which language the page is."""

from app.components.registration import component
from app.languages import language

_component = component("document_language")


def document_language(*, key: str) -> None:
    """Tells the browser the language of the interface: for screen readers, hyphenation and translators. Draws
    nothing."""
    _component(data={"language": language()}, key=key)

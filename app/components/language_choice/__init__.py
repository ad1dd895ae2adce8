"""A switch between the languages of the interface."""

from collections.abc import Mapping

from app.components.registration import component
from app.languages import Language
from app.languages.spoken import KEY

_component = component("language_choice")


def language_choice(names: Mapping[Language, str], chosen: Language, *, key: str) -> None:
    """A button for each language that is not chosen. `names`: the name of each language, in that language."""
    _component(data={"key": KEY, "names": dict(names), "chosen": chosen}, key=key)

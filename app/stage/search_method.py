"""How each token of the shown translation was chosen."""

from typing import Literal

from app.stage.scene import Scene
from transformer.config import DecodingConfig

Method = Literal["beam", "greedy", "sampling", "given"]


def method_of(scene: Scene) -> Method:
    """How the shown translation came about: given by the visitor, or searched for."""
    return "given" if scene.is_given else searched_by(scene.translation.settings)


def searched_by(settings: DecodingConfig) -> Literal["beam", "greedy", "sampling"]:
    """The search method: a beam search with a beam of 1 is greedy."""
    return "greedy" if settings.method == "beam" and settings.beam == 1 else settings.method


def temperature_of(scene: Scene) -> float:
    """The temperature at which the shown translation was sampled; 1 if it was not sampled."""
    return scene.translation.settings.temperature if method_of(scene) == "sampling" else 1.0

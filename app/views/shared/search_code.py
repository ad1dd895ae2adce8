"""How each token of the shown translation was chosen, and the code that does this."""

from typing import Literal

from app.languages import _
from app.library.source_code import SourceLines, lines_between
from app.stage.scene import Scene
from transformer.config import DecodingConfig

Method = Literal["beam", "greedy", "sampling", "given"]


def choice(method: Method) -> SourceLines:
    """The function that chooses a token; for a translation that was given, the one that reads and scores it."""
    path, name = {
        "given": ("decoding/teacher_forcing.py", "given"),
        "beam": ("decoding/beam.py", "Beam.advance"),
        "greedy": ("decoding/greedy_and_sampling.py", "Rows.advance"),
        "sampling": ("decoding/sampling.py", "draw"),
    }[method]
    return lines_between(path, name)


def method_of(scene: Scene) -> Method:
    """How the shown translation came about: given by the visitor, or searched for."""
    return "given" if scene.is_given else searched_by(scene.translation.settings)


def searched_by(settings: DecodingConfig) -> Literal["beam", "greedy", "sampling"]:
    """The search method: a beam search with a beam of 1 is greedy."""
    return "greedy" if settings.method == "beam" and settings.beam == 1 else settings.method


def about_probabilities(settings: DecodingConfig, is_given: bool = False) -> str:
    """A sentence about the temperature, if tokens were drawn at another one than 1; else ""."""
    if is_given or settings.method != "sampling" or settings.temperature == 1:
        return ""
    return _(
        "Probabilities are the model's own, at temperature 1; tokens were drawn at {temperature:g}.",
        temperature=settings.temperature,
    )


def temperature_of(scene: Scene) -> float:
    """The temperature at which the shown translation was sampled; 1 if it was not sampled."""
    return scene.translation.settings.temperature if method_of(scene) == "sampling" else 1.0

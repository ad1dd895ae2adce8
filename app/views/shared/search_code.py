"""The code that chooses each token of a translation, and a sentence about its probabilities."""

from app.languages import _
from app.library.source_code import SourceLines, lines_of_definition
from app.stage.search_method import Method
from transformer.config import DecodingConfig


def choice(method: Method) -> SourceLines:
    """The function that chooses a token; for a translation that was given, the one that reads and scores it."""
    path, name = {
        "given": ("decoding/teacher_forcing.py", "given"),
        "beam": ("decoding/beam.py", "Beam.advance"),
        "greedy": ("decoding/greedy_and_sampling.py", "GreedyOrSampling.advance"),
        "sampling": ("decoding/sampling.py", "draw"),
    }[method]
    return lines_of_definition(path, name)


def about_probabilities(settings: DecodingConfig, is_given: bool = False) -> str:
    """A sentence about the temperature, if tokens were drawn at another one than 1; else ""."""
    if is_given or settings.method != "sampling" or settings.temperature == 1:
        return ""
    return _(
        "Probabilities are the model's own, at temperature 1; tokens were drawn at {temperature:g}.",
        temperature=settings.temperature,
    )

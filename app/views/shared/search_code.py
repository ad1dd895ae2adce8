"""Where the next token of the shown translation comes from, and the code of that."""

from typing import Literal

from app.library.source_code import SourceLines, lines_between, lines_from
from app.stage.scene import Scene
from transformer.config import DecodingConfig
from transformer.decoding.beam import Beam
from transformer.decoding.greedy_and_sampling import Rows
from transformer.decoding.sampling import draw
from transformer.decoding.teacher_forcing import given

Method = Literal["beam", "greedy", "sampling", "given"]


def choice(method: Method) -> tuple[SourceLines, SourceLines]:
    """The lines that choose, and the whole function round them; for what was given, those that read and score it."""
    if method == "given":
        return lines_from(given, "ids = (", "log_probabilities = "), lines_between(
            "decoding/teacher_forcing.py", "given"
        )
    if method == "beam":
        few = lines_from(Beam.advance, "sums = (self.sums", "sums, places =")
        return few, lines_between("decoding/beam.py", "Beam.advance")
    if method == "greedy":
        return lines_from(Rows.advance, "topk(scores, 1)"), lines_between(
            "decoding/greedy_and_sampling.py", "Rows.advance"
        )
    return lines_from(draw, "aim = ", "drawn = "), lines_between("decoding/sampling.py", "draw")


def method_of(scene: Scene) -> Method:
    """How the shown translation came about: given by the visitor, or searched for."""
    return "given" if scene.is_given else searched_by(scene.translation.settings)


def searched_by(settings: DecodingConfig) -> Literal["beam", "greedy", "sampling"]:
    """How the model searches: a beam of one is greedy."""
    return "greedy" if settings.method == "beam" and settings.beam == 1 else settings.method


def about_probabilities(settings: DecodingConfig, is_given: bool = False) -> str:
    """Where tokens were drawn at another temperature than the model's: a sentence that says so; else ""."""
    if is_given or settings.method != "sampling" or settings.temperature == 1:
        return ""
    return f"Probabilities are the model's own, at temperature 1; tokens were drawn at {settings.temperature:g}."


def temperature_of(scene: Scene) -> float:
    """At which the shown translation was decoded: 1, the model's own, but where it was drawn at random."""
    return scene.translation.settings.temperature if method_of(scene) == "sampling" else 1.0

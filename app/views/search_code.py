"""Where the code of each search chooses the next piece, and which search a translation had."""

from app.source import SourceLines, lines_between, lines_from
from transformer.decoding.beam import Beam
from transformer.decoding.rows import Rows
from transformer.decoding.sampling import draw
from transformer.decoding.translation import Translation


def choice(method: str) -> tuple[SourceLines, SourceLines]:
    """The lines that choose, and the whole function round them."""
    if method == "beam":
        few = lines_from(Beam.advance, "sums = (self.sums", "sums, places =")
        return few, lines_between("decoding/beam.py", "Beam.advance")
    if method == "greedy":
        return lines_from(Rows.advance, "logits.argmax"), lines_between("decoding/rows.py", "Rows.advance")
    return lines_from(draw, "aim = ", "drawn = "), lines_between("decoding/sampling.py", "draw")


def method_of(translation: Translation) -> str:
    """How the translation was searched for; a beam of one is greedy."""
    settings = translation.settings
    return "greedy" if settings.method == "beam" and settings.beam == 1 else settings.method

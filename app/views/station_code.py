"""The lines of code at each station: those that compute its tensor, or that make its text, its ids, its choice."""

from app.figures.walk import Station
from app.source import SourceLines, lines_between, lines_from, lines_of
from app.views.search_code import choice, method_of
from app.views.stage import Scene
from transformer.trace import trace_batch


def code_at(scene: Scene, here: Station) -> SourceLines:
    """What a page shows as the code of this station."""
    match here.look:
        case "characters":
            return lines_between("text/normalise.py", "clean")
        case "pieces":
            return lines_between("text/tokenizer.py", "Tokenizer.encode")
        case "shifted":
            return lines_from(trace_batch, "BOS, *target_ids")
        case "chosen":
            return choice(method_of(scene))[1]
    if here.name == "concatenated":
        return lines_between("model/attention.py", "MultiHeadAttention.join")
    return lines_of(here.site or here.id, pre_norm=scene.config.norm == "pre")

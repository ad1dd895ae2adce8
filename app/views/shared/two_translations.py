"""Where two translations differ, in one sentence."""

from app.compute.compared import Compared
from app.figures.axes import in_words


def summary(found: Compared) -> str:
    """The first token that differs, counted from 1."""
    if found.parts_at is None:
        return "The two translations are the same."
    pieces = [each.pieces[found.parts_at : found.parts_at + 1] for each in (found.one, found.other)]
    one, other = (f"“{in_words(piece[0])}”" if piece else "nothing more" for piece in pieces)
    return f"The two translations differ from token {found.parts_at + 1} on: {one} in the first, {other} in the second."

"""Where two translations differ, in one sentence."""

from app.compute.compared import Compared
from app.figures.axes import in_words
from app.languages import _


def summary(found: Compared, names: tuple[str, str] | None = None) -> str:
    """The first token that differs, counted from 1.

    Args:
        names: of the two translations; else they are called the first and the second.
    """
    if found.parts_at is None:
        return _("The two translations are the same.")
    pieces = [each.pieces[found.parts_at : found.parts_at + 1] for each in (found.one, found.other)]
    one, other = (_("“{token}”", token=in_words(piece[0])) if piece else _("nothing more") for piece in pieces)
    if names:
        return _(
            "The two translations differ from token {place} on. {first}: {one}; {second}: {other}.",
            place=found.parts_at + 1,
            first=names[0],
            one=one,
            second=names[1],
            other=other,
        )
    return _(
        "The two translations differ from token {place} on: {one} in the first, {other} in the second.",
        place=found.parts_at + 1,
        one=one,
        other=other,
    )

"""Where two translations differ, in one sentence."""

from app.compute.compared import Compared
from app.figures.axes import in_words
from app.languages import _


def summary(found: Compared, names: tuple[str, str]) -> str:
    """Says which token is the first that differs, counted from 1. `names` are the names of the two translations."""
    if found.first_difference is None:
        return _("The two translations are the same.")
    differing = [each.tokens[found.first_difference : found.first_difference + 1] for each in (found.one, found.other)]
    one, other = (_("“{token}”", token=in_words(each[0])) if each else _("nothing more") for each in differing)
    return _(
        "The two translations differ from token {place} on. {first}: {one}; {second}: {other}.",
        place=found.first_difference + 1,
        first=names[0],
        one=one,
        second=names[1],
        other=other,
    )

"""The names of the families of models, of their members, and of the scores by which they are compared."""

from app.languages import _, gettext_noop, pgettext
from app.library.families import Measure, Member

TITLES: dict[Measure, str] = {
    "bleu": "BLEU",
    "chrf": "chrF",
    "perplexity": gettext_noop("Perplexity"),
    "exact_match": gettext_noop("Exact matches"),
}
UNITS: dict[Measure, str] = {
    "bleu": "BLEU",
    "chrf": "chrF",
    "perplexity": gettext_noop("perplexity of a token"),
    "exact_match": gettext_noop("strings without a mistake, %"),
}
NAMES = {  # of families: inside a sentence, and at its beginning
    "one-part": (gettext_noop("one part"), gettext_noop("One part")),
    "heads": (gettext_noop("heads"), gettext_noop("Heads")),
    "positions": (gettext_noop("positions"), gettext_noop("Positions")),
    "layers": (gettext_noop("layers"), gettext_noop("Layers")),
    "dropout": (gettext_noop("dropout"), gettext_noop("Dropout")),
    "label-smoothing": (gettext_noop("label smoothing"), gettext_noop("Label smoothing")),
    "norm": (gettext_noop("LayerNorm"), gettext_noop("LayerNorm")),
    "window": (gettext_noop("window"), gettext_noop("Window")),
    "causal-mask": (gettext_noop("causal mask"), gettext_noop("Causal mask")),
}
MEMBERS = {  # labels that are words, which are translated
    "base": gettext_noop("unchanged"),
    "one head": gettext_noop("one head"),
    "post-norm": gettext_noop("post-norm"),
    "window 1": gettext_noop("window 1"),
    "no mask": gettext_noop("no mask"),
    "no positions": gettext_noop("no positions"),
    "sinusoidal": gettext_noop("sinusoidal"),
    "learned": gettext_noop("learned"),
}


def member_label(member: Member) -> str:
    """The label of a member in the plot and the tables."""
    label = member.label
    if label == "none":
        return pgettext("positions", "none")
    return _(MEMBERS[label]) if label in MEMBERS else label


def family_name(family: str) -> tuple[str, str]:
    """The name of a family inside a sentence, and at its beginning. A family without an entry keeps its own."""
    name = family.replace("-", " ")
    inside, beginning = NAMES.get(family, (name, name.capitalize()))
    return _(inside), _(beginning)


def family_heading(family: str) -> str:
    """The heading of a family."""
    return _("What differs: {family}", family=family_name(family)[0])

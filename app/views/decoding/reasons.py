"""Why a candidate of a search was kept or not, in the visitor's language.

`transformer/decoding/tree.py` and `finished_sampling.py` write the reasons in English. They use no sentences but those
below (test_every_reason_of_a_search_is_translated).
"""

import functools
import re

from app.languages import _, gettext_noop
from app.languages.numbers import localised

SENTENCES = (
    gettext_noop("Every output starts here."),
    gettext_noop("It is in the prefix."),
    gettext_noop("The most probable token."),
    gettext_noop("Less probable than the token taken."),
    gettext_noop("Drawn at random."),
    gettext_noop("Not drawn."),
    gettext_noop("Left out by top k: only {k} may be drawn."),
    gettext_noop("Left out by top p: the more probable tokens already sum to {p} or more."),
    gettext_noop("Of the candidates without </s>, its sum of log-probabilities ranks {rank}; the beam keeps {beam}."),
    gettext_noop(
        "Candidate number 1 of this step also led to a finished translation, but with a lower score: {lower} < {score}."
    ),
    gettext_noop("The beam keeps {beam} candidates; the lowest sum among them is {sum}, that of this one is lower."),
    gettext_noop("It ends here, but is not among the best {beam} candidates of this step."),
    gettext_noop("It ends here, with the score {sum} / {penalty} = {score}."),
    gettext_noop("It is the translation."),
    gettext_noop("It is alternative {number}."),
    gettext_noop("Others scored better."),
    gettext_noop(
        "The search ended, because this one could no longer be among the best: the highest score it could reach, at "
        "the length limit, is {sum} / {penalty} = {best}."
    ),
    gettext_noop("Cut off: {count} tokens are the length limit."),
    gettext_noop("Cut off: the search ended, because its best hypothesis repeats one token."),
    gettext_noop("Cut off: the search ended, because its output repeats one token."),
)


def reason_text(reason: str) -> str:
    """The reason of a node of a search."""
    return " ".join(map(_sentence, re.split(r"(?<=\.) (?=[A-Z])", reason)))


def _sentence(sentence: str) -> str:
    for pattern, text in _patterns():
        if found := pattern.fullmatch(sentence):
            return _(text, **{name: localised(value) for name, value in found.groupdict().items()})
    return sentence


@functools.cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """For each sentence, a pattern that matches it and captures its values."""
    return [(re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(text))), text) for text in SENTENCES]

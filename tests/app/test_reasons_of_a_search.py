"""The reasons of a search in another language than English."""

import re
from collections.abc import Iterator
from dataclasses import replace

from app.languages import speaking
from app.languages.numbers import localised
from app.views.decoding.reasons import SENTENCES, reason_text
from tests.decoding.test_tree import METHODS, SOURCES, trees
from tests.support.small_decoding import undecided
from transformer.analysis.trace import trace
from transformer.config import DecodingConfig
from transformer.decoding.finished_sampling import logits_by_prefix, mark_truncated
from transformer.decoding.search_record import Candidate, Ending, SearchRecord
from transformer.decoding.tree import Explanation

NUMBER = re.compile(r"[−\d](?:[\d.,]*\d)?")


def reasons(settings: DecodingConfig) -> Iterator[str]:
    for prefix in ((), (5, 6)):
        for _, tree in trees(settings, prefix):
            yield from (node.reason for node in tree)


def of_truncated_sampling(**settings: float) -> Iterator[str]:
    changed = replace(METHODS[2], **settings)  # type: ignore[arg-type]
    for source, (found, tree) in zip(SOURCES, trees(changed), strict=True):
        known = [(one.ids, trace(undecided(), source, one.ids, ["logits"])["logits"]) for one in found]
        yield from (node.reason for node in mark_truncated(tree, logits_by_prefix(known), changed))


def of_repetition(settings: DecodingConfig) -> str:
    """Of a hypothesis that was cut off because it repeats one token."""
    steps = 40
    candidates = [[Candidate(5, 0, -0.1, -0.1 * step)] for step in range(1, steps + 1)]
    found = SearchRecord([], candidates, [[0]] * steps, 2 * steps)
    _, reason = Explanation(found, [Ending(steps, 0, False)], settings, 0)(steps, 0, candidates[-1][0])
    return reason


def test_every_reason_of_a_search_is_translated() -> None:
    found = {reason for settings in METHODS for reason in reasons(settings)}
    found |= {*of_truncated_sampling(top_k=2), *of_truncated_sampling(top_p=0.3)}
    found |= {of_repetition(settings) for settings in METHODS}
    used = set()
    for reason in found:
        assert reason_text(reason) == reason
        with speaking("de"):
            translated = reason_text(reason)
            numbers = [localised(each) for each in NUMBER.findall(reason)]
        assert NUMBER.findall(translated) == numbers
        sentences = re.split(r"(?<=\.) (?=[A-Z])", reason)
        for english, german in zip(sentences, re.split(r"(?<=\.) (?=[A-ZÄÖÜ])", translated), strict=True):
            assert german != english
        used |= {NUMBER.sub("", sentence) for sentence in sentences}
    assert len(used) == len(SENTENCES)

"""What became of the pairs of a run's text: how many were read, left out and learnt from, in words.

In English the words are those that the trainer prints (test_the_counts_of_a_text_are_in_the_words_of_the_trainer).
"""

from app.languages import _, gettext_noop
from app.library.snapshots import run_folder
from transformer.data.cleaning import Counts
from transformer.files.strict_json import parse_json
from transformer.files.untrusted_values import validate

_WORDS = {
    "skipped": gettext_noop("{count:,} that cannot be read"),
    "empty": gettext_noop("{count:,} with an empty side"),
    "copies": gettext_noop("{count:,} the same on both sides"),
    "unequal": gettext_noop("{count:,} of too unequal length"),
    "no_numbers": gettext_noop("{count:,} without a time, price or date"),
    "duplicates": gettext_noop("{count:,} duplicates"),
    "aside": gettext_noop("{count:,} kept aside"),
    "like_aside": gettext_noop("{count:,} that share a sentence with those"),
    "validation": gettext_noop("{count:,} set aside for validation"),
    "like_validation": gettext_noop("{count:,} that resemble those"),
    "too_long": gettext_noop("{count:,} too long"),
}


def corpus_counts(name: str) -> str:
    """The counts of the pairs of a run's text in words; "" where there are none, as for a toy."""
    folder = run_folder(name)
    if folder is None:
        return ""
    try:
        with (folder / "corpus.json").open(encoding="utf-8") as file:
            counts, _problems = validate(Counts, parse_json(file.read(10_000)))
    except (OSError, ValueError):
        return ""
    return in_words(counts) if counts else ""


def in_words(counts: Counts) -> str:
    """One line of text, without the counts that are 0."""
    found = {name: getattr(counts, name) for name in _WORDS}
    parts = [_(words, count=found[name]) for name, words in _WORDS.items() if found[name]]
    learnt = (
        _("{learnt:,} to learn from ({repeats:,} of them repeats)", learnt=counts.learnt, repeats=counts.repeats)
        if counts.repeats
        else _("{learnt:,} to learn from", learnt=counts.learnt)
    )
    return _("{read:,} pairs read: {parts}.", read=counts.read, parts=", ".join([*parts, learnt]))

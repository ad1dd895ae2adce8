"""Pairs of sentences that a visitor uploaded. The file is read completely before there is a run.

A file that cannot be trained on is refused with the reason, and nothing of it is stored. A few lines that cannot be
read may be skipped (bad_lines.py).
"""

import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from app.languages import _, ngettext
from app.views.training.bad_lines import BadLines, bad_lines
from app.views.training.run_permission import LaunchError
from transformer.data.corpus import Columns, Pair, check_usable, plain_pairs
from transformer.data.corpus_facts import CorpusFacts, facts_of_pairs
from transformer.data.skipped_lines import SkippedLines
from transformer.errors import CorpusError, HeadlightError
from transformer.fit_to_corpus import vocabulary_for

MOST_MEGABYTES = 20  # of an uploaded file
MOST_UNPACKED = 100_000_000  # bytes
FEWEST_PAIRS = 20  # to train on; a pair that occurs twice counts once
MOST_CHARACTERS = 12_000  # different characters, each of which needs a token of its own
GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class OwnText:
    """A file of pairs that can be trained on.

    Attributes:
        content: the file as it was uploaded, packed or not.
        pairs: how many pairs have two sides. A pair that occurs twice counts once, as in training.
        first: the first of these pairs.
        facts: the facts by which the size of a model is chosen.
        bad: lines that a run on this file has to skip.
    """

    content: bytes = field(repr=False)
    pairs: int
    first: Pair
    facts: CorpusFacts = field(repr=False)
    bad: BadLines = field(default_factory=BadLines)

    def store(self, folder: Path, name: str) -> Path:
        """Writes the file as `name`.tsv or .tsv.gz."""
        path = folder / f"{name}.tsv{'.gz' if self.content.startswith(GZIP) else ''}"
        path.write_bytes(self.content)
        return path


def read_own_text(name: str, content: bytes, fewest: int = FEWEST_PAIRS) -> OwnText:
    """Reads an uploaded file: a sentence, a TAB, its translation, one pair per line, packed by gzip or not.

    Args:
        name: the name that the visitor gave the file. It is only shown.
        fewest: how many pairs are needed.

    Raises:
        LaunchError: the file cannot be trained on. The message names the lines that cannot be read, if there are any.
    """
    if len(content) > MOST_MEGABYTES * 1_000_000:
        raise LaunchError(
            _(
                "The file is larger than {size} MB. Train on large text with `python -m transformer train`.",
                size=MOST_MEGABYTES,
            )
        )
    packed = content.startswith(GZIP) or name.endswith(".gz")
    with tempfile.TemporaryDirectory(prefix="headlight-") as folder:
        path = Path(folder) / f"text.tsv{'.gz' if packed else ''}"
        path.write_bytes(content)
        try:
            text = _read(path, name, content)
        except CorpusError as error:
            ours = f"{re.escape(str(path))}|{re.escape(path.name)}"
            raise LaunchError(re.sub(ours, lambda found: name, str(error))) from None
    if text.pairs < fewest:
        raise LaunchError(
            ngettext(
                "{name} has {count} pair of sentences, without repeats, and {fewest} are needed at least.",
                "{name} has {count} pairs of sentences, without repeats, and {fewest} are needed at least.",
                text.pairs,
                name=name,
                fewest=fewest,
            )
        )
    return text


def _read(path: Path, name: str, content: bytes) -> OwnText:
    """Raises CorpusError, LaunchError."""
    text, skipped, counts, first = Columns(path), SkippedLines(), Counter[str](), list[Pair]()

    def different() -> Iterator[Pair]:
        known = set[int]()  # hashes: the pairs themselves may be 100 MB
        for pair in _pairs(text, skipped):
            counts["empty"] += not all(pair)
            counts["parsed"] += 1
            if all(pair) and hash(pair) not in known:
                known.add(hash(pair))
                first.extend([] if first else [pair])
                yield pair

    facts = facts_of_pairs(different())
    bad = bad_lines(skipped, counts["parsed"] + skipped.count, text.name)
    if bad and not bad.may_be_skipped:
        raise LaunchError(bad.refusal(name))
    check_usable(text, bad.read, counts["empty"], bad.count)
    if vocabulary_for(facts, MOST_CHARACTERS)[0] > MOST_CHARACTERS:
        count = len(facts.character_counts)
        raise LaunchError(_("The file has {count:,} different characters. Upload text in UTF-8.", count=count))
    return OwnText(content, facts.pairs, first[0], facts, bad)


def _pairs(text: Columns, skipped: SkippedLines) -> Iterator[Pair]:
    unpacked = 0
    for portion in text.portions():
        unpacked += sum(map(len, portion.records))
        if unpacked > MOST_UNPACKED:
            size = MOST_UNPACKED // 1_000_000
            raise LaunchError(
                _(
                    "The file is larger than {size} MB when it is unpacked. Train on large text with "
                    "`python -m transformer train`.",
                    size=size,
                )
            )
        yield from plain_pairs(text, portion, skipped)


def first_pair(folder: Path) -> Pair | None:
    """The first pair of the text that was uploaded for the run in this folder; None if none was."""
    for path in (folder / "corpus.tsv", folder / "corpus.tsv.gz"):
        if path.is_file():
            return _first_pair(str(path), path.stat().st_mtime_ns)
    return None


@st.cache_data(max_entries=64, show_spinner=False)
def _first_pair(path: str, changed: int) -> Pair | None:
    text = Columns(Path(path))
    try:
        return next((pair for pair in _pairs(text, SkippedLines()) if all(pair)), None)
    except HeadlightError:
        return None

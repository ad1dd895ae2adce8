"""A paragraph -> its sentences, for a model that was trained on sentences.

A line break ends a sentence. So does `.`, `!`, `?` or `…` (with closing quotes and brackets) before a space, unless a
lower-case letter follows, or the full stop belongs to an abbreviation, an initial, a list number or a date. In doubt
("in the U.S. Army") nothing is split, because a model translates two sentences together better than half of one.
"""

import re

NEARBY = 80  # characters on either side of a mark that are read, so that the time is linear in the length of the text


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Never the last word of a sentence.
_TITLES = _words(
    "mr mrs ms dr prof st mt rev hon gen col lt sgt capt cmdr maj sen rep gov pres e.g i.e cf vs viz approx ph.d "
    "hr fr bzw ca z.b d.h u.a u.u evtl ggf vgl inkl str geb sog mind max min"
)
# Abbreviations before a number, words otherwise ("No. 5", but "No. I won't.").
_BEFORE_NUMBER = _words(
    "no nos nr fig figs eq vol p pp ch chap sec art abb abs bd s jan feb mar apr jun jul aug sep sept oct okt nov dec "
    "dez tel mio mrd"
)
# Abbreviations that may end a sentence: they end it if a word follows that often begins a sentence.
_EITHER = _words("inc ltd co corp bros jr sr etc usw dept est")
_BEGINNERS = _words(
    "a an the i he she it we you they this that these those there here what when where who why how if in on at but and "
    "so then however his her my our your their its is are was do did does can could will would please yes no not "
    "der die das ein eine ich du er sie es wir ihr mein sein dies diese dann aber und wenn was wer wo wie warum"
)
_MONTHS = _words(
    "januar jänner februar märz april mai juni juli august september oktober november dezember jahrhundert"
)
# Possessive quantifiers: a run of marks is matched once, so a line of 100,000 dots takes linear time.
_ENDS = re.compile(r"(?<![.!?…؟।])[.!?…؟।]++[\"'’”“»)\]]*+(?=\s)|[。！？]++[」』”）]*+")
_OPENERS = "\"'‘’“”„‚«»‹›([{¿¡-–— "


def split_sentences(paragraph: str) -> list[str]:
    """The sentences in order, stripped, without blank lines. Joined, they are the paragraph except for white space."""
    return [sentence for line in paragraph.splitlines() for sentence in _split_line(line)]


def split_text(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The sentences of a text, "" for a blank line, and what follows each: a space, a line break, "" after the last."""
    sentences: list[str] = []
    separators: list[str] = []
    for line in text.splitlines() or [""]:
        found = _split_line(line)
        sentences += found or [""]
        separators += [" "] * (len(found) - 1) + ["\n"]
    return tuple(sentences), (*separators[:-1], "")


def _split_line(line: str) -> list[str]:
    sentences, begin = [], 0
    for mark in _ENDS.finditer(line):
        before = line[max(begin, mark.start() - NEARBY) : mark.start()]
        if _is_end(before, mark.group(), line[mark.end() : mark.end() + NEARBY]):
            sentences.append(line[begin : mark.end()].strip())
            begin = mark.end()
    return [sentence for sentence in (*sentences, line[begin:].strip()) if sentence]


def _is_end(before: str, mark: str, after: str) -> bool:
    """Whether the sentence `before` + `mark` is complete when `after` follows."""
    if mark[0] in "。！？":
        return True
    after = " ".join(after.split()).lstrip(_OPENERS)  # a tab or a no-break space counts as a plain space
    if not after:
        return True
    words = before.split()
    if after[0].islower() or not any(word.strip(_OPENERS) for word in words):
        return False
    if mark != ".":
        return True
    last = words[-1].lstrip(_OPENERS)
    next_word = re.split(r"[\s,.;:!?'’]", after, maxsplit=1)[0].lower()
    if last.isdecimal() and len(last) <= 2:  # "1. Open the door.", "am 3. Mai"
        return len(words) > 1 and next_word not in _MONTHS
    if last.lower() in _TITLES or (len(last) == 1 and last.isalpha() and last != "I"):  # "Mr. Smith", "J. Smith"
        return False
    if last.lower() in _BEFORE_NUMBER:
        return not after[0].isdecimal()
    if last.lower() in _EITHER or re.fullmatch(r"(?:\w\.)+\w", last):  # "Inc.", "U.S.", "p.m."
        return next_word in _BEGINNERS
    return True

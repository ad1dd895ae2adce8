"""The two languages of parallel text, as the names of its files say them.

corpus.en-de.tsv   tatoeba-en-de.tsv.gz   my.pt-BR-de.tsv    the languages of the first two columns
corpus.en and corpus.de   train-en.txt and train-de.txt       of line-aligned files

A code has two letters (ISO 639-1), perhaps with a region in capitals: pt-BR, zh_CN. Two codes with - or _ between them
are a pair. If the name of a file has more than one pair, the first of these rules that distinguishes them decides:

1. A pair that stands alone between two dots: europarl-v7.de-en.tsv, no-dups.en-de.tsv.
2. The pair with fewer codes that are also English words, where "my" counts as two words: my-en-de.tsv is not Burmese,
   and corpus-en-de-no-dups.tsv not Norwegian.
3. The first pair.
"""

import re
from pathlib import Path

# ISO 639-1
LISTED = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en "
    "eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv "
    "ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne "
    "ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st "
    "su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
CODES = frozenset(LISTED.split(" "))
ENGLISH = frozenset(("am", "an", "as", "be", "he", "my", "no", "or", "so", "to"))  # also words in names of files
REGION = r"[a-z]{2}[-_][A-Z]{2}(?![a-zA-Z])"
CODE = rf"((?>{REGION}|[a-zA-Z]{{2}}))"  # atomic: pt-BR is one code and never the pair of pt and br
PAIR = re.compile(rf"(?<![a-zA-Z])(?={CODE}[-_]{CODE}(?![a-zA-Z]))")  # a lookahead: matches overlap
WORD = re.compile(rf"(?<![a-zA-Z]){REGION}|[^._-]+")


def languages_of_columns(name: str) -> tuple[str, str] | None:
    """The languages of the first and second column of a file, from its name; None if the name does not say them."""
    name, found = Path(name).name, list[tuple[bool, int, tuple[str, str]]]()
    for match in PAIR.finditer(name):
        pair = _code(match[1]), _code(match[2])
        if CODES.issuperset(code[:2] for code in pair) and pair[0] != pair[1]:
            in_words = name[: match.start()][-1:] not in ("", ".") or name[match.end(2) :][:1] not in ("", ".")
            found.append((in_words, sum(map(_as_word, pair)), pair))
    return min(found, key=lambda one: one[:2])[2] if found else None  # the first of equally good pairs


def _as_word(code: str) -> int:
    """How likely a code in the name of a file is an English word, from 0 to 2."""
    return 2 if code == "my" else int(code in ENGLISH)


def _code(part: str) -> str:
    """`EN` -> `en`, `pt_BR` -> `pt-BR`."""
    return part[:2].lower() + part[2:].replace("_", "-")


def languages_of_files(source: str, target: str) -> tuple[str, str] | None:
    """The languages of two line-aligned files, which are the only part in which the names of the files differ. None if
    the names do not say them."""
    ours, theirs = (WORD.findall(Path(name).name) for name in (source, target))
    differing = [pair for pair in zip(ours, theirs, strict=False) if pair[0].lower() != pair[1].lower()]
    if len(ours) != len(theirs) or len(differing) != 1 or not all(re.fullmatch(CODE, part) for part in differing[0]):
        return None
    first, second = map(_code, differing[0])
    return (first, second) if CODES.issuperset((first[:2], second[:2])) else None

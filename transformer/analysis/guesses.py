"""Signs that a model guesses, found in a sentence, its translation and the probabilities of the tokens.

Measured in December 2026 with en-de on 1,000 sentences of Tatoeba's test part: the geometric mean of the token
probabilities has the median 0.76 and is below 0.5 for 1.6% of the sentences (de-en and en-fr: 0.5%). Of 400 French
sentences 33% are below 0.5. Of 400 German sentences none is, because en-de has learned to copy German; their
words show that they are German.
"""

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence

IMPROBABLE = 0.5  # geometric mean of the token probabilities
_THOUSANDS = re.compile(r"(?<!\d)\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)")  # 1 500
_NUMBER = re.compile(rf"{_THOUSANDS.pattern}|\d+(?:[.,:]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")

# Numbers that are often written as words. A 1 is never reported if the target has an article, because an article and a
# 1 are the same word.
_WRITTEN = {
    "1": "ein eine einen einem einer eins un une one a an", "2": "zwei deux two", "3": "drei trois three",
    "4": "vier quatre four", "5": "fünf cinq five", "6": "sechs six", "7": "sieben sept seven", "8": "acht huit eight",
    "9": "neun neuf nine", "10": "zehn dix ten", "11": "elf onze eleven", "12": "zwölf douze twelve",
}  # fmt: skip

# Words with a capital that are not names, or whose translations are other words.
_TRANSLATED = """
I I'm I'd I'll I've OK TV Mr Mrs Ms Miss Dr Sir God Lord King Queen President Mom Mum Dad Mother Father Uncle Aunt
Grandma Grandpa Internet Earth Moon Sun Christmas Easter Halloween Santa Claus Thanksgiving Bible Christian
Catholic Jewish Muslim Buddhist New York North South East West Sea Ocean Mount Lake River Street Avenue War World
Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August
September October November December Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays Sundays
English German French Spanish Italian Dutch Russian Chinese Japanese American British European African Asian
Greek Latin Swedish Polish Portuguese Turkish Arabic Canadian Australian Irish Scottish Swiss Austrian Indian
Korean Esperanto Americans Germans Europeans Englishman Frenchman Germany France Spain Italy England Britain Europe
America Africa Asia Australia Austria Switzerland Netherlands Russia China Japan Greece Turkey Poland Sweden
Hungary Egypt Brazil Mexico India Korea Ireland Scotland Canada Belgium Denmark Norway United States Kingdom Cologne
Munich Vienna Rome Venice Milan Florence Naples Geneva Zurich Nuremberg Prague Warsaw Moscow Athens Lisbon Brussels
Copenhagen Alps Rhine Danube Atlantic Pacific Mediterranean Mars Venus Jupiter Saturn
"""
_NO_NAMES = frozenset(_TRANSLATED.split())


def certainty(log_probabilities: Sequence[float]) -> float:
    """The geometric mean of the probabilities of the tokens, 0 to 1."""
    return math.exp(sum(log_probabilities) / max(len(log_probabilities), 1))


def missing_numbers(source: str, target: str) -> list[str]:
    """Numbers of the source that the target lacks. Separators within a number are ignored: 1,000 is 1.000."""
    joined = re.sub(r"(?<=\d)[.,:](?=\d)", "", _THOUSANDS.sub(lambda number: re.sub(r"\D", "", number[0]), target))
    digits = "".join(letter if letter.isdigit() else " " for letter in joined)
    found, words = digits.split(), set(re.findall(r"\w+", target.lower()))
    return [
        number
        for number in dict.fromkeys(_NUMBER.findall(source))
        if re.sub(r"\D", "", number) not in found and not words & set(_WRITTEN.get(number, "").split())
    ]


def missing_names(source: str, target: str, language: str) -> list[str]:
    """Names of the source that the target lacks. A name is a word with a capital that does not begin a sentence. Names
    that are usually translated, such as countries, do not count. Only the English ones are known, so no names are
    reported if the language of the source, `language`, is another.

    Measured on human translations of Tatoeba's validation part: 11 of 2,000 German ones and 2 of 2,000 French ones lack
    such a word.
    """
    if language != "en":
        return []
    there = _folded(target)
    return [name for name in dict.fromkeys(_names(source)) if _stem(name) not in there]


def _names(text: str) -> Iterator[str]:
    for found in _WORD.finditer(text):
        word, before = found[0], text[: found.start()].rstrip()
        begins = not before or before[-1] in ".!?:;\"“”„«»()[]–—-…/'‚‘’‹›"
        if not begins and len(word) > 2 and word[0].isupper() and not word.isupper():
            word = re.sub(r"['’]s$", "", word)
            if word not in _NO_NAMES:
                yield word


def _stem(name: str) -> str:
    """The beginning of a name. A translation may change only its end: Maria, Marie; Berliner, Berlin."""
    return _folded(name)[: max(3, math.ceil(0.6 * len(name)))]


def _folded(text: str) -> str:
    """The text in lower case, without accents: Kyōto becomes kyoto."""
    return "".join(
        letter for letter in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(letter)
    )

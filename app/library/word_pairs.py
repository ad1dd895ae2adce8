"""Makes sentences that differ from a given one in one word, with lists of words that can replace each other."""

import re

# By source language. The words of a line replace each other; forms stay grammatical in most sentences.
_GROUPS = {
    "English": (
        "for at", "train police bus", "asked looked paid", "tired wide", "he she", "it she", "his her my", "him them",
        "my your his", "cat dog horse", "animal child", "dogs cats", "man woman child", "boy girl",
        "brother sister", "father mother", "son daughter", "morning evening", "day night", "street river",
        "book letter", "house garden", "garden woman", "glasses keys", "on off", "young old", "big small",
        "red blue", "hungry tired", "two three", "one two", "forty fifty", "sixty seventy",
        "hundred thousand", "five six", "yes no", "hello goodbye", "good bad", "today tomorrow",
        "never always", "beautiful small", "where when", "snow water",
    ),
    "German": (
        "Bahnhof Zug Weg", "müde breit alt", "schönen großen", "schön groß", "Garten Hund", "Hund Vogel", "Katze Frau",
        "Tier Kind", "Straße Brücke", "mein dein sein", "meine deine seine", "er sie es", "ihn sie", "Mann Vogel",
        "Frau Katze", "Junge Hund", "Bruder Vater", "Schwester Mutter", "Morgen Abend", "Tag Abend", "Buch Haus",
        "weil wenn", "gesehen gehabt", "nie immer", "heute morgen", "gut schlecht", "ja nein",
        "zwei drei", "wo wann", "alt jung",
    ),
}  # fmt: skip


def with_another_word(sentence: str, language: str) -> list[str]:
    """All sentences that differ from this one in one word, which is replaced by another word of its line above.

    Args:
        language: its English name, as in `app.library.names_of_languages`.
    """
    groups = [line.split() for line in _GROUPS.get(language, ())]
    return _replaced(sentence, [_others(word, groups) for word in _WORD.findall(sentence)])


def with_the_next_word(sentence: str) -> list[str]:
    """All sentences in which one word is replaced by the next word that differs from it. This works for any language,
    but the sentences are seldom grammatical."""
    words = _WORD.findall(sentence)
    return _replaced(
        sentence, [[next((each for each in words[at:] if each != own), own)] for at, own in enumerate(words)]
    )


_WORD = re.compile(r"[^\W_]+")


def _replaced(sentence: str, others: list[list[str]]) -> list[str]:
    """All sentences in which one word is replaced. `others` has the replacements of each word."""
    found = [
        sentence[: word.start()] + other + sentence[word.end() :]
        for word, its in zip(_WORD.finditer(sentence), others, strict=True)
        for other in its
    ]
    return [each for each in dict.fromkeys(found) if each != sentence]


def _others(word: str, groups: list[list[str]]) -> list[str]:
    """The possible replacements of a word, with its capital."""
    capital = word[:1].isupper()
    named = [word, word[:1].lower() + word[1:]]
    found = [other for group in groups for other in group if other not in named and any(n in group for n in named)]
    return [other[:1].upper() + other[1:] if capital else other for other in dict.fromkeys(found)]

"""Sentences typed all in capitals, or without any capital, get back the letter case of the training text.

    WHERE IS ANNA'S HOUSE IN HAMBURG?   ->   Where is Anna's house in Hamburg?
    where is anna's house in hamburg?   ->   Where is Anna's house in Hamburg?

A vocabulary is learnt from text in its usual case: it has "▁Hamburg" and "▁house", but needs three tokens for HAMBURG,
"▁HAM" "BU" "RG". Of the ways to write a word (in lower case, with a first capital, all in capitals) the one with the
fewest tokens is taken. If they have equally many, it is the lower case, unless another way is far more frequent ("▁I").
A sentence begins with a capital; "the cat", typed in lower case and without a mark at its end, is not a sentence. This
is truecasing (Lita et al. 2003, aclanthology.org/P03-1020) with the tokenizer as the only model: there are no rules for
single words, and it works for each language of the tokenizer.

The first word of a sentence has a capital whatever it is, so a vocabulary that has "▁progress" may need three tokens
for Progress. A model that has learnt so ([data.augment] first_word) reads it in lower case:

    Progress is slow.   ->   progress is slow.

The cards of the checkpoints say what a sentence in capitals costs now. When recasing was made it was measured with
another en-de on 400 sentences of Tatoeba, greedy: BLEU 44.9 as they are; all in capitals 0.2 without recasing and 44.4
with it; in lower case 28.2 and 44.4.
"""

import re

from transformer.text.tokenizer import Tokenizer

FAR_MORE_FREQUENT = 1.5  # in log-probability: most words with a capital have it only because they begin a sentence
NEARBY = 80  # characters before a word in which the end of a sentence is looked for
_ONE_TOKEN = (0, -1)  # the beginning of `_usualness`
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")  # letters, perhaps with apostrophes inside
_SENTENCE_ENDS = re.compile(r"[.!?][\"')]*\s+$")


def recased(text: str, tokenizer: Tokenizer) -> str:
    """The text in its usual case, if it is all in capitals or has no capital; otherwise the text as it is.

    A text without a word of two or more letters stays as it is: it may be single letters, not a sentence.
    """
    words = list(WORD.finditer(text)) if text.isupper() or text.islower() else []
    if all(len(word[0]) < 2 for word in words):
        return text
    has_sentences = text.isupper() or _SENTENCE_ENDS.search(f"{text} ") is not None

    def usual(found: re.Match[str]) -> str:
        start = found.start()
        starts_sentence = start == words[0].start() or bool(_SENTENCE_ENDS.search(text[max(0, start - NEARBY) : start]))
        return _usual(found[0], tokenizer, starts_sentence and has_sentences)

    return WORD.sub(usual, text)


def with_known_first_word(sentence: str, tokenizer: Tokenizer) -> str:
    """The sentence, its first word in lower case if the vocabulary has that as one token, and the word as it is not."""
    found = WORD.match(sentence)
    if found is None or not found[0][1:].islower():  # "I", "NASA"
        return sentence
    small = found[0].lower()
    if _usualness(small, tokenizer)[:2] != _ONE_TOKEN or _usualness(found[0], tokenizer)[:2] == _ONE_TOKEN:
        return sentence
    return small + sentence[found.end() :]


def _usual(word: str, tokenizer: Tokenizer, starts_sentence: bool) -> str:
    small = word.lower()
    if word.isupper() and "ss" in small:  # the capitals SS can be ss or ß
        small = max(small, small.replace("ss", "ß"), key=lambda way: _usualness(way, tokenizer))
    capital = small[:1].upper() + small[1:]
    best, least = small, _usualness(small, tokenizer)
    for way in (capital, small.upper()):
        found = _usualness(way, tokenizer)
        if (*found[:2], found[2] - FAR_MORE_FREQUENT) > least:
            best, least = way, found
    if starts_sentence and best == small and _usualness(capital, tokenizer)[0] >= least[0]:
        return capital  # not if the vocabulary has no capitals, as for the toy task that sorts letters
    return best


def _usualness(word: str, tokenizer: Tokenizer) -> tuple[int, int, float]:
    """How usual a word is, as a tuple to compare: fewer byte or unknown tokens come first, then fewer tokens, then more
    frequent ones."""
    ids = tokenizer.encode(word)
    in_bytes = sum(tokenizer.kind(id) != "ordinary" for id in ids)
    return -in_bytes, -len(ids), sum(tokenizer.score(id) for id in ids)

"""What became of the pairs of a text, in words of the visitor's language."""

from dataclasses import fields, replace

from app.languages import speaking
from app.library.text_counts import in_words
from transformer.data.cleaning import Counts


def test_the_counts_of_a_text_are_in_the_words_of_the_trainer() -> None:
    every = Counts(**{field.name: 1000 + number for number, field in enumerate(fields(Counts))})
    for counts in (every, replace(every, repeats=0), Counts(read=5, learnt=5)):
        assert in_words(counts) == str(counts)


def test_the_counts_of_a_text_are_in_the_language_of_the_visitor() -> None:
    counts = Counts(read=9000, duplicates=1500, learnt=7500)
    for language in ("de", "fr"):
        with speaking(language):
            assert "pairs read" not in in_words(counts)
            assert "to learn from" not in in_words(counts)

"""The translator that reads what a visitor types: it corrects spelling, except in sentences of another language."""

from app.compute.subject import Subject
from app.library.catalogue import entry
from app.library.vocabularies import language_of, vocabularies
from transformer.decoding.translator import Translator


def reader(subject: Subject) -> Translator:
    """The translator of the subject, correcting spelling. Raises CheckpointError or OSError as the subject does.

    Trap: "Das ist gut." has words that look like English with a typo: "Das it gut."
    (test_a_sentence_in_another_language_is_not_corrected).
    """
    source, _ = entry(subject.file).languages

    def is_foreign(sentence: str) -> bool:
        return bool(source and language_of(sentence, source, 0.0, vocabularies()))

    return subject.translator.correcting_spelling(is_foreign)

"""Which translator reads what a visitor types: one that corrects spelling, unless the text is of another language."""

from app.compute.subject import Subject
from app.library.catalogue import entry
from app.library.vocabularies import language_of, vocabularies
from transformer.decoding.translator import Translator


def reader(subject: Subject, text: str) -> Translator:
    """The translator of the subject, as it reads this text. Raises CheckpointError or OSError as the subject does.

    Trap: "Das ist gut." has words that look like English with a typo: "Das it gut."
    (test_a_sentence_in_another_language_is_not_corrected).
    """
    source, _ = entry(subject.file).languages
    is_foreign = bool(source and language_of(text, source, 0.0, vocabularies()))
    return subject.translator if is_foreign else subject.translator.correcting_spelling()

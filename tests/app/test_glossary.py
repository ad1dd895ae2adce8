"""The words that are explained: in each language the words that its interface uses, each once."""

import re

import pytest

from app.languages import LANGUAGES, Language, speaking
from app.languages.catalogues import ENGLISH, whole
from app.library.glossary import glossary


def texts_of(language: Language) -> set[str]:
    """All texts of the interface except those of the glossary itself."""
    with speaking(language):
        own = {text for word in glossary() for text in (word.explanation, "; ".join(word.forms))}
    found = set[str]()
    for message in whole("de" if language == ENGLISH else language):
        texts = message.id if language == ENGLISH else message.string
        found.update([texts] if isinstance(texts, str) else texts or ())
    return found - own


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_word_is_one_of_the_interface(language: Language) -> None:
    with speaking(language):
        words = glossary()
    everything = "\n".join(texts_of(language)).casefold()
    for word in words:
        assert any(re.search(rf"\b{re.escape(form.casefold())}\b", everything) for form in word.forms), word.forms


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_form_is_of_one_word_and_each_explanation_is_a_sentence(language: Language) -> None:
    with speaking(language):
        words = glossary()
    forms = [form.casefold() for word in words for form in word.forms]
    assert len(forms) == len(set(forms))
    assert all(form == form.strip() and form for form in forms)
    for word in words:
        assert word.explanation.endswith(".")
        assert len(word.explanation) < 230

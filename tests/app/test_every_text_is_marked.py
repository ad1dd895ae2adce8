"""Whatever a page says is marked for translation: drawn in a language of brackets, no sentence is outside of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st

from app.library.families import read_families
from app.library.tasks import task_of
from tests.support.pages import PAGES
from tests.support.unmarked_texts import unmarked
from transformer.decoding.translator import Translator

ROOT = Path(__file__).parents[2]


@pytest.fixture
def nothing_cached() -> Iterator[None]:
    """No text in brackets is left for other tests."""
    st.cache_data.clear()
    yield
    st.cache_data.clear()


@pytest.fixture(scope="module")
def own_words() -> str:
    """What is not translated: example sentences, translations, lessons, the report on the families."""
    translator = Translator.load(ROOT / "pretrained" / "en-de.safetensors")
    examples = task_of(translator).examples
    translations = (found.text for found in translator.translate_sentences(examples))
    lessons = (path.read_text(encoding="utf-8") for path in (ROOT / "app" / "lessons").glob("*.md"))
    remarks = (remark for family in read_families({}) for remark in family.remarks)
    return " ".join([*examples, *translations, *lessons, *remarks])


@pytest.mark.usefixtures("nothing_cached")
@pytest.mark.parametrize("page", PAGES)
def test_every_text_of_a_page_is_marked(page: str, own_words: str) -> None:
    assert unmarked(page, {"details": "true"}, own_words, labels=False) == []

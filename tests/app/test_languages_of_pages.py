"""Pages in the languages of the interface: each visitor sees their own, in links, title and texts that are cached."""

import functools
import re
import sys
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.languages import LANGUAGES, Language, speaking
from app.languages import _ as translated
from app.pages import info
from tests.support.pages import PAGES, switch_page
from tests.support.unmarked_texts import shown

Open = Callable[..., AppTest]
KEPT = ("app.components", "app.languages")  # what these keep is by language: scripts of components, and catalogues


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    forget()
    yield
    forget()


def forget() -> None:
    """Empties all that the app keeps between visits."""
    st.cache_data.clear()
    for name, module in list(sys.modules.items()):
        if name.startswith("app.") and not name.startswith(KEPT):
            for each in vars(module).values():
                if isinstance(each, functools._lru_cache_wrapper):
                    each.cache_clear()


def texts(app: AppTest) -> list[tuple[str, str]]:
    """All texts on the page, without the ids of what shows them."""
    assert not app.exception
    return [(where, text) for where, text in shown(app) if not where.endswith((".id", ".canvas.message"))]


OFTEN = ("translate", "steps", "decoding", "training", "whatif", "lessons")


@pytest.mark.parametrize(
    "page", [page if page in OFTEN else pytest.param(page, marks=pytest.mark.soak) for page in PAGES]
)
def test_pages_of_two_languages_in_one_process_do_not_mix(page: str, open_app: Open) -> None:
    """What a visitor sees does not depend on the language of the visitor before."""
    order: tuple[Language, ...] = ("en", "de", "en")
    first = [texts(open_app(page, lang=each, details="true")) for each in order]
    forget()
    (german,) = [texts(open_app(page, lang="de", details="true"))]
    assert first[0] == first[2]
    assert first[1] == german
    headings = {"en": info(page).question}
    with speaking("de"):
        headings["de"] = translated(info(page).question)
    assert headings["en"] != headings["de"]
    for seen, own, other in ((first[2], "en", "de"), (german, "de", "en")):
        shown_texts = [text for where, text in seen]
        assert headings[own] in shown_texts
        assert not [text for text in shown_texts if text == headings[other]]


@pytest.mark.parametrize("given", LANGUAGES)
def test_every_link_to_a_page_keeps_the_language(given: Language, open_app: Open) -> None:
    app = open_app(lang=given, details="true")
    links = [parse_qs(each.proto.query_string) for each in app.get("page_link")]
    assert len(links) > len(PAGES)
    assert {tuple(each.get("lang", [])) for each in links} == {() if given == "en" else (given,)}


@pytest.mark.parametrize("page", ["translate", "models", "beside"])
def test_the_browser_is_told_the_language(page: str, open_app: Open) -> None:
    for given in LANGUAGES:
        languages = [text for where, text in texts(open_app(page, lang=given)) if "document_language" in where]
        assert languages == [given]


def test_another_page_and_a_whole_link_keep_the_language(open_app: Open) -> None:
    app = open_app(lang="de")
    app.query_params.clear()
    app.query_params["sentence"] = "the cat sat"
    with speaking("de"):  # in the test's own thread, where AppTest asks for the names of options
        switch_page(app, "masks").run()
        assert translated(info("masks").question) in [each.value for each in app.title]


def test_a_language_that_is_not_known_is_english(open_app: Open) -> None:
    assert [each.value for each in open_app(lang="xx").title] == [info("translate").question]


NAMES = {"causal", "id", "mask", "model", "pad", "padding", "softmax", "true"}


def test_words_in_formulas_are_translated_and_names_of_the_code_are_not(open_app: Open) -> None:
    english, other = (words_in_formulas(open_app, language) for language in ("en", "de"))
    assert english & other <= NAMES
    assert {"or", "numbers alone", "entropy"} <= english
    assert {"oder", "Zahlen ohne Batch", "Entropie"} <= other


def words_in_formulas(open_app: Open, spoken: Language) -> set[str]:
    found: set[str] = set()
    for page in PAGES:
        app = open_app(page, lang=spoken, details="true")
        assert not app.exception
        for each in app.latex:
            found |= {word.strip() for word in re.findall(r"\\text\{([^}]*)\}", each.value)}
    return found

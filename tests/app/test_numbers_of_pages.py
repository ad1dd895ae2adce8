"""In German and in French, every page writes its numbers with a decimal comma and a space before the per cent sign."""

import re
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.english_numbers import english_numbers
from tests.support.pages import PAGES
from tests.support.unmarked_texts import shown

Open = Callable[..., AppTest]

# What programs read, or visitors type
NOT_READ = ("code.", "headlight_copy_button", ".tickformat")

RAW = re.compile(r"[\x00-\x08\x0e-\x1f]|^[:,\[\]{}]")  # bytes of an array, and JSON between two texts


@pytest.mark.parametrize("lang", ["de", pytest.param("fr", marks=pytest.mark.soak)])
@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_no_number_in_the_english_way(page: str, lang: str, open_app: Open) -> None:
    app = open_app(page, lang=lang, details="true")
    assert not app.exception
    found = {
        f"{where}: {number!r} in {text[:160]!r}"
        for where, text in shown(app)
        if not any(each in where for each in NOT_READ) and not RAW.search(text)
        for number in english_numbers(text)
    }
    assert sorted(found) == []

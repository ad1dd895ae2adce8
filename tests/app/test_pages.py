"""The pages: each has a question, a folder, a place in the menu, and a page that comes next."""

import re
from importlib import import_module
from itertools import groupby
from pathlib import Path

from app.pages import PAGES, after

ROOT = Path(__file__).parents[2]


def test_the_readme_lists_every_page_with_its_question() -> None:
    table = re.findall(r"^\| ([^|]+) \| ([^|]+\?) \|$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert table == [(page.title, page.question) for page in PAGES]


def test_every_page_has_a_folder_that_draws_it() -> None:
    for page in PAGES:
        assert callable(import_module(f"app.views.{page.name}.page").draw)


def test_the_pages_of_a_group_are_beside_each_other_in_the_menu() -> None:
    groups = [group for group, _ in groupby(PAGES, lambda page: page.group)]
    assert len(groups) == len(set(groups))


def test_each_page_leads_to_another_until_all_were_seen() -> None:
    seen = [PAGES[0]]
    while (following := after(seen[-1])) is not PAGES[0]:
        seen.append(following)
    assert tuple(seen) == PAGES

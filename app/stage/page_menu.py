"""The name of the app, which opens the list of its pages."""

from itertools import groupby

import streamlit as st

from app.pages import PAGES, PageInfo, page_named


def page_menu(page: PageInfo) -> None:
    """Draws the button and, behind it, the pages by groups, each with its question.

    The list closes when a page is chosen, because each page has a list of its own.
    """
    menu = st.popover("Headlight", key=f"pages_of_{page.name}", type="tertiary")
    with menu, st.container(key="page_list"):
        for group, pages in groupby(PAGES, lambda each: each.group):
            with st.container(key=f"page_group_{group.lower()}", gap=None):
                st.caption(group)
                for each in pages:
                    st.page_link(page_named(each.name), label=f"**{each.title}** {each.question}")

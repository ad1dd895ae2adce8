"""The name of the app, which opens the list of its pages."""

from itertools import groupby

import streamlit as st

from app.languages import _
from app.pages import PAGES, PageInfo, page_named, query


def page_menu(page: PageInfo) -> None:
    """Draws the button and, behind it, the pages by groups, each with its question.

    The list closes when a page is chosen, because each page has a list of its own.
    """
    menu = st.popover(_("**Headlight** :material/apps: Pages"), key=f"pages_of_{page.name}", type="tertiary")
    with menu, st.container(key="page_list"):
        for group, pages in groupby(PAGES, lambda each: each.group):
            with st.container(key=f"page_group_{group.lower()}", gap=None):
                st.caption(_(group))
                for each in pages:
                    st.page_link(
                        page_named(each.name), label=f"**{_(each.title)}** {_(each.question)}", query_params=query()
                    )

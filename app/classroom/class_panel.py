"""The lecturer's panel of a class: open it, show its code, see how many follow, close it."""

import segno
import streamlit as st

from app.classroom import lecturer
from app.classroom.class_limits import TooMany
from app.languages import _, language, ngettext
from app.languages.catalogues import ENGLISH
from app.languages.spoken import KEY
from app.server.visitor import serves_others

EVERY = 3.0  # seconds after which the number of followers is read again


def class_panel() -> None:
    """Draws the panel."""
    with st.container(key="class_panel"):
        found = lecturer.own_class()
        if not found:
            st.caption(
                _(
                    "Phones follow what you show. They join by a QR code, a link or a code of six characters, without "
                    "an account."
                )
            )
            if st.button(_("Open a class")):
                _open()
            return
        code, leads = found[0], lecturer.leads_from_here()
        with st.container(horizontal=True, vertical_alignment="center"):
            st.code(code, language=None, width="content")
            st.fragment(_followers, run_every=EVERY)(leads)
        if not leads:
            _other_tab("lead_from_panel")
        with st.container(horizontal=True):
            if st.button(_("Show code to the class")):
                show_code()
            if st.button(_("Close the class")):
                lecturer.close_class()
                st.rerun()


def _other_tab(key: str) -> None:
    """Says that the class follows another tab, and offers this one."""
    st.text(_("The class follows another tab of this browser."))
    if st.button(_("Show this tab to the class"), key=key, on_click=lecturer.lead_from_here):
        st.rerun()  # the whole page, which is published


def open_and_show_code() -> None:
    """Opens a class, if this lecturer has none, and shows its code."""
    try:
        lecturer.open_class()
    except TooMany as reason:
        show_code(str(reason))
    else:
        show_code()


def show_code(otherwise: str = "") -> None:
    """Opens a window with code, link and QR code, large. Without a class the window shows the text `otherwise`."""
    st.dialog(_("Follow on your phone"), width="medium")(_code)(otherwise)


def _code(otherwise: str) -> None:
    found = lecturer.own_class()
    if not found:
        st.text(otherwise or _("The class is closed."))
        return
    code = found[0]
    link = lecturer.class_address(code)
    with st.container(key="class_code"):
        st.header(code, anchor=False)
        if link:
            st.image(qr_code(link + ("" if language() == ENGLISH else f"?{KEY}={language()}")))
            st.text(link)
        elif serves_others():
            st.warning(
                _(
                    "The address of this computer in the network was not found. Phones open `{link}`, with that "
                    "address in place of ADDRESS.",
                    link=lecturer.class_link("ADDRESS", code),
                )
            )
        else:
            st.warning(
                _(
                    "Headlight answers only to this computer. For phones, start it with: "
                    "`streamlit run app/main.py --server.address 0.0.0.0`"
                )
            )
            st.caption(_("On this computer the class is at /class/{code}.", code=code))
        if not lecturer.leads_from_here():
            _other_tab("lead_from_code")


def qr_code(link: str) -> str:
    """The link as a picture (SVG), black on white also on a dark page: phones may not read other colours."""
    made: str = segno.make(link, error="m", micro=False).svg_inline(scale=8, border=3, dark="#000", light="#fff")
    return made


def _open() -> None:
    try:
        lecturer.open_class()
    except TooMany as reason:
        st.warning(str(reason))
    else:
        st.rerun()


def _followers(leads: bool) -> None:
    """`leads`: whether the class followed this tab when the panel was drawn."""
    if leads and not lecturer.leads_from_here():
        st.rerun()  # and does not take over: while one tab reloads, another one would get the class
    if lecturer.own_class():
        st.text(ngettext("Followed by {count:,} phone", "Followed by {count:,} phones", lecturer.followers()))

"""A page consists of triplets: what the paper says, what the code does, and the picture of that very tensor.

This file draws the first two: the formula in the whole width, and below it words and code side by side. The page places
the picture below them. The lines of code are read from the source file.
"""

from typing import Literal

import streamlit as st

from app.languages import _, gettext_noop, ngettext
from app.library.source_code import CHANGED, SourceLines, lines_of

Origin = Literal["paper", "derived", "elsewhere"]
ORIGINS: dict[Origin, str] = {
    "paper": gettext_noop("The paper, {section}"),
    "derived": gettext_noop("Derived from the paper, {section}"),
    "elsewhere": gettext_noop("Not in the paper: {section}"),
}


def triplet(
    section: str,
    formula: str,
    text: str,
    code: str | SourceLines,
    *,
    whole: SourceLines | None = None,
    shape: str = "",
    pre_norm: bool = False,
    origin: Origin = "paper",
) -> None:
    """The paper beside the code.

    Args:
        section: the place in the paper, e.g. "section 3.2.1, equation 1"; if it is not from there, what the formula is.
        formula: LaTeX, without dollars; "" where there is none.
        text: one or two sentences of Markdown, never a user's words.
        code: the name of a site, or the few lines of source code that compute it.
        whole: more code, folded: for example the whole function around those lines.
        pre_norm: whether the model is pre-norm; needed where the code of pre-norm and post-norm differs.
        shape: what `shape_text` gives.
        origin: where the formula is from.
    """
    lines = lines_of(code, pre_norm) if isinstance(code, str) else code
    with st.container(border=True):
        st.caption(_(ORIGINS[origin], section=section))
        if formula:
            st.latex(formula)
        left, right = st.columns([2, 3], gap="medium")
        with left:
            st.markdown(text)
        with right:
            _code(lines)
            if shape:
                st.caption(shape)
            if whole:
                count = len(whole.text.splitlines())
                with st.expander(
                    ngettext("The whole function, {count} line", "The whole function, {count} lines", count)
                ):
                    _code(whole)


def code_card(lines: SourceLines) -> None:
    """Draws the code alone."""
    with st.container(border=True):
        _code(lines)


def _code(lines: SourceLines) -> None:
    st.caption(_("The code, `{path}`, line {line}", path=lines.path, line=lines.first))
    st.code(_(CHANGED) if lines.text == CHANGED else lines.text, language="python", wrap_lines=True)

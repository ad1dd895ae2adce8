"""The doctor's findings: what is wrong with the open checkpoint and this translation; see guess_line.py.

A finding quotes the sentence, so it is shown as text, never as markdown.
"""

import streamlit as st

from app.pages import go_to
from app.state.choices import KIND, PART, choose_head
from transformer.analysis.doctor import Finding, Name

# Where a finding is seen, if not in one head: a page, and what the button says.
SEEN: dict[Name, tuple[str, str]] = {
    "large_gains": ("residual", "See each LayerNorm"),
    "empty": ("decoding", "See the first step"),
    "cut": ("decoding", "See the steps"),
    "loop": ("decoding", "See the steps"),
    "hesitates": ("decoding", "See the distribution"),
    "untrained_positions": ("positions", "See the table of positions"),
}


def finding_part(finding: Finding, number: int) -> None:
    """Draws a finding: what it is, what to do, and a button to where it is seen."""
    with st.container(key=f"said_doctor_{number}", gap="xxsmall"):  # see page.css
        st.subheader(finding.title.replace("<", r"\<"), anchor=False)
        st.text(finding.says)
        st.caption(finding.advice.replace("<", r"\<"))
        page, words = SEEN.get(finding.name, ("", ""))
        if finding.head:
            page, words = "attention", f"See head {finding.head}"
        key = f"doctor_{number}_{finding.name}"
        if page and st.button(words, key=key, on_click=_choose, args=(finding,), type="tertiary"):
            go_to(page)


def _choose(finding: Finding) -> None:
    """The head in which it is seen is chosen, for every page; or the part of the page where it is."""
    if SEEN.get(finding.name, ("", ""))[0] == "decoding":
        PART.choose("loop")
    if finding.head:
        KIND.choose(finding.head.kind)
        choose_head(finding.head.layer, finding.head.head)

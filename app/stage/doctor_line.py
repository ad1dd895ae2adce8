"""The doctor's findings: what is wrong with the open checkpoint and this translation; see guess_line.py.

A finding quotes the sentence, so it is shown as text, never as markdown.
"""

import streamlit as st

from app.languages import _, gettext_noop
from app.pages import go_to
from app.stage.controls import choose_stack
from app.stage.finding_texts import in_words
from app.state.choices import DETAILS, KIND, PART, STEP
from app.state.events import choose_head
from transformer.analysis.doctor import Finding, Name

# For findings that are not about one head: the page that shows them, and the text of the button.
PAGE_OF_FINDING: dict[Name, tuple[str, str]] = {
    "large_gains": ("residual", gettext_noop("See each LayerNorm")),
    "empty": ("decoding", gettext_noop("See the first step")),
    "cut": ("decoding", gettext_noop("See the steps")),
    "loop": ("decoding", gettext_noop("See the steps")),
    "hesitates": ("decoding", gettext_noop("See the distribution")),
    "untrained_positions": ("positions", gettext_noop("See the table of positions")),
}
# Findings in what the model computes, which edits change.
OF_A_PASS: tuple[Name, ...] = (
    "ignores_source", "flat_attention", "empty", "cut", "loop", "hesitates", "special_head", "same_head",
)  # fmt: skip


def finding_part(finding: Finding, number: int, is_edited: bool) -> None:
    """Draws a finding: what it is, what to do, and a button to the page that shows it."""
    advice = in_words(finding.advice)
    if is_edited and finding.name in OF_A_PASS:
        advice = _("The model is edited, which may be the cause. Undo the edits to compare.")
    with st.container(key=f"text_doctor_{number}", gap="xxsmall"):  # see stage.css
        st.subheader(in_words(finding.title).replace("<", r"\<"), anchor=False)
        st.text(in_words(finding.says))
        st.caption(advice.replace("<", r"\<"))
        page, words = PAGE_OF_FINDING.get(finding.name, ("", ""))
        if finding.head:
            page, words = "attention", _("See head {head}", head=finding.head)
        key = f"doctor_{number}_{finding.name}"
        if page and st.button(_(words), key=key, on_click=_choose, args=(finding,), type="tertiary"):
            go_to(page)


def _choose(finding: Finding) -> None:
    """Chooses the head in which the finding is seen, or the part of the page."""
    page = PAGE_OF_FINDING.get(finding.name, ("", ""))[0]
    if page == "decoding":
        PART.choose("loop")
    if finding.name == "empty":
        STEP.choose(0)
    if page in ("residual", "positions"):
        DETAILS.choose(True)
    if finding.stack:
        choose_stack(finding.stack)
    if finding.head:
        KIND.choose(finding.head.kind)
        choose_head(finding.head.layer, finding.head.head)

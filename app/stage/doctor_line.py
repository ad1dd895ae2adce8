"""The doctor's line: what is wrong with the open checkpoint and this translation. One folded line, or none at all.

It says nothing where nothing is wrong. A finding quotes the sentence, so it is shown as text, never as markdown.
"""

import streamlit as st

from app.compute import cached_results
from app.pages import go_to
from app.stage.scene import Scene
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


def doctor(scene: Scene) -> None:
    """Draws the line, if there is something to say."""
    found = cached_results.findings(scene.subject, scene.translation, scene.hypothesis)
    if not found:
        return
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    title = found[0].title.replace("<", r"\<")  # the label is markdown
    with st.expander(f"Doctor: {title}{more}", key="doctor"):
        for number, finding in enumerate(found):
            _finding(finding, number)


def _finding(finding: Finding, number: int) -> None:
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

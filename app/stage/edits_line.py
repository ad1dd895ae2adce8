"""The line that names what is edited in the model, on every page: each edit can be taken back, or all of them.

Where edits are made its place is kept, also while there are none: a first edit moves nothing.
"""

import streamlit as st

from app.compute.subject import Subject
from app.pages import PageInfo, go_to
from app.stage.edit_words import edit_words
from app.state.choices import EDITS, MOST_EDITS, SIDE
from app.state.edit_choices import undo, undo_all
from transformer.analysis.edits import Edit, edit_text, parse_edit
from transformer.errors import HeadlightError

MOST_NAMED = 3  # the others are counted
EDITED_ON = "whatif"  # the page where edits are made


def edited(subject: Subject, page: PageInfo) -> Subject:
    """The subject with the edits that the visitor has made. Draws the line that names them, if there are any."""
    edits, problems = _edits(subject)
    if edits or problems or page.name == EDITED_ON:
        _line(edits, problems)
    if problems:
        others = f" ({len(problems)} such edits)" if len(problems) > 1 else ""
        with st.container(key="said_refused"):
            st.text(f"An edit in the link was ignored{others}: {problems[0]}")
    if len(EDITS.value) >= MOST_EDITS:
        with st.container(key="said_most_edits"):
            st.text(f"The model has {MOST_EDITS} edits, and cannot have more at once. Take some back before you go on.")
    return subject.edited(*edits)


def _edits(subject: Subject) -> tuple[list[Edit], list[str]]:
    """Those that fit the model, and what is wrong with the others."""
    edits: list[Edit] = []
    problems = []
    texts = []
    for text in EDITS.value:
        try:
            edits.append(parse_edit(text))
            texts.append(edit_text(edits[-1]))  # a link may write it in another way, or twice
        except HeadlightError as error:
            problems.append(str(error))
            texts.append(text)
    edits, texts = list(dict.fromkeys(edits)), list(dict.fromkeys(texts))
    if tuple(texts) != EDITS.value:
        EDITS.choose(tuple(texts))
    try:
        _ = subject.edited(*edits).translator  # all at once: this is the model that is asked afterwards
        return edits, problems
    except HeadlightError:
        fitting = []
    for edit in edits:
        try:
            _ = subject.edited(edit).translator
            fitting.append(edit)
        except HeadlightError as error:
            problems.append(str(error))
    return fitting, problems


def _line(edits: list[Edit], problems: list[str]) -> None:
    with st.container(key="edits_line", horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.text("Edited model:" if edits else "Original model: nothing is edited.", width="content")
        for edit in edits[-MOST_NAMED:]:
            text = edit_text(edit)
            st.button(f"{edit_words(edit)} ✕", key=f"undo {text}", on_click=undo, args=(text,), help="Take it back")
        if len(edits) > MOST_NAMED:
            st.text(f"and {len(edits) - MOST_NAMED} more", width="content")
        if edits and st.button("Compare with the original", key="compare_edits", type="tertiary"):
            SIDE.choose("edits")
            go_to("compare")
        if edits or problems:
            label = "Undo all" if edits else "Clear the link"
            st.button(label, key="undo_all", type="tertiary", on_click=undo_all, help="Back to the original model")

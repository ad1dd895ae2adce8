"""The line that names what is edited in the model, on every page: each edit can be taken back, or all of them."""

import streamlit as st

from app.compute.subject import Subject
from app.pages import go_to
from app.stage.edit_words import edit_words
from app.state.choices import EDITS, SIDE
from app.state.edit_choices import undo, undo_all
from transformer.analysis.edits import Edit, edit_text, parse_edit
from transformer.errors import HeadlightError

MOST_NAMED = 4  # the others are counted


def edited(subject: Subject) -> Subject:
    """The subject with the edits that the visitor has made. Draws the line that names them, if there are any."""
    edits: list[Edit] = []
    problems = []
    for text in EDITS.value:
        try:
            edit = parse_edit(text)
            _ = subject.edited(edit).translator  # whether it fits this model
            edits.append(edit)
        except HeadlightError as error:
            problems.append(str(error))
    if edits or problems:
        _line(edits, problems)
    return subject.edited(*edits)


def _line(edits: list[Edit], problems: list[str]) -> None:
    with st.container(key="edits_line", horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.text("Edited model:" if edits else "Nothing is edited:", width="content")
        for edit in edits[-MOST_NAMED:]:
            text = edit_text(edit)
            st.button(f"{edit_words(edit)} ✕", key=f"undo {text}", on_click=undo, args=(text,), help="Take it back")
        if len(edits) > MOST_NAMED:
            st.text(f"and {len(edits) - MOST_NAMED} more", width="content")
        st.button("Original model", key="undo_all", type="tertiary", on_click=undo_all, help="Takes all edits back")
        if edits and st.button("Compare with the original", key="compare_edits", type="tertiary"):
            SIDE.choose("edits")
            go_to("compare")
        if problems:
            others = f" ({len(problems)} such edits)" if len(problems) > 1 else ""
            st.text(f"An edit in the link was ignored{others}: {problems[0]}", width="content")

"""The line that names the edits of the model, on every page. Each edit can be undone by itself, or all of them.

The line moves nothing else, so a picture that fits in the window still does. It is beside the heading; in a narrow
window it is at the lower edge, over the page. On the page where edits are made it has a place even without edits.
"""

import streamlit as st

from app.compute.subject import Subject
from app.languages import _, ngettext
from app.pages import PageInfo, go_to
from app.stage.edit_words import edit_label, edit_words
from app.stage.scene import Scene
from app.state.choices import EDIT, EDITS, MOST_EDITS, SIDE
from app.state.edit_choices import forget_undone_for_page, undo, undo_all
from app.state.edits_aside import aside, forget_aside, restore_aside
from app.state.lecture_choices import LECTURE
from transformer.analysis.edits import Edit, edit_text, parse_edit
from transformer.errors import HeadlightError

MOST_NAMED, MOST_IN_A_LECTURE = 3, 1  # the others are counted; in a lecture the title needs room
EDITED_ON = "whatif"  # the page where edits are made


def edited(subject: Subject, page: PageInfo) -> Subject:
    """The subject with the edits that the visitor has made. Says which of them the model cannot have. On the page where
    edits are made, also draws the line that names them."""
    edits, problems = _edits(subject)
    if page.name == EDITED_ON:
        _line(tuple(edits))
    else:
        forget_undone_for_page()
    if problems:
        with st.container(key="text_refused"):
            st.text(
                ngettext(
                    "An edit in the link was ignored: {problem}",
                    "An edit in the link was ignored ({count} such edits): {problem}",
                    len(problems),
                    problem=problems[0],
                )
            )
            if not edits:
                st.button(_("Clear the link"), key="clear_link", type="tertiary", on_click=undo_all)
    if len(EDITS.value) >= MOST_EDITS:
        with st.container(key="text_most_edits"):
            st.text(
                _(
                    "{most} edits is the most that a model can have at once. Undo one before you add another.",
                    most=MOST_EDITS,
                )
            )
    return subject.edited(*edits)


def edits_notice(scene: Scene, page: PageInfo) -> None:
    """Draws the line beside the heading, on a page that has no other place for it."""
    if page.name != EDITED_ON and (scene.subject.edits or (aside() and not LECTURE.value)):
        with st.container(key="edits_notice"):
            _line(scene.subject.edits)


def _edits(subject: Subject) -> tuple[list[Edit], list[str]]:
    """The edits that fit the model, and what is wrong with the others."""
    given = (*(text for text in EDITS.value if text != EDIT.value), *([EDIT.value] if EDIT.value else []))
    EDIT.forget()
    edits: list[Edit] = []
    problems = []
    texts = []
    for text in given:
        try:
            edits.append(parse_edit(text))
            texts.append(edit_text(edits[-1]))  # a link may write an edit in another way, or twice
        except HeadlightError as error:
            problems.append(str(error))
            texts.append(text)
    edits, texts = list(dict.fromkeys(edits))[:MOST_EDITS], list(dict.fromkeys(texts))[:MOST_EDITS]
    if tuple(texts) != EDITS.value:
        EDITS.choose(tuple(texts))
    try:
        _model = subject.edited(*edits).translator  # all edits together, because the pages use this model afterwards
        return edits, problems
    except HeadlightError:
        fitting = []
    for edit in edits:
        try:
            _model = subject.edited(edit).translator
            fitting.append(edit)
        except HeadlightError as error:
            problems.append(str(error))
    return fitting, problems


def _line(edits: tuple[Edit, ...]) -> None:
    with st.container(key="edits_line", horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.text(_("Edited model:") if edits else _("Original model: nothing is edited."), width="content")
        if edits:
            _names(edits)
        if edits and st.button(
            _("Compare"), key="compare_edits", type="tertiary", help=_("Compare with the original model")
        ):
            SIDE.choose("edits")
            go_to("compare")
        if edits:
            back = _("Back to the original model")
            st.button(_("Undo all"), key="undo_all", type="tertiary", on_click=undo_all, help=back)
        if texts := aside():
            _restore(texts)


def _restore(texts: tuple[str, ...]) -> None:
    """A button that makes the edits again that a link or a lesson has replaced, and one that removes both buttons."""
    named = ", ".join(edit_words(parse_edit(text)) for text in texts[:MOST_NAMED])
    st.button(
        ngettext("Restore your own edit", "Restore your {count} own edits", len(texts)),
        key="restore_edits",
        type="tertiary",
        on_click=restore_aside,
        help=_("The lesson or the link replaced what you had edited: {edits}", edits=named),
    )
    st.button("✕", key="forget_edits", type="tertiary", on_click=forget_aside, help=_("Do not restore them"))


def _names(edits: tuple[Edit, ...]) -> None:
    """The newest edits, the last one first, each a button that undoes it. Only these buttons scroll."""
    with st.container(key="edit_names", horizontal=True, vertical_alignment="center", gap="xsmall", width="content"):
        most = MOST_IN_A_LECTURE if LECTURE.value else MOST_NAMED
        for edit in edits[::-1][:most]:
            text = edit_text(edit)
            whole = _("Undo: {edit}", edit=edit_words(edit))
            st.button(f"{edit_label(edit)} ✕", key=f"undo {text}", on_click=undo, args=(text,), help=whole)
        if len(edits) > most:
            st.text(_("and {count} more", count=len(edits) - most), width="content")

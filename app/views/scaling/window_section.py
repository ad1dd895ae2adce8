"""Section of the page Scaling and softmax: self-attention that is restricted to the neighbours of a token."""

import streamlit as st

from app.figures.theme import fixed
from app.languages import _, ngettext
from app.library.source_code import lines_of_definition
from app.stage.scene import Scene
from app.stage.section import section
from app.state import edit_choices
from app.state.detail_choices import WINDOW
from app.views.scaling.window_changes import Changes, unrestricted, window_changes
from app.views.scaling.window_chart import window_chart, window_table
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet
from transformer.analysis.edits import AttentionWindow


@section
def neighbours_only(scene: Scene) -> None:
    """Draws a choice of r, what each r costs, and what the model writes with the chosen one."""
    st.header(_("Only r neighbours"), anchor=False)
    triplet(
        _("section 4"),
        r"|q-k|\le r",
        _(
            "“To improve computational performance for tasks involving very long sequences, self-attention could be "
            "restricted to considering only a neighborhood of size r in the input sequence centered around the "
            "respective output position.” Here r counts the positions on each side; encoder-decoder attention stays as "
            "it is."
        ),
        lines_of_definition("model/masks.py", "window_mask"),
    )
    changes = window_changes(scene)
    r = WINDOW.open(min(WINDOW.default, changes.distances[-1]), changes.distances)
    label = _("r: positions on each side")
    r = int(st.select_slider(label, changes.distances, key=WINDOW.key, persist_state="session"))
    title = _("Log-probability of the translation with a window")
    show_figure(
        window_chart(changes, r, title=title),
        key="window_changes",
        name=title,
        alt=_(
            "With r = {r} the log-probability of the translation changes by {change} nats.",
            r=r,
            change=fixed(changes.own[changes.distances.index(r)], 2),
        ),
        table=lambda: window_table(changes),
    )
    st.text(_sentences(scene, changes, r))
    _on_every_page(scene, r)


def _sentences(scene: Scene, changes: Changes, r: int) -> str:
    """What the chosen r does to the open model, and to small models."""
    subject = unrestricted(scene.subject)
    before, after = (scene.best(each).text for each in (subject, subject.edited(AttentionWindow(r))))
    change = fixed(changes.own[changes.distances.index(r)], 2)
    if before == after:
        found = [
            _(
                "With r = {r} the log-probability changes by {change} nats, and the translation stays.",
                r=r,
                change=change,
            )
        ]
    else:
        found = [
            _(
                "With r = {r} the log-probability changes by {change} nats, and this model writes: “{text}”",
                r=r,
                change=change,
                text=after or _("(nothing)"),
            )
        ]
    layers, reach = scene.config.encoder_layers, min(r, subject.config.attention_window or r)
    found.append(
        ngettext(
            "Each layer reaches r positions further: after {layers} layer of the encoder {reach} positions.",
            "Each layer reaches r positions further: after {layers} layers of the encoder {reach} positions.",
            layers,
            layers=layers,
            reach=layers * reach,
        )
    )
    if changes.trained:
        size, learnt = next((one for one in changes.trained if one[0] == r), changes.trained[0])
        found.append(
            _(
                "With r = {r}, the log-probability changes by {learnt} nats in a small model that was trained so, and "
                "by {restricted} nats in one that was trained without a window.",
                r=size,
                learnt=fixed(learnt, 2),
                restricted=fixed(changes.small[changes.distances.index(size)], 2),
            )
        )
    return " ".join(found)


def _on_every_page(scene: Scene, r: int) -> None:
    """A button that restricts the model on every page, or undoes this."""
    edit = AttentionWindow(r)
    if edit_choices.is_on(edit):
        st.button(
            _("Undo on every page"),
            key="window_undo",
            on_click=edit_choices.replace,
            args=(AttentionWindow, None, scene.subject.edits),
        )
    else:
        st.button(
            _("Restrict to r = {r} on every page", r=r),
            key="window_edit",
            on_click=edit_choices.replace,
            args=(AttentionWindow, edit, scene.subject.edits),
        )

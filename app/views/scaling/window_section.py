"""Section of the page Scaling and softmax: self-attention that is restricted to the neighbours of a token."""

import streamlit as st

from app.figures.theme import number
from app.languages import _
from app.library.source_code import lines_of_definition
from app.stage.scene import Scene
from app.stage.section import section
from app.state import edit_choices
from app.state.detail_choices import WINDOW
from app.views.scaling.window_chart import window_chart, window_table
from app.views.scaling.window_losses import Losses, unrestricted, window_losses
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
    losses = window_losses(scene)
    r = WINDOW.open(min(WINDOW.default, losses.distances[-1]), losses.distances)
    if len(losses.distances) > 1:
        label = _("r: positions on each side")
        r = int(st.select_slider(label, losses.distances, key=WINDOW.key, persist_state="session"))
    title = _("Log-probability of the translation with a window")
    show_figure(
        window_chart(losses, r, title=title),
        key="window_losses",
        name=title,
        alt=_(
            "With r = {r} the log-probability of the translation changes by {change} nats.",
            r=r,
            change=number(losses.own[losses.distances.index(r)]),
        ),
        table=lambda: window_table(losses),
    )
    st.text(_sentences(scene, losses, r))
    _on_every_page(scene, r)


def _sentences(scene: Scene, losses: Losses, r: int) -> str:
    """What the chosen r does to the open model, and to small models."""
    subject = unrestricted(scene.subject)
    before, after = (scene.best(each).text for each in (subject, subject.edited(AttentionWindow(r))))
    change = number(losses.own[losses.distances.index(r)])
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
    layers = scene.config.encoder_layers
    found.append(
        _(
            "A token reaches r positions further with each layer: {layers} layers of the encoder, {reach} positions.",
            layers=layers,
            reach=layers * r,
        )
    )
    if losses.trained:
        size, learnt = next((one for one in losses.trained if one[0] == r), losses.trained[0])
        found.append(
            _(
                "A small model that was trained with r = {r} changes by {learnt}, one that was not by {restricted}.",
                r=size,
                learnt=number(learnt),
                restricted=number(losses.small[losses.distances.index(size)]),
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

"""The canvas of a scene: its message, the head that it opens with, and the answers to the questions of the browser."""

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from app.components.canvas import Act, Answer, Head, Question, Setting, canvas
from app.figures.base64_numbers import in_base64
from app.figures.canvas_message import Form
from app.figures.head_names import head_name
from app.figures.matrix import matrix_table
from app.figures.theme import score_text
from app.languages import _
from app.pages import go_to
from app.stage.canvas_of_scene import message_of
from app.stage.heads import KEYS, QUERIES, chosen_head
from app.stage.scene import Scene, scene_key
from app.state.choice import Choice
from app.state.choices import KIND, PINNED, PINS_GIVEN, UNDO
from app.state.events import choose_head
from app.state.given_translation import is_of_search, show_instead, take_back
from app.state.pinned_words import keep, pinned
from app.views.shared.continued_translation import continued_translation
from app.views.shared.show_figure import download_and_table
from transformer.errors import HeadlightError
from transformer.model.attention_kinds import KINDS, SITES, Kind

_OPENS_HAND = "canvas_opens_hand"  # in the session: the visitor asked for the page `hand`
_PROBLEM = "canvas_problem"  # in the session: why decoding cannot continue with a token, to be said once
CELL_SITES = ("query", "key", "value", "products", "masked_scores", "weights")


def draw_canvas(scene: Scene, *, key: str, opening: Kind, form: Choice[Form], setting: Setting) -> Head:
    """Draws the canvas and returns the head that is chosen; `opening` is the kind of attention until the reader
    chooses one."""
    if st.session_state.pop(_OPENS_HAND, False):
        go_to("hand")
    kind = KIND.open(opening, KINDS)
    chosen = Head(kind, *chosen_head(scene, kind))
    with st.container(key=f"picture_{key}"):
        canvas(
            message_of(scene),
            chosen,
            replace(
                setting,
                alternatives=alternatives(scene),
                shown=scene.shown_in_list,
                can_undo=bool(UNDO.value),
                pinned=pinned(kind, scene_key(scene)),
                pins_given=PINS_GIVEN.value,
                form=form.value,
                form_name=form.key,
            ),
            key=key,
            on_choose=_choose,
            on_ask=lambda question: answer(scene, question),
            on_keep=partial(keep, form),
            on_act=lambda act: _act(scene, act),
        )
    if problem := st.session_state.pop(_PROBLEM, ""):
        with st.container(key="text_canvas_problem"):
            st.text(_("Decoding cannot continue with this token. {reason}", reason=problem))
    return chosen


def canvas_download(scene: Scene, head: Head, *, key: str) -> None:
    """The button that saves the canvas, and the head as a table."""
    weights = scene.attention(head.kind).weights[head.layer, head.head]
    name = head_name(head.kind, head.layer, head.head)
    sentence = scene.translation.source
    download_and_table(
        key=key, name=name, table=lambda: matrix_table(weights, *scene.axes(head.kind)), sentence=sentence
    )


def alternatives(scene: Scene) -> list[dict[str, str]]:
    """All translations of the sentence, each with its score."""
    return [
        {
            "text": other.text or _("(nothing)"),
            "detail": (
                _("yours, score {score}", score=score_text(other.normalised_score))
                if other is scene.given and not is_of_search()
                else _("score {score}", score=score_text(other.normalised_score))
            ),
        }
        for other in (scene.translation.hypotheses[i] for i in scene.listed)
    ]


def answer(scene: Scene, question: Question) -> Answer | None:
    """The exact numbers for a question of the browser; None if there is no such head or cell."""
    head = question.head
    weights = scene.attention(head.kind).weights  # (L, H, Q, K)
    layers, heads, queries, keys = weights.shape
    if head.layer >= layers or head.head >= heads or question.query >= queries or question.key >= keys:
        return None
    if question.asks == "head":
        return {"weights": in_base64(weights[head.layer, head.head])}
    if question.asks == "link":
        return {"weights": in_base64(weights[:, :, question.query, question.key])}
    return _cell(scene, head, question.query, question.key)


def _cell(scene: Scene, head: Head, query: int, key: int) -> Answer:
    """How one weight is computed. `scores` are those of the softmax, after mask and edits; None: −∞."""
    site = SITES[head.kind].format(head.layer)
    found = scene.record(*(f"{site}.{name}" for name in CELL_SITES))
    of_head = {name: found[f"{site}.{name}"][head.head].astype(np.float64) for name in CELL_SITES}
    value = of_head["value"][key]
    weight = float(of_head["weights"][query, key])
    return {
        "product": float(of_head["products"][query, key]),
        "width": int(of_head["query"].shape[-1]),
        "scores": [float(score) if np.isfinite(score) else None for score in of_head["masked_scores"][query]],
        "weights": of_head["weights"][query].tolist(),
        "query": of_head["query"][query].tolist(),
        "keyVector": of_head["key"][key].tolist(),
        "value": value.tolist(),
        "added": float(np.linalg.norm(weight * value)),
        "context": float(np.linalg.norm(of_head["weights"][query] @ of_head["value"])),
    }


def _choose(head: Head) -> None:
    if head.kind != PINNED.value[0]:
        PINNED.forget()
    KIND.choose(head.kind)
    choose_head(head.layer, head.head)


def _act(scene: Scene, act: Act) -> None:
    if act.name == "undo":
        take_back()
    elif act.name == "alternative" and act.index < len(scene.listed):
        scene.show(scene.listed[act.index])
    elif act.name == "hand":
        _open_by_hand(scene, act)
    elif act.name == "continue":
        _go_on(scene, act)


def _open_by_hand(scene: Scene, act: Act) -> None:
    """Chooses this cell; `draw_canvas` then opens the page Query, key, value."""
    _choose(act.head)
    queries, keys = (len(axis) for axis in scene.axes(act.head.kind))
    if act.step < queries and act.index < keys:
        QUERIES[act.head.kind].choose(act.step)
        KEYS[act.head.kind].choose(act.index)
        st.session_state[_OPENS_HAND] = True


def _go_on(scene: Scene, act: Act) -> None:
    """Replaces a token by a runner-up, decodes on from there, and shows the new translation."""
    old = scene.hypothesis
    if act.step >= len(old.ids):
        return
    prefix = (*old.ids[: act.step], act.index)
    try:
        new, _tree = continued_translation(scene, prefix)
    except HeadlightError as error:
        st.session_state[_PROBLEM] = str(error)
        return
    show_instead(new.text, new.ids_without_end, (act.step,))

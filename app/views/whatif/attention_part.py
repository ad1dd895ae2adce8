"""Move the attention: one row of weights is dragged, and the model decodes on from there. Do the weights explain the
prediction?"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from app.components.weight_bars import weight_bars
from app.compute import cached_results
from app.figures.axes import in_words
from app.figures.shares import Share
from app.figures.theme import fixed
from app.languages import _, gettext_noop
from app.stage import template
from app.stage.heads import chosen_head, opening_head
from app.stage.scene import Scene
from app.state import edit_choices
from app.state.choices import ALL_HEADS, HEAD, LAYER, STEP
from app.views.shared.show_figure import download_and_table
from app.views.whatif.attention_row import LITTLE, Place, Row, message, opening_step, row_of, table, without_row
from app.views.whatif.before_and_after import before_and_after
from transformer.analysis.edits import edit_text


def draw(scene: Scene) -> None:
    """Draws the bars, both translations, and sentences on whether the weights explain the prediction."""
    (layer, head), all_heads = chosen_head(scene, "cross", _opening(scene)[0]), ALL_HEADS.value
    place = _place(scene, layer, head, all_heads)
    row = row_of(scene, place)
    with st.container(key="picture_weight_bars"):
        weight_bars(
            message(scene, row, head),
            key="weight_bars",
            on_choose=partial(_choose, layer),
            on_set=partial(_set, scene, place),
            on_reset=partial(_reset, scene, place),
        )
    before_and_after(scene, key="whatif_attention_outcome")
    template.say(*_sentences(scene, row_of(scene, row.place.of_edits(scene.subject))))
    template.details(partial(_details, scene, row))


def _opening(scene: Scene) -> tuple[tuple[int, int], str]:
    """The head that is shown first, and why. It is that of the original model: a row that is set changes no choice."""
    subject = scene.subject.original
    return opening_head(replace(scene, subject=subject, translation=scene.translated_by(subject), shown=0), "cross")


def _place(scene: Scene, layer: int, head: int, all_heads: bool) -> Place:
    """The row that is shown; at first that of a content word. A row that is set stays, even if the translation has no
    such step any more: the steps are those without its edit."""
    subject = scene.subject.original
    own = scene.best(subject)
    weights = cached_results.attention(subject, scene.translation.source_ids, own.ids, "cross").weights[layer, head]
    step = STEP.value if STEP.is_chosen else opening_step(own.tokens, weights)
    place = Place(layer, None if all_heads else head, step)
    steps = len(scene.best(without_row(scene.subject, place)).ids)
    return replace(place, step=STEP.open(min(step, steps - 1), range(steps)))


def _choose(layer: int, name: str, index: int) -> None:
    if name == "all":
        ALL_HEADS.choose(bool(index))
    elif name == "step":
        STEP.choose(index)
    else:
        LAYER.choose(index + 1 if name == "layer" else layer + 1)
        if name == "head":
            HEAD.choose(index + 1)


def _reset(scene: Scene, place: Place) -> None:
    for edit in scene.subject.edits:
        if place.is_set_by(edit):
            edit_choices.undo(edit_text(edit))


def _set(scene: Scene, place: Place, weights: Sequence[int]) -> None:
    _reset(scene, place)
    edit_choices.add([place.edit(weights)])


def _sentences(scene: Scene, row: Row) -> list[str]:
    """Whether the weights explain the prediction: at most three sentences, with the numbers of this row."""
    if row.moved < LITTLE:
        return [
            _given(scene, row),
            _("Drag a bar: the others share what is left, and the model decodes on with these weights."),
            _("Does the token change?"),
        ]
    place, heads = row.place, scene.config.heads
    first, now = (in_words(scene.subject.translator.tokenizer.token(id)) for id in row.first)
    if first == now:
        becomes = _("the most probable token stays “{token}”", token=first)
    else:
        becomes = _("the most probable token is “{now}”, not “{before}”", now=now, before=first)
    if place.head is None:
        weight = _("the weight of all {count} heads of layer {layer}", count=heads, layer=place.layer + 1)
    else:
        weight = _("the weight of head {head} of layer {layer}", head=place.head + 1, layer=place.layer + 1)
    if row.ends:
        text = gettext_noop(
            "{moved:.0%} of {weight} moved; “{source}” lost most and “{goal}” gained most: {becomes}, {score}."
        )
        source, goal = (in_words(scene.source.tokens[key]) for key in row.ends)
        ends = {"source": source, "goal": goal}
    else:
        text = gettext_noop("{moved:.0%} of {weight} moved, but their mean is the same: {becomes}, {score}.")
        ends = {}
    changes = _(text, moved=Share(row.moved), weight=weight, becomes=becomes, score=_score(row, first), **ends)
    if first != now:
        return [changes, _("So the model uses what it reads here, and these weights are part of the explanation.")]
    can_ask = place.head is not None and heads > 1
    if can_ask or scene.config.decoder_layers > 1:
        why = _("So these weights alone do not explain the token: other heads and layers lead to it, too.")
    else:
        why = _("So these weights alone do not explain the token: other parts of the model lead to it, too.")
    return [changes, why, *([_("Does it stay when all heads of the layer move?")] if can_ask else [])]


def _given(scene: Scene, row: Row) -> str:
    """Which source token has the largest weight."""
    place, key = row.place, int(row.base.argmax())
    token, source, share = in_words(row.tokens[place.step]), in_words(scene.source.tokens[key]), Share(row.base[key])
    if place.head is None:
        return _(
            "While the model predicts “{token}”, all {count} heads of layer {layer} give {share:.0%} of their weight, "
            "on average, to “{source}”.",
            token=token,
            count=scene.config.heads,
            layer=place.layer + 1,
            share=share,
            source=source,
        )
    return _(
        "While the model predicts “{token}”, head {head} of layer {layer} gives {share:.0%} of the weight to "
        "“{source}”.",
        token=token,
        head=place.head + 1,
        layer=place.layer + 1,
        share=share,
        source=source,
    )


def _score(row: Row, first: str) -> str:
    """How the log-probability of the translation's token changes. The token is named if it is not `first`."""
    before, after = (fixed(each, 2) for each in row.log_probabilities)
    token = in_words(row.tokens[row.place.step])
    if before == after and token == first:
        return _("and the log-probability stays {after}", after=after)
    if before == after:
        return _("and the log-probability of “{token}” stays {after}", token=token, after=after)
    if token == first:
        return _("and the log-probability goes from {before} to {after}", before=before, after=after)
    return _(
        "and the log-probability of “{token}” goes from {before} to {after}", token=token, before=before, after=after
    )


def _details(scene: Scene, row: Row) -> None:
    """Draws why this head is shown first, the two papers, and the numbers."""
    place = row.place
    (layer, head), why = _opening(scene)
    if (place.layer, place.head) == (layer, head):
        st.text(why)
    st.markdown(
        _(
            "Jain and Wallace (2019), *Attention is not Explanation*, gave classifiers other attention weights and "
            "often found the same prediction, so they asked whether the weights explain it. Wiegreffe and Pinter "
            "(2019), *Attention is not not Explanation*, answered that the weights of a model may have a meaning "
            "although other weights give the same prediction, and that the answer depends on the definition of an "
            "explanation. Both studied recurrent networks with one attention; a Transformer has one for each head and "
            "layer."
        )
    )
    st.markdown(
        _(
            "The edit puts the logarithms of these weights in the place of the masked scores; the softmax makes them "
            "sum to 1. It is applied in every pass: in this step of a search, for all hypotheses, and with teacher "
            "forcing."
        )
    )
    numbers = {"layer": place.layer + 1, "step": place.step + 1}
    name = (
        _("Mean weights of all heads of layer {layer}, step {step}", **numbers)
        if place.head is None
        else _("Weights of head {head} of layer {layer}, step {step}", head=place.head + 1, **numbers)
    )
    download_and_table(key="weight_bars", name=name, table=lambda: table(scene, row), drawn=False)

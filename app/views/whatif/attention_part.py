"""Move the attention: one row of weights is dragged, and the model decodes on from there. Does attention explain?"""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from app.components.weight_bars import weight_bars
from app.compute import cached_results
from app.figures.axes import in_words
from app.figures.theme import fixed
from app.stage import template
from app.stage.heads import chosen_head, opening_head
from app.stage.scene import Scene
from app.state import edit_choices
from app.state.choices import ALL_HEADS, HEAD, LAYER, STEP
from app.views.shared.placed import belongings
from app.views.whatif.attention_row import Place, Row, message, opening_step, row_of, table
from app.views.whatif.before_and_after import before_and_after
from transformer.analysis.edits import edit_text


def draw(scene: Scene) -> None:
    """Draws the bars, both translations, and what they say about explaining."""
    (layer, head), all_heads = chosen_head(scene, "cross"), ALL_HEADS.value
    place = Place(layer, None if all_heads else head, _step(scene, layer, head))
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
    template.say(*_sentences(scene, row))
    template.details(partial(_details, scene, row))


def _step(scene: Scene, layer: int, head: int) -> int:
    """The decoding step whose row is shown; at first that of a content word."""
    subject = scene.subject.original
    own = scene.best(subject)
    weights = cached_results.attention(subject, scene.translation.source_ids, own.ids, "cross").weights[layer, head]
    steps = len(scene.best(scene.subject).ids)
    return STEP.open(min(opening_step(own.pieces, weights), steps - 1), range(steps))


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
    """Does attention explain? In at most three sentences, with the numbers of this row."""
    place, count = row.place, scene.config.heads
    who = f"all {count} heads of layer {place.layer + 1}" if place.head is None else _head(place)
    token = _quoted(row.pieces[place.step])
    if row.moved < 0.005:
        key = int(row.base.argmax())
        given = f"{row.base[key]:.0%} of {'the weight' if place.head is not None else 'their weight, on average,'}"
        said = f"While the model predicts {token}, {who} {'gives' if place.head is not None else 'give'} {given}"
        return [
            f"{said} to {_quoted(scene.source.tokens[key])}.",
            "Drag a bar: the others share what is left, and the model decodes on with these weights.",
            "Does the token change?",
        ]
    source, goal = (_quoted(scene.source.tokens[key]) for key in row.ends)
    first, now = (_quoted(scene.subject.translator.tokenizer.piece(id)) for id in row.first)
    becomes = (
        f"the most probable token stays {first}" if first == now else f"the most probable token is {now}, not {first}"
    )
    before, after = (fixed(each, 2) for each in row.log_probabilities)
    of = "" if first == token else f" of {token}"
    changes = (
        f"{row.moved:.0%} of the weight of {who} moved, most of it from {source} to {goal}: {becomes}, and the "
        f"log-probability{of} {'stays' if before == after else f'goes from {before} to'} {after}."
    )
    if first != now:
        return [changes, "So the model uses what it reads here, and these weights are part of the explanation."]
    why = "So these weights alone do not explain the token: other heads and layers lead to it, too."
    return [changes, why, *(["Does it stay when all heads of the layer move?"] if place.head is not None else [])]


def _head(place: Place) -> str:
    return f"head {(place.head or 0) + 1} of layer {place.layer + 1}"


def _quoted(piece: str) -> str:
    return f"“{in_words(piece)}”"


def _details(scene: Scene, row: Row) -> None:
    """The two papers, why the head is shown first, and the numbers."""
    _, why = opening_head(scene, "cross")
    st.text(why)
    st.markdown(
        "Jain and Wallace (2019), *Attention is not Explanation*, gave classifiers other attention weights and often "
        "found the same prediction, so they asked whether the weights explain it. Wiegreffe and Pinter (2019), "
        "*Attention is not not Explanation*, answered that other weights which a model could have do not make its own "
        "ones meaningless, and that it depends on what an explanation is to be. Both studied recurrent networks with "
        "one attention; a Transformer has one for each head and layer."
    )
    st.markdown(
        "The edit puts the logarithms of these weights in the place of the masked scores; the softmax makes them sum "
        "to 1. It is applied in every pass: in this step of a search, for all hypotheses, and with teacher forcing."
    )
    belongings(key="weight_bars", name=f"Weights of {_head(row.place)}, step {row.place.step + 1}",
               table=lambda: table(scene, row), drawn=False)  # fmt: skip

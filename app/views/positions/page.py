"""Positions: one of two pictures. The first shuffles the words of the sentence, and shows what the model computes and
writes with its positions and without. The second has models with sinusoidal, learned and no positions side by side.
"""

from dataclasses import replace
from typing import Any

import streamlit as st

from app.components import comparison, word_order
from app.figures.axes import in_words
from app.figures.theme import faded, number, pair_color, role_color
from app.languages import _, gettext_noop
from app.stage import template
from app.stage.controls import controls
from app.stage.family_link import family_link
from app.stage.scene import Scene
from app.state.choices import POSITIONS_PICTURE, SHUFFLE
from app.state.events import take_sentence
from app.views.positions.encoding_sections import encodings
from app.views.positions.kinds import compared, draw_kinds, prepare_kinds
from app.views.shared.buttons import buttons
from app.views.shared.order_translations import WITHOUT, both_orders, first_seed, next_seed, trained_without
from app.views.shared.show_figure import download_and_table
from app.views.shared.word_orders import Moved, Order, moved, reordered, shuffled

PICTURES = {"order": gettext_noop("Shuffle the words"), "kinds": gettext_noop("Sine or learned?")}
SAME = 1e-3  # share of an output's length: a smaller difference is the rounding of float32


def draw(scene: Scene) -> None:
    """Draws the page from top to bottom."""
    kinds = compared(scene)
    pictures = {name: _(text) for name, text in PICTURES.items()}
    if len(kinds) > 1 and buttons(POSITIONS_PICTURE, pictures, _("Picture"), says=False) == "kinds":
        draw_kinds(scene, kinds)
    else:
        _shuffled(scene)
    template.details(lambda: encodings(scene, controls(scene)))


def prepare(scene: Scene) -> None:
    """Computes in advance what the chosen picture will show, for a scene that is not open yet."""
    kinds = compared(scene)
    if len(kinds) > 1 and POSITIONS_PICTURE.value == "kinds":
        prepare_kinds(scene, kinds)
        return
    scene = _with_positions(scene)
    seed = SHUFFLE.open(first_seed(scene))
    order = shuffled(scene.source.tokens, seed)
    if order is None:
        return
    ids, target = scene.translation.source_ids, scene.hypothesis.ids
    for subject in (scene.subject, scene.subject.edited(WITHOUT)):
        moved(subject, ids, target, order)
        both_orders(subject, ids, reordered(ids, order), scene.translation.settings)
    trained_without(scene, seed)


def _with_positions(scene: Scene) -> Scene:
    """The scene with the positions of its encoder, also if an edit takes them away: the picture compares both."""
    kept = tuple(edit for edit in scene.subject.edits if edit != WITHOUT)
    return replace(scene, subject=replace(scene.subject, edits=kept))


def _shuffled(shown: Scene) -> None:
    scene = _with_positions(shown)
    seed = SHUFFLE.open(first_seed(scene))
    order = shuffled(scene.source.tokens, seed)
    if order is None:
        _nothing_to_shuffle(scene)
    else:
        _picture(scene, order, seed, is_edited=scene.subject != shown.subject)


def _nothing_to_shuffle(scene: Scene) -> None:
    template.say(_("There are no two different words here whose order could change. Type a longer sentence."))
    if scene.task.examples:
        example = scene.task.examples[0]
        st.button(_("Or take: {example}", example=example), key="take_example", on_click=take_sentence, args=(example,))


def _picture(scene: Scene, order: Order, seed: int, *, is_edited: bool) -> None:
    """Draws the picture. `is_edited`: an edit of the visitor takes the positions away, which `scene` still has."""
    ids, target = scene.translation.source_ids, scene.hypothesis.ids
    bare = scene.subject.edited(WITHOUT)
    found, left = (moved(subject, ids, target, order) for subject in (scene.subject, bare))
    with st.container(key="order_duo"):
        one, two = st.columns([3, 2], gap="medium")
        with one:
            with st.container(key="picture_order"):
                following = next_seed(scene, seed)
                word_order(
                    message(scene, order, found, left) | {"again": following != seed},
                    key="order",
                    on_shuffle=lambda: SHUFFLE.choose(following),
                )
            download_and_table(
                key="order",
                name=_("How far the encoder's outputs move when the words are shuffled"),
                table=lambda: table(scene, order, found, left),
            )
        with two:
            same = _translations(scene, order, seed)
    sentences = []
    if is_edited:
        sentences.append(_("Your edit takes the positions away. Here the model is shown with them, too."))
    if same:
        sentences.append(_("For the shuffled order the model writes the same translation as for the original one."))
    template.say(*[*sentences, *_sentences(scene, found, left)][:3])
    family_link(_("Models trained with and without positions: how many mistakes do they make?"), "model.positions")


def message(scene: Scene, order: Order, found: Moved, left: Moved) -> dict[str, Any]:
    """What `app.components.word_order` draws."""
    if scene.config.positions == "none":
        own = _(
            "This model has no positions: how far the encoder's output vector of each word moves, as a share of its "
            "length"
        )
        rows = [(own, found)]
        moves = _("On average an output of the encoder moves by {share:.0%} of its length.", share=found.shares.mean())
    else:
        own = _("With positions: how far the encoder's output vector of each word moves, as a share of its length")
        largest = number(left.largest, 2)
        bare = _("Positions taken away: the numbers of the two orders differ by at most {largest}", largest=largest)
        rows = [(own, found), (bare, left)]
        moves = _(
            "On average an output of the encoder moves by {share:.0%} of its length with positions, and by {without} "
            "without.",
            share=found.shares.mean(),
            without=number(float(left.shares.mean()), 2),
        )
    in_order = " ".join(scene.source.tokens[token] for token in order)
    tokens = _("The tokens of the sentence, and below them the same in the order {order}.", order=in_order)
    return {
        "tokens": [in_words(token) for token in scene.source.tokens],
        "order": list(order),
        "bars": [{"title": text, "shares": which.shares.tolist()} for text, which in rows],
        "color": role_color("encoder"),
        "faint": faded(role_color("encoder"), 0.14),
        "line": pair_color(False),
        "alt": f"{tokens} {moves}",
    }


def table(scene: Scene, order: Order, found: Moved, left: Moved) -> dict[str, Any]:
    """One row per token, in the order of the sentence."""
    if scene.config.positions == "none":
        shares = {_("moved"): found.shares}
    else:
        shares = {_("moved, with positions"): found.shares, _("moved, without"): left.shares}
    places = {token: place for place, token in enumerate(order)}
    return {
        _("token"): list(scene.source.tokens),
        _("place"): list(range(1, len(order) + 1)),
        _("place after shuffling"): [places[token] + 1 for token in range(len(order))],
        **shares,
    }


def _translations(scene: Scene, order: Order, seed: int) -> bool:
    """Draws what the model writes for both orders, with positions and without. Returns whether it writes the same for
    both orders with its positions."""
    ids, settings = scene.translation.source_ids, scene.translation.settings
    other = reordered(ids, order)
    has_none = scene.config.positions == "none"
    own = _("By this model, which has no positions") if has_none else _("As it is: positions are added to the words")
    pair = both_orders(scene.subject, ids, other, settings)
    rows = [pair.row(own)]
    if not has_none:
        bare = both_orders(scene.subject.edited(WITHOUT), ids, other, settings)
        rows.append(bare.row(_("Positions taken away from its encoder")))
    trained = trained_without(scene, seed)
    if trained:
        rows.append(trained.pair.row(_("A small model that was trained without positions")))
    comparison(
        (_("In order"), _("Shuffled")),
        rows,
        title=_("What is translated"),
        key="orders",
        color=role_color("decoder"),
        language=scene.task.target_code,
    )
    return pair.same and not has_none


def _sentences(scene: Scene, found: Moved, left: Moved) -> list[str]:
    """What the picture shows, in at most three sentences."""
    adds_up = _(
        "Attention is a sum over words in any order: only the positions, which are added to the words, tell the order."
    )
    if scene.config.positions == "none":
        return [_without_positions(scene, found)]
    if left.shares.max() < SAME:
        return [
            adds_up,
            _("Without positions, the encoder's outputs are the same numbers in another order, except for rounding."),
            _("The decoder reads what it has written, so it still writes the words in a probable order."),
        ]
    if scene.subject.window is not None:
        return [
            adds_up,
            _("This model also has an attention window, which still shows which words are near each other."),
        ]
    return [adds_up]


def _without_positions(scene: Scene, found: Moved) -> str:
    """What the picture shows of a model that has no positions."""
    if found.shares.max() < SAME:
        return _(
            "This model has no positions, so the order of the words does not matter to its encoder: the outputs are "
            "the same, in another order (largest difference {largest}, which is rounding).",
            largest=number(found.largest, 2),
        )
    if scene.subject.window is not None:
        return _("This model has no positions, but an attention window, which shows which words are near each other.")
    return _("This model has no positions; but it was edited, and the edits depend on the places of the words.")

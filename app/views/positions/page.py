"""Positions: the words of the sentence shuffled, and what the model makes of them with its positions and without."""

from typing import Any

import streamlit as st

from app.components import comparison, word_order
from app.figures.axes import TokenAxis, visible
from app.figures.theme import faded, number, pair_color, role_color
from app.stage import template
from app.stage.controls import controls
from app.stage.scene import Scene
from app.state.choices import SHUFFLE, take_sentence
from app.views.positions.encoding_sections import encodings
from app.views.shared.order_translations import WITHOUT, both_orders, first_seed, trained_without
from app.views.shared.placed import belongings
from app.views.shared.word_orders import Moved, Order, moved, reordered, shuffled

SAME = 1e-3  # of the length of an output: below it, a difference is the rounding of float32


def draw(scene: Scene) -> None:
    """Draws the page from top to bottom."""
    seed = SHUFFLE.open(first_seed(scene))
    order = shuffled(scene.source.tokens, seed)
    if order is None:
        _nothing_to_shuffle(scene)
    else:
        _picture(scene, order, seed)
    template.details(lambda: encodings(scene, controls(scene)))


def _nothing_to_shuffle(scene: Scene) -> None:
    template.say("There are no two different words here whose order could change. Type a longer sentence.")
    if scene.task.examples:
        example = scene.task.examples[0]
        st.button(f"Or take: {example}", key="take_example", on_click=take_sentence, args=(example,))


def _picture(scene: Scene, order: Order, seed: int) -> None:
    ids, target = scene.translation.source_ids, scene.hypothesis.ids
    bare = scene.subject.edited(WITHOUT)
    found, left = (moved(subject, ids, target, order) for subject in (scene.subject, bare))
    with st.container(key="order_duo"):
        one, two = st.columns([3, 2], gap="medium")
        with one:
            with st.container(key="picture_order"):
                word_order(message(scene, order, found, left), key="order", on_shuffle=lambda: SHUFFLE.choose(seed + 1))
            belongings(
                key="order",
                name="How far the encoder's outputs move when the words are shuffled",
                table=lambda: table(scene.source, order, found, left),
            )
        with two:
            _translations(scene, order, seed)
    template.say(*_sentences(scene, found, left))


def message(scene: Scene, order: Order, found: Moved, left: Moved) -> dict[str, Any]:
    """What `app.components.word_order` draws."""
    has_none = scene.config.positions == "none"
    title = "This model has no positions" if has_none else "With positions"
    rows = [(f"{title}: how far each word's output in the encoder moves, as a share of its length", found)]
    if not has_none:
        rows.append((f"Positions taken away: largest difference of any number {number(left.largest, 2)}", left))
    return {
        "tokens": [visible(token) for token in scene.source.tokens],
        "order": list(order),
        "bars": [{"title": text, "shares": which.shares.tolist()} for text, which in rows],
        "color": role_color("encoder"),
        "faint": faded(role_color("encoder"), 0.14),
        "line": pair_color(False),
        "alt": "The tokens of the sentence, and below them the same in the order "
        + " ".join(scene.source.tokens[token] for token in order)
        + ". On average an output of the encoder moves by "
        + f"{found.shares.mean():.0%} of its length"
        + ("." if has_none else f" with positions, and by {number(float(left.shares.mean()), 2)} without."),
    }


def table(source: TokenAxis, order: Order, found: Moved, left: Moved) -> dict[str, Any]:
    """A line a token, in the order of the sentence."""
    places = {token: place for place, token in enumerate(order)}
    return {
        "token": list(source.tokens),
        "place": list(range(1, len(order) + 1)),
        "place after shuffling": [places[token] + 1 for token in range(len(order))],
        "moved, with positions": found.shares,
        "moved, without": left.shares,
    }


def _translations(scene: Scene, order: Order, seed: int) -> None:
    """What the model writes for both orders, with positions and without."""
    ids, settings = scene.translation.source_ids, scene.translation.settings
    other = reordered(ids, order)
    has_none = scene.config.positions == "none"
    own = "By this model, which has no positions" if has_none else "As it is: positions are added to the words"
    rows = [both_orders(scene.subject, ids, other, settings).row(own)]
    if not has_none:
        bare = both_orders(scene.subject.edited(WITHOUT), ids, other, settings)
        rows.append(bare.row("Positions taken away from its encoder"))
    trained = trained_without(scene, seed)
    if trained:
        rows.append(trained.pair.row("A small model that was trained without positions"))
    comparison(
        ("In order", "Shuffled"),
        rows,
        title="What is translated",
        key="orders",
        color=role_color("decoder"),
        language=scene.task.target_code,
    )


def _sentences(scene: Scene, found: Moved, left: Moved) -> list[str]:
    """What the picture shows, in at most three sentences."""
    adds_up = (
        "Attention is a sum over words in any order: only the positions, which are added to the words, tell the order."
    )
    if scene.config.positions == "none" and scene.config.attention_window is None:
        return [
            "This model has no positions, so the order of the words does not matter to its encoder: the outputs are "
            f"the same, in another order (largest difference {number(found.largest, 2)}, which is rounding)."
        ]
    if left.shares.max() < SAME:
        return [
            adds_up,
            "Without positions, the encoder's outputs are the same numbers in another order, except for rounding.",
            "The decoder still has its own positions, so it writes the words in a probable order.",
        ]
    if scene.config.attention_window is not None:
        return [
            adds_up,
            "This model also has an attention window, which still shows which words are near each other.",
        ]
    return [adds_up]

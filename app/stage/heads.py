"""Heads and cells: the clearest head of a kind of attention, and how a picture chooses another head or cell."""

import streamlit as st

from app.components.chart import Point
from app.figures.head_sharpness import clearest_head
from app.languages import _, gettext_noop
from app.library.alignment_maps import alignment_map
from app.library.limits import MOST_HEADS
from app.stage.scene import Scene
from app.state.choice import Between, Choice
from app.state.choices import HEAD, LAYER, OTHER_TOKEN, SOURCE_TOKEN, STEP
from transformer.errors import HeadlightError
from transformer.model.attention_kinds import Kind, depth

QUERIES: dict[Kind, Choice[int]] = {"cross": STEP, "encoder": SOURCE_TOKEN, "decoder": STEP}
KEYS: dict[Kind, Choice[int]] = {"cross": SOURCE_TOKEN, "encoder": OTHER_TOKEN, "decoder": OTHER_TOKEN}
SHORT: dict[Kind, str] = {
    "cross": gettext_noop("Encoder-decoder"),
    "encoder": gettext_noop("Encoder self"),
    "decoder": gettext_noop("Decoder self"),
}
SHORT_INSIDE: dict[Kind, str] = {  # inside a sentence
    "cross": gettext_noop("encoder-decoder"),
    "encoder": gettext_noop("encoder self"),
    "decoder": gettext_noop("decoder self"),
}
CLEAREST_HERE = gettext_noop(
    "Shown first: on this sentence it attends sharply to words, and to different words in different rows."
)
ALIGNS_BEST = gettext_noop(
    "Shown first: of all heads it best aligns the words that its rows predict, measured against {pairs:,} sentences "
    "that people have aligned."
)

_OPENED_FOR = "head opened for"  # in the session: the kind of attention


def clearest_of(scene: Scene, kind: Kind, layer: int | None = None) -> tuple[int, int]:
    """(layer, head), from 0, of the clearest head of a kind; or of one layer of it.

    For encoder-decoder attention the decoder's first layer is left out if there are others: its sharpest heads may
    align the token that is read, not the one that is predicted (in `en-de` one of its heads does, and no head of a
    later layer).
    """
    weights = scene.attention(kind).weights  # (L, H, Q, K)
    queries, keys = scene.axes(kind)
    least = layer if layer is not None else int(kind == "cross" and len(weights) > 1)
    among = weights[least:] if layer is None else weights[layer : layer + 1]
    found, head = clearest_head(among, queries.predicts or queries.tokens, keys.tokens)
    return least + found, head


def opening_head(scene: Scene, kind: Kind) -> tuple[tuple[int, int], str]:
    """(layer, head), from 0, to show first, and why: the one that best aligns the words that its rows predict where
    that was measured for this checkpoint, else the clearest one of this sentence."""
    if kind == "cross":
        try:
            found = alignment_map(scene.subject.file)
        except (HeadlightError, OSError):
            found = None
        if found:
            return found.predicts.best[0], _(ALIGNS_BEST, pairs=found.gold.pairs)
    return clearest_of(scene, kind), _(CLEAREST_HERE)


def chosen_head(scene: Scene, kind: Kind, opening: tuple[int, int] | None = None) -> tuple[int, int]:
    """(layer, head), from 0, that a page shows of this kind: what was chosen; at first, `opening` or `opening_head`.

    If no head was chosen, another sentence still shows the same head, and another kind opens with its own head.
    If this stack does not have the chosen layer, the layer of the opening head is shown. The choice is kept for a stack
    that has the layer (test_a_layer_that_the_decoder_lacks_is_chosen_again_in_the_encoder).
    """
    first = opening or opening_head(scene, kind)[0]
    sticky = st.session_state.get(_OPENED_FOR, kind) == kind
    st.session_state[_OPENED_FOR] = kind
    layer = LAYER.open(first[0] + 1, Between(1, MOST_HEADS), sticky=sticky) - 1
    if layer >= depth(scene.config, kind):
        layer = first[0]
    of_layer = first if layer == first[0] else clearest_of(scene, kind, layer)
    return layer, HEAD.open(of_layer[1] + 1, Between(1, scene.config.heads), sticky=sticky) - 1


def choose_cell(kind: Kind, cell: Point) -> None:
    """Chooses the query and the key of a cell: its row and its column, from 0."""
    QUERIES[kind].choose(int(cell.y))
    KEYS[kind].choose(int(cell.x))

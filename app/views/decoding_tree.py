"""The search as a tree; any of its nodes in numbers, with what it looked at; and a way to go on from it by hand."""

import math

import streamlit as st

from app import components, computed
from app.components.decoding import difference, tree
from app.figures.difference import difference_data
from app.figures.distribution import offers
from app.figures.tree import looked_at, tree_alt, tree_picture, tree_table
from app.session import STEP, choose_position, is_dark
from app.theme import probability_text, score_text
from app.views.decoding_methods import strip_of
from app.views.placed import belongings
from app.views.search_code import about_probabilities, searched_by
from app.views.search_paper import search_paper
from app.views.stage import Scene
from transformer.config import EOS
from transformer.decoding.length_penalty import formula
from transformer.decoding.reading import path_to
from transformer.decoding.translation import Hypothesis, SearchNode
from transformer.errors import HeadlightError
from transformer.text.normalise import clean

NODE = "search_node"  # (search, step, node) that the reader chose
PREFIX = "search_prefix"  # (search, pieces) from which the reader lets the model go on
MANY = 700  # candidates; beyond, the tree opens with those alone that went on
OFFERED = 6  # pieces to go on with


def tree_part(scene: Scene, step: int, layer: int, head: int) -> None:
    """The tree, and below it the chosen node and where this head looked at it (step, layer and head from 0).

    On opening, the node is that of the shown hypothesis at the chosen step.
    """
    found = scene.translation
    alone = _alone(scene)
    way = path_to(found.tree, alone.node or 0)
    if alone is not scene.hypothesis:
        st.caption("Your own translation was not searched for: this is the search for the model's.")
    best = {0, *(node.id for node in way)}
    node = _chosen(scene, step, way)
    probabilities = [math.exp(node.log_probability) for node in found.tree]
    title = f"{_NAMES[searched_by(found.settings)]}: {len(found.tree) - 1} candidates, the best sums on top"
    pruned = st.toggle("Show what went no further", len(found.tree) <= MANY, key="show_pruned")
    with st.container(key="picture_tree"):
        tree(
            tree_picture(found.tree, best, node.id, probabilities, title=title, pruned=pruned, dark=is_dark())
            | {"alt": tree_alt(found.tree, title)},
            key="search_tree",
            on_choose=lambda id: _choose(scene, found.tree[id]),
        )
    if said := about_probabilities(found.settings):
        st.caption(said)
    belongings(key="tree", name="Search tree", table=lambda: tree_table(found.tree, probabilities, best))
    path = path_to(found.tree, node.id)
    with st.container(key="node"):
        left, right = st.columns([1, 1], gap="large")
        with left:
            _numbers(scene, node, path)
            if path:
                _looks(scene, path, layer, head)
        with right:
            _go_on(scene, path)
    _continued(scene)
    search_paper(scene)


_NAMES = {"beam": "Beam search", "greedy": "Greedy search", "sampling": "Sampling"}


def _search(scene: Scene) -> tuple[object, ...]:
    """Which search this is: what was chosen in another has no meaning here."""
    return scene.opened.file, scene.translation.source_ids, scene.translation.settings


def _alone(scene: Scene) -> Hypothesis:
    """What the model found by itself: the shown hypothesis, or the best where the visitor gave the shown one."""
    return scene.translation.hypotheses[0] if scene.is_given else scene.hypothesis


def _chosen(scene: Scene, step: int, way: tuple[SearchNode, ...]) -> SearchNode:
    search, at, node = st.session_state.get(NODE, (None, None, 0))
    if search == _search(scene) and at == step:
        return scene.translation.tree[node]
    return way[min(step, len(way) - 1)]


def _choose(scene: Scene, node: SearchNode) -> None:
    step = min(max(node.step - 1, 0), len(scene.target) - 1)
    choose_position(STEP, step)
    st.session_state[NODE] = (_search(scene), step, node.id)


def _numbers(scene: Scene, node: SearchNode, path: tuple[SearchNode, ...]) -> None:
    st.subheader("The chosen node", anchor=False)
    text = scene.opened.translator.tokenizer.decode([each.token for each in path])
    with st.container(key="node_text"):
        st.text(text or "(nothing yet)")
    if path:
        st.text(
            f"Its piece: {node.piece}   p = {probability_text(math.exp(node.log_probability))}, "
            f"log p = {node.log_probability:z.3f}\n"
            f"Sum of log p over {node.step} {'piece' if node.step == 1 else 'pieces'}: {node.sum:z.3f}\n"
            f"Score: {node.sum:z.3f} / {formula(node.step, scene.translation.settings)} = {node.normalised:z.3f}"
        )
    st.text(node.reason)


def _looks(scene: Scene, path: tuple[SearchNode, ...], layer: int, head: int) -> None:
    """Encoder-decoder attention of this hypothesis while it predicted this piece."""
    st.subheader("Where it looked", anchor=False)
    ids = tuple(node.token for node in path)
    weights = computed.attention(scene.opened.file, scene.translation.source_ids, ids, "cross").weights
    components.pieces(
        looked_at(
            scene.source,
            weights[layer, head, -1],
            f"Encoder-decoder attention of this piece, layer {layer + 1}, head {head + 1}",
            dark=is_dark(),
        ),
        key="node_looks",
    )
    st.caption(
        f"Encoder-decoder attention, layer {layer + 1}, head {head + 1}, of the row that predicted it. Sums to 1."
    )


def _go_on(scene: Scene, path: tuple[SearchNode, ...]) -> None:
    """Pieces to go on with, the most probable first, or the reader's own words."""
    st.subheader("Go on from here with another piece", anchor=False)
    ids = tuple(node.token for node in path)
    if ids and ids[-1] == EOS:
        st.caption("This hypothesis has ended. Choose a node before its end.")
        return
    if len(ids) >= scene.config.max_positions:
        st.caption("This hypothesis fills all positions that this model has. Choose an earlier node.")
        return
    logits = computed.record(scene.opened.file, scene.translation.source_ids, (*ids, EOS), ("logits",))["logits"][-1]
    piece = scene.opened.translator.tokenizer.piece
    found = [offer for offer in offers(logits, EOS, piece, count=OFFERED + 4) if offer.id > EOS][:OFFERED]
    components.choices(
        [{"text": offer.piece, "detail": probability_text(offer.probability)} for offer in found],
        -1,
        "Pieces that may come next, the most probable first",
        key="next_pieces",
        on_choose=lambda index: _force(scene, (*ids, found[index].id)),
    )
    st.text_input(
        "or your own words, then Enter",
        key="own_words",
        max_chars=200,
        on_change=_force_words,
        args=(scene, ids),
        autocomplete="off",
    )


def _force_words(scene: Scene, ids: tuple[int, ...]) -> None:
    words = clean(st.session_state.get("own_words", ""))
    st.session_state["own_words"] = ""
    if words:
        _force(scene, (*ids, *scene.opened.translator.tokenizer.encode(words)))


def _force(scene: Scene, prefix: tuple[int, ...]) -> None:
    st.session_state[PREFIX] = (_search(scene), prefix)


def _continued(scene: Scene) -> None:
    """The translation with the forced beginning, beside the free one."""
    search, prefix = st.session_state.get(PREFIX, (None, ()))
    if search != _search(scene):
        return
    st.header("With your beginning", anchor=False)
    try:
        found = computed.translate_one(
            scene.opened.file, scene.translation.source, scene.translation.settings, prefix=prefix
        )
    except HeadlightError as error:
        st.text(str(error))
        return
    new, old = found.hypotheses[0], _alone(scene)
    left, right = st.columns([1, 1], gap="large")
    with left:
        st.subheader("The model alone", anchor=False)
        components.pieces(strip_of(scene, old), key="alone")
        st.caption(f"Sum {score_text(old.score)}, score {score_text(old.normalised_score)}")
    with right:
        given = "1 piece that was" if len(prefix) == 1 else f"{len(prefix)} pieces that were"
        st.subheader(f"Beginning with {given} given", anchor=False)
        components.pieces(strip_of(scene, new), key="continued")
        st.caption(f"Sum {score_text(new.score)}, score {score_text(new.normalised_score)}")
    difference(difference_data(old.text, new.text, label="What your beginning changed"), key="changed")
    st.button("Take it back", on_click=lambda: st.session_state.pop(PREFIX, None), key="take_back")

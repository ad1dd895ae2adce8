"""The search as a tree, and any of its nodes in numbers, with what it looked at."""

import math

import streamlit as st

from app import components
from app.compute import cached_results
from app.figures.axes import TokenAxis
from app.stage.scene import Scene
from app.state.choices import NODE, STEP
from app.views.decoding.continue_section import alone, continued, go_on
from app.views.decoding.node import node_numbers
from app.views.decoding.search_paper import search_paper
from app.views.decoding.tree_data import looked_at, tree_alt, tree_picture, tree_table
from app.views.shared.placed import belongings
from app.views.shared.search_code import about_probabilities, searched_by
from transformer.config import BOS
from transformer.decoding.finished_search import path_to
from transformer.decoding.translation import SearchNode
from transformer.model.attention_kinds import KINDS, Kind

MANY = 700  # candidates; beyond, the tree opens with those alone that went on


def tree_part(scene: Scene, step: int, layer: int, head: int) -> None:
    """The tree, and below it the chosen node and where this head looked at it (step, layer and head from 0).

    On opening, the node is that of the shown hypothesis at the chosen step.
    """
    found = scene.translation
    own = alone(scene)
    way = path_to(found.tree, own.node or 0)
    if own is not scene.hypothesis:
        st.caption("Your own translation was not searched for: this is the search for the model's.")
    best = {0, *(node.id for node in way)}
    node = _chosen(scene, step, way)
    probabilities = [math.exp(node.log_probability) for node in found.tree]
    title = f"{_NAMES[searched_by(found.settings)]}: {len(found.tree) - 1} candidates, the best sums on top"
    pruned = st.toggle("Show the candidates that were pruned", len(found.tree) <= MANY, key="show_pruned")
    with st.container(key="picture_tree"):
        components.search_tree(
            tree_picture(found.tree, best, node.id, probabilities, title=title, pruned=pruned)
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
            st.subheader("The chosen node", anchor=False)
            node_numbers(scene, node, path)
            if path:
                _looks(scene, path, layer, head)
        with right:
            go_on(scene, path)
    continued(scene, pruned)
    search_paper(scene)


_NAMES = {"beam": "Beam search", "greedy": "Greedy search", "sampling": "Sampling"}


def _chosen(scene: Scene, step: int, way: tuple[SearchNode, ...]) -> SearchNode:
    match NODE.value:
        case (at, node) if at == step and node < len(scene.translation.tree):
            return scene.translation.tree[node]
    return way[min(step, len(way) - 1)]


def _choose(scene: Scene, node: SearchNode) -> None:
    step = min(max(node.step - 1, 0), len(scene.target) - 1)
    STEP.choose(step)
    NODE.choose((step, node.id))


def _looks(scene: Scene, path: tuple[SearchNode, ...], layer: int, head: int) -> None:
    """Both attentions of this hypothesis while it predicted this token."""
    st.subheader("What it attended to", anchor=False)
    ids, piece = tuple(node.token for node in path), scene.subject.translator.tokenizer.piece
    read = TokenAxis("Read", "decoder", (piece(BOS), *(node.piece for node in path[:-1])))
    strips: tuple[tuple[Kind, str, TokenAxis], ...] = (
        ("cross", "node_looks", scene.source),
        ("decoder", "node_looks_back", read),
    )
    for kind, key, tokens in strips:
        weights = cached_results.attention(scene.subject, scene.translation.source_ids, ids, kind).weights
        name = f"{KINDS[kind]}, layer {layer + 1}, head {head + 1}"
        st.caption(f"{name}, of the row that predicted it. Sums to 1.")
        components.token_strip(looked_at(tokens, weights[layer, head, -1], f"{name}, of this token"), key=key)

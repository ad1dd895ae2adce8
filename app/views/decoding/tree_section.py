"""The search as a tree, and any of its nodes in numbers, with what it attends to."""

import streamlit as st

from app import components
from app.compute import cached_results
from app.figures.axes import TokenAxis
from app.figures.head_names import head_name
from app.languages import _, gettext_noop
from app.stage.scene import Scene
from app.stage.search_method import searched_by
from app.state.choices import NODE, STEP
from app.state.detail_choices import SHOW_PRUNED
from app.state.given_translation import is_of_search
from app.views.decoding.continue_section import continued, found_by_model, go_on
from app.views.decoding.node import node_numbers
from app.views.decoding.search_paper import search_paper
from app.views.decoding.search_tree_figure import draw_search_tree
from app.views.decoding.tree_data import attended_tokens
from app.views.shared.search_code import about_probabilities
from transformer.config import BOS
from transformer.decoding.finished_search import path_to
from transformer.decoding.translation import SearchNode
from transformer.model.attention_kinds import Kind

MANY = 700  # candidates; if there are more, the tree opens with the kept ones only


def tree_part(scene: Scene, step: int, layer: int, head: int) -> None:
    """The tree, and below it the chosen node and the tokens that this head attends to there.

    Step, layer and head are from 0. On opening, the node is that of the shown hypothesis at the chosen step.
    """
    found = scene.translation
    if found_by_model(scene) is not scene.hypothesis and not is_of_search():
        st.caption(_("This is the search that found the model's translation. Your own was not searched for."))
    pruned = SHOW_PRUNED.open(len(found.tree) <= MANY)
    st.toggle(_("Show the candidates that were pruned"), key=SHOW_PRUNED.key, persist_state="session")
    node = tree_of_search(scene, step, pruned=pruned)
    if caption := about_probabilities(found.settings):
        st.caption(caption)
    path = path_to(found.tree, node.id)
    with st.container(key="node"):
        left, right = st.columns([1, 1], gap="large")
        with left:
            st.subheader(_("The chosen node"), anchor=False)
            node_numbers(scene, node, path)
            if path:
                _attended(scene, path, layer, head)
        with right:
            go_on(scene, path)
    continued(scene, pruned)
    search_paper(scene)


def tree_of_search(scene: Scene, step: int, *, pruned: bool) -> SearchNode:
    """Draws the tree, with or without the candidates that were pruned. Returns the chosen node."""
    found = scene.translation
    path = path_to(found.tree, found_by_model(scene).node or 0)
    node = _chosen(scene, step, path)
    values = {"method": _(_NAMES[searched_by(found.settings)]), "count": len(found.tree) - 1}
    title = (
        _("{method}: {count} candidates; the pruned ones are at the bottom", **values)
        if pruned
        else _("{method}: {count} candidates; the pruned ones are not shown", **values)
    )
    draw_search_tree(
        found.tree,
        path,
        node,
        title=title,
        pruned=pruned,
        key="tree",
        name=_("Search tree"),
        on_choose=lambda id: _choose(scene, found.tree[id]),
    )
    return node


_NAMES = {
    "beam": gettext_noop("Beam search"),
    "greedy": gettext_noop("Greedy decoding"),
    "sampling": gettext_noop("Sampling"),
}


def _chosen(scene: Scene, step: int, path: tuple[SearchNode, ...]) -> SearchNode:
    match NODE.value:
        case (at, node) if at == step and node < len(scene.translation.tree):
            return scene.translation.tree[node]
    return path[min(step, len(path) - 1)]


def _choose(scene: Scene, node: SearchNode) -> None:
    step = min(max(node.step - 1, 0), len(scene.target) - 1)
    STEP.choose(step)
    NODE.choose((step, node.id))


def _attended(scene: Scene, path: tuple[SearchNode, ...], layer: int, head: int) -> None:
    """Both attentions of this hypothesis while it predicted this token."""
    st.subheader(_("What it attended to"), anchor=False)
    ids, token_of = tuple(node.token_id for node in path), scene.subject.translator.tokenizer.token
    read = TokenAxis(_("Read"), "decoder", (token_of(BOS), *(node.token for node in path[:-1])))
    strips: tuple[tuple[Kind, str, TokenAxis], ...] = (
        ("cross", "node_cross_attention", scene.source),
        ("decoder", "node_self_attention", read),
    )
    for kind, key, tokens in strips:
        asked = scene.subject.as_in_steps, scene.translation.source_ids, ids, kind
        weights = cached_results.attention(*asked).weights
        name = head_name(kind, layer, head)
        st.caption(_("{head}, of the row that predicted it. Sums to 1.", head=name))
        label = _("{head}, of this token", head=name)
        components.token_strip(attended_tokens(tokens, weights[layer, head, -1], label), key=key)

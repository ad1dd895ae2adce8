"""A search as a tree that can be clicked, with its table."""

import math
from collections.abc import Callable, Sequence

import streamlit as st

from app import components
from app.views.decoding.tree_data import tree_alt, tree_picture, tree_table
from app.views.shared.show_figure import download_and_table
from transformer.decoding.translation import SearchNode


def draw_search_tree(
    nodes: Sequence[SearchNode],
    path: Sequence[SearchNode],
    chosen: SearchNode,
    *,
    title: str,
    pruned: bool,
    key: str,
    name: str,
    on_choose: Callable[[int], None],
) -> None:
    """Draws the tree.

    Args:
        path: the nodes of the translation that the search returned; they stand out.
        chosen: the node that is marked.
        pruned: whether candidates that were pruned are drawn.
        name: of the downloaded file, in words.
        on_choose: gets the id of the node that was clicked.
    """
    best = {0, *(node.id for node in path)}
    probabilities = [math.exp(node.log_probability) for node in nodes]
    with st.container(key=f"picture_{key}"):
        components.search_tree(
            tree_picture(nodes, best, chosen.id, probabilities, title=title, pruned=pruned)
            | {"alt": tree_alt(nodes, title)},
            key=f"search_{key}",
            on_choose=on_choose,
        )
    download_and_table(key=key, name=name, table=lambda: tree_table(nodes, probabilities, best))

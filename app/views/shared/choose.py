"""What can be chosen: kinds of attention and their heads, the clearest, how a picture chooses another one; buttons.

The buttons that choose kind, layer and head stand in `app.stage.controls`.
"""

from collections.abc import Mapping

import numpy as np
import streamlit as st

from app.components.chart import Point
from app.compute import cached_results
from app.figures.axes import TokenAxis
from app.figures.heads import clearest_head
from app.stage.sentence import Scene
from app.state.session import HEAD, LAYER, OTHER_TOKEN, SOURCE_TOKEN, STEP, Place, choose_position
from app.state.url import Name
from transformer.model.attention_kinds import Kind

QUERIES: dict[Kind, Place] = {"cross": STEP, "encoder": SOURCE_TOKEN, "decoder": STEP}  # who looks
KEYS: dict[Kind, Place] = {"cross": SOURCE_TOKEN, "encoder": OTHER_TOKEN, "decoder": OTHER_TOKEN}  # what is looked at
_FROM_AFAR = "head_chosen_from_afar"
SHORT: dict[Kind, str] = {"cross": "Encoder-decoder", "encoder": "Encoder self", "decoder": "Decoder self"}


def buttons(key: str, names: Mapping[Name, str], label: str, *, says: bool = True, help: str | None = None) -> None:
    """The buttons of a choice that `app.state.url.named` keeps, which is called before.

    Args:
        names: what stands on the buttons, by what is kept. says: whether the label is seen, or only heard.
    """
    st.segmented_control(
        label, list(names), format_func=names.__getitem__, required=True, key=key, persist_state="session", help=help,
        label_visibility="visible" if says else "collapsed",
    )  # fmt: skip


def weights_of(scene: Scene, kind: Kind) -> np.ndarray:
    """(L, H, Q, K)."""
    return cached_results.attention(scene.opened.file, scene.translation.source_ids, scene.hypothesis.ids, kind).weights


def clearest_of(scene: Scene, kind: Kind, layer: int | None = None) -> tuple[int, int]:
    """(layer, head), from 0, of the clearest head of a kind; or of one layer of it.

    Of encoder-decoder attention the decoder's first layer stands back where there are others: its sharpest heads may
    align the piece that is read, not the one that is predicted (in `en-de` one head of it does, and no head above).
    """
    weights = weights_of(scene, kind)
    queries, keys = axes(scene, kind)
    least = layer if layer is not None else int(kind == "cross" and len(weights) > 1)
    among = weights[least:] if layer is None else weights[layer : layer + 1]
    found, head = clearest_head(among, queries.predicts or queries.tokens, keys.tokens)
    return least + found, head


def choose_head(layer: int, head: int) -> None:
    """Chooses a head, from 0."""
    st.session_state[LAYER] = layer + 1
    st.session_state[HEAD] = head + 1


def choose_cell(kind: Kind, cell: Point) -> None:
    """Chooses who looks, and what is looked at: the row and the column of a cell, from 0."""
    choose_position(QUERIES[kind], int(cell.y))
    choose_position(KEYS[kind], int(cell.x))


def choose_head_from_afar(layer: int, head: int) -> None:
    """The same from a picture in a fragment that does not hold the buttons; the fragment calls `follow_head`."""
    choose_head(layer, head)
    st.session_state[_FROM_AFAR] = True


def follow_head() -> None:
    """Draws the whole page again if a picture of this fragment chose another head."""
    if st.session_state.pop(_FROM_AFAR, False):
        st.rerun()


def axes(scene: Scene, kind: Kind) -> tuple[TokenAxis, TokenAxis]:
    """(queries, keys) of this kind of attention."""
    if kind == "encoder":
        return scene.source, scene.source
    writer = scene.target
    if kind == "cross":
        return writer, scene.source
    return writer, TokenAxis(f"{writer.title}, as read", "decoder", writer.tokens)

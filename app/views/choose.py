"""Controls that pages share: kind of attention, layer, head, and the chosen tokens. The same choice on every page.

Call them inside the page's fragment: a choice then draws the fragment again and nothing else.
"""

from functools import partial

import numpy as np
import streamlit as st

from app import components, computed
from app.figures.axes import TokenAxis, visible
from app.figures.heads import clearest_head
from app.models import Kind
from app.session import (
    HEAD,
    KIND,
    LAYER,
    OTHER_TOKEN,
    SOURCE_TOKEN,
    STEP,
    choose_position,
    is_dark,
    linked,
    position,
)
from app.theme import ground, role_color
from app.views.stage import Scene

_DEEPER = "deeper_layer"  # (chosen where a stack has so many layers, shown instead where it has not)
_FROM_AFAR = "head_chosen_from_afar"
KINDS: dict[Kind, str] = {
    "cross": "Encoder-decoder attention",
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
}
SHORT: dict[Kind, str] = {"cross": "Encoder-decoder", "encoder": "Encoder self", "decoder": "Decoder self"}
SITES: dict[Kind, str] = {
    "cross": "decoder.layers.{}.cross_attention",
    "encoder": "encoder.layers.{}.self_attention",
    "decoder": "decoder.layers.{}.self_attention",
}


def attention_kind() -> Kind:
    """The chosen kind of attention."""
    kind = linked(KIND, tuple(KINDS), "cross")
    st.segmented_control(
        "Attention", list(KINDS), format_func=SHORT.__getitem__, required=True, key=KIND, persist_state="session"
    )
    return kind


def kind_layer_head(scene: Scene) -> tuple[Kind, int, int]:
    """Kind, layer and head, the latter two from 0; a row of controls. On opening: the clearest head of that kind."""
    with st.container(key="choose", horizontal=True, vertical_alignment="bottom"):
        kind = attention_kind()
        layer, head = layer_and_head(scene, kind)
    return kind, layer, head


def head_bar(scene: Scene) -> tuple[Kind, int, int]:
    """`kind_layer_head` in a bar that stays in view: pictures pass beneath it, and beneath the strip above it."""
    st.html(
        f"<style>.st-key-head_bar, [data-testid='stHeader'] {{ background: {ground(is_dark())} !important; }}</style>"
    )
    with st.container(key="head_bar"):  # see page.css
        return kind_layer_head(scene)


def layer_and_head(scene: Scene, kind: Kind) -> tuple[int, int]:
    """Layer and head, from 0. On opening: the clearest, see `app.figures.heads.clarity`."""
    weights = weights_of(scene, kind)
    clearest = clearest_of(scene, kind)
    layer = _layer(weights.shape[0], clearest[0])
    head = _number("Head", HEAD, weights.shape[1], clearest[1])
    st.button(
        "Clearest head",
        key="clearest",
        on_click=choose_head,
        args=clearest,
        help="The head that looks most sharply at words (not at punctuation or </s>), and at another from row to row. "
        "The page opens with it. Of encoder-decoder attention the decoder's first layer stands back: its queries know "
        "little more than the piece that is read, and may align that piece instead of the predicted one.",
    )
    return layer, head


def head_in_layer(scene: Scene, kind: Kind, layer: int) -> int:
    """The head, from 0, where the layer is given. On opening: the clearest of this layer."""
    return _number("Head", HEAD, scene.config.heads, clearest_of(scene, kind, layer)[1])


def weights_of(scene: Scene, kind: Kind) -> np.ndarray:
    """(L, H, Q, K)."""
    return computed.attention(scene.opened.file, scene.translation.source_ids, scene.hypothesis.ids, kind).weights


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


def _layer(count: int, default: int) -> int:
    """The layer, from 0. One that this stack has not is chosen again in a stack that has it, unless another has been
    chosen since (test_a_layer_that_the_decoder_lacks_is_chosen_again_in_the_encoder)."""
    chosen = st.session_state.get(LAYER)
    deeper, instead = st.session_state.get(_DEEPER, (0, 0))
    if isinstance(chosen, int) and chosen > count:
        layer = _number("Layer", LAYER, count, default)
        st.session_state[_DEEPER] = (chosen, layer + 1)
        return layer
    if chosen != instead:
        st.session_state.pop(_DEEPER, None)
    elif deeper and deeper <= count:
        st.session_state[LAYER] = deeper
        del st.session_state[_DEEPER]
    return _number("Layer", LAYER, count, default)


def _number(label: str, key: str, count: int, default: int) -> int:
    """A choice of 1 to `count`, given from 0."""
    options = list(range(1, count + 1))
    chosen = linked(key, options, default + 1)
    if count <= 16:
        st.segmented_control(label, options, required=True, key=key, persist_state="session")
    else:
        st.selectbox(label, options, key=key, persist_state="session")
    return chosen - 1


def choose_head(layer: int, head: int) -> None:
    """Chooses a head, from 0."""
    st.session_state[LAYER] = layer + 1
    st.session_state[HEAD] = head + 1


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


def decoder_step(scene: Scene, label: str = "Step t: reads → predicts", *, key: str = "pick_step") -> int:
    """The chosen row of the decoder, from 0: it reads piece t and predicts the next. Opens with the first."""
    axis = scene.target
    step = position(STEP, len(axis))
    components.picker(
        [visible(token) for token in axis.tokens],
        step,
        label,
        color=role_color("decoder", is_dark()),
        key=key,
        on_choose=partial(choose_position, STEP),
        second=[visible(token) for token in axis.predicts],
    )
    return step


def source_token(scene: Scene, label: str = "Source token", *, key: str = "pick_source") -> int:
    """The chosen position in the source, from 0. Opens with the first."""
    chosen = position(SOURCE_TOKEN, len(scene.source))
    components.picker(
        [visible(token) for token in scene.source.tokens],
        chosen,
        label,
        color=role_color("encoder", is_dark()),
        key=key,
        on_choose=partial(choose_position, SOURCE_TOKEN),
    )
    return chosen


def other_token(axis: TokenAxis, label: str = "Looks at", *, key: str = "pick_other") -> int:
    """In self-attention, the chosen position that is looked at, from 0. Opens with the first."""
    chosen = position(OTHER_TOKEN, len(axis))
    components.picker(
        [visible(token) for token in axis.tokens],
        chosen,
        label,
        color=role_color("key", is_dark()),
        key=key,
        on_choose=partial(choose_position, OTHER_TOKEN),
    )
    return chosen

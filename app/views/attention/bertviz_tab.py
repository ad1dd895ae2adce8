"""A tab of the Attention page: BertViz's three views of our tensors, for those who know them."""

import numpy as np
import streamlit as st

from app.figures.all_heads import heads_table
from app.figures.axes import TokenAxis, visible
from app.languages import _, gettext_noop, language, speaking
from app.stage.scene import Scene
from app.state.choices import BERTVIZ
from app.state.color_scheme import is_dark
from app.views.attention.bertviz_html import (
    ALL_LAYERS_UP_TO,
    MOST_TOKENS,
    ShownAttention,
    View,
    bertviz_html,
    is_installed,
    vectors_table,
)
from app.views.attention.head_pictures import Chosen
from app.views.shared.buttons import buttons
from app.views.shared.show_figure import download_and_table
from transformer.model.attention_kinds import KINDS, SITES

NAMES: dict[View, str] = {
    "head": gettext_noop("Head view"),
    "model": gettext_noop("Model view"),
    "neuron": gettext_noop("Neuron view"),
}
TITLES: dict[View, str] = {
    "head": gettext_noop("BertViz head view: {kind}"),
    "model": gettext_noop("BertViz model view: {kind}"),
    "neuron": gettext_noop("BertViz neuron view: {kind}"),
}
EXPLAINED: dict[View, str] = {
    "head": gettext_noop(
        "All heads of a layer in their colours. Point at a token; click a colour to turn a head off, double-click "
        "it to see it alone."
    ),
    "model": gettext_noop("Every layer and head. Click one to enlarge it."),
    "neuron": gettext_noop(
        "Query and key of each token, number by number. Point at a token on the left: q times k in each "
        "dimension, their sum, and the softmax. Blue is positive, orange negative."
    ),
}


def bertviz(scene: Scene, chosen: Chosen) -> None:
    """Draws one of the views for the kind of attention that is chosen above."""
    if not is_installed():
        st.info(_("BertViz is not installed here: `pip install -r requirements.txt`."))
        return
    view = buttons(BERTVIZ, {each: _(name) for each, name in NAMES.items()}, _("View"))
    st.caption(f"{_(EXPLAINED[view])} {_limits(view)}")
    queries, keys = scene.axes(chosen.kind)
    tokens = max(len(queries), len(keys))
    if tokens > MOST_TOKENS:
        st.info(
            _(
                "This sentence has {tokens} tokens on its longer side, more than this view can draw. Shorten it.",
                tokens=tokens,
            )
        )
        return
    shown = _shown(scene, chosen, view)
    title = _(TITLES[view], kind=_(KINDS[chosen.kind]))
    st.caption(_caption(scene, chosen, shown))
    st.iframe(
        bertviz_html(view, shown, title, dark=is_dark()),
        height="content",
        alt=(
            _("{title}. Its numbers are in the tables below.", title=title)
            if shown.vectors
            else _("{title}. Its numbers are in the table below.", title=title)
        ),
    )
    _downloads(view, shown, title, queries, keys)


def _shown(scene: Scene, chosen: Chosen, view: View) -> ShownAttention:
    """What the view draws: all layers, or the chosen one if they are too many for this sentence."""
    queries, keys = scene.axes(chosen.kind)
    layers = scene.attention(chosen.kind).weights  # (L, H, Q, K)
    has_all = max(len(queries), len(keys)) <= ALL_LAYERS_UP_TO[view]
    numbers = list(range(len(layers))) if has_all else [chosen.layer]
    vectors: tuple[np.ndarray, np.ndarray] | None = None
    if view == "neuron":
        site = SITES[chosen.kind].format(chosen.layer)
        found = scene.record(f"{site}.query", f"{site}.key")
        vectors = found[f"{site}.query"][None], found[f"{site}.key"][None]  # (1, H, ., E)
    return ShownAttention(
        layers[numbers],
        [visible(token) for token in queries.tokens],
        [visible(token) for token in keys.tokens],
        numbers,
        chosen.layer,
        chosen.head,
        vectors,
        causal=chosen.kind == "decoder" and not np.triu(layers[chosen.layer], k=1).any(),
    )


def _caption(scene: Scene, chosen: Chosen, shown: ShownAttention) -> str:
    kind = _(KINDS[chosen.kind])
    sides = (
        _("{kind}; left: the queries, named by what the row reads; right: the keys.", kind=kind)
        if scene.axes(chosen.kind)[0].predicts
        else _("{kind}; left: the queries; right: the keys.", kind=kind)
    )
    is_alone = len(shown.layers) < len(scene.attention(chosen.kind).weights)
    alone = [_("Layer {layer} alone.", layer=chosen.layer + 1)] if is_alone else []
    mouse = _("BertViz can be used with a mouse only; the picture of lines above also with the keyboard.")
    return " ".join([sides, *alone, mouse])


def _downloads(view: View, shown: ShownAttention, title: str, queries: TokenAxis, keys: TokenAxis) -> None:
    name, spoken = title.replace(":", ","), language()

    def html_file() -> str:
        with speaking(spoken):  # the file is made only when it is downloaded, so the language is kept until then
            return bertviz_html(view, shown, title, inline=True)  # in the light theme: it may be printed

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.download_button(
            _("Download as HTML"),
            html_file,
            f"{name}.html",
            "text/html",
            key="bertviz_html",
            on_click="ignore",
            help=_("One file that needs no network."),
        )
        download_and_table(
            key="bertviz",
            name=name,
            drawn=False,
            of=_("weights") if shown.vectors else "",
            table=lambda: heads_table(shown.weights, queries, keys, shown.layers),
        )
        if shown.vectors:
            own, others = shown.vectors
            download_and_table(
                key="bertviz_vectors",
                name=_("{name}, q and k", name=name),
                drawn=False,
                of=_("q and k"),
                table=lambda: vectors_table(own[0], others[0], queries, keys),
            )


def _limits(view: View) -> str:
    all_layers = ALL_LAYERS_UP_TO[view]
    if not all_layers:
        return _("It draws the chosen layer, up to {tokens} tokens.", tokens=MOST_TOKENS)
    return _(
        "Up to {few} tokens it draws all layers, up to {tokens} the chosen one.", few=all_layers, tokens=MOST_TOKENS
    )

"""Residual stream: what goes around the sub-layers, what each of them adds, and what LayerNorm does to it.

The paper's section 3.1. The stack and the token are chosen once, at the top, for all pictures.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from app.figures.axes import TokenAxis, visible
from app.figures.normalisation import before_and_after, moments_table
from app.figures.residual import (
    SubLayer,
    added_heatmap,
    added_table,
    relative,
    share_chart,
    share_table,
    shares,
    stream_chart,
    stream_table,
    sub_layers,
)
from app.session import is_dark
from app.source import lines_between
from app.theme import Role
from app.views.choose import decoder_step, source_token
from app.views.placed import placed
from app.views.stage import Scene, stage
from app.views.triplet import shape_text, triplet


@dataclass(frozen=True)
class Stream:
    """The stream of one stack at each of its U sub-layers; arrays of (U, R, D), R the tokens."""

    subs: tuple[SubLayer, ...]
    tokens: TokenAxis
    before: np.ndarray
    added: np.ndarray
    after: np.ndarray
    to_norm: np.ndarray
    normed: np.ndarray
    embedding: np.ndarray  # (R, D)


def page() -> None:
    """Draws the page from top to bottom."""
    scene = stage()
    if scene is None:
        return
    _pictures(scene)


@st.fragment
def _pictures(scene: Scene) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        stack: Role = st.segmented_control(
            "Stream of the",
            ["encoder", "decoder"],
            default="encoder",
            required=True,
            key="stream_of",
            bind="query-params",
        )
    stream = _recorded(scene, stack)
    row = source_token(scene, "Token") if stack == "encoder" else decoder_step(scene, "Row: reads → predicts")
    _lengths(scene, stream, row)
    _all_tokens(stream, row)
    if scene.config.norm == "pre":
        _made_of(stream, row)
    _norms(scene, stream, row)


def _recorded(scene: Scene, stack: Role) -> Stream:
    config = scene.config
    subs = sub_layers(stack, config.encoder_layers if stack == "encoder" else config.decoder_layers)
    names = ("residual_in", "output", "residual_sum", "norm_out")
    found = scene.record(f"{stack}.embedding.output", *(f"{stack}.layers.*.{name}" for name in names))
    before, added, after, normed = (np.stack([found[f"{sub.site}.{name}"] for sub in subs]) for name in names)
    to_norm = before if config.norm == "pre" else after
    tokens = scene.source if stack == "encoder" else scene.target
    return Stream(subs, tokens, before, added, after, to_norm, normed, found[f"{stack}.embedding.output"])


def _of_token(stream: Stream, row: int) -> str:
    """Which vector of the stream: where it is, and what the stack reads there."""
    return f"{stream.subs[0].stack}, position {row + 1}: {visible(stream.tokens.tokens[row])}"


def _lengths(scene: Scene, stream: Stream, row: int) -> None:
    st.header("A stream that every sub-layer adds to", anchor=False)
    before, added, after = (part[:, row] for part in (stream.before, stream.added, stream.after))
    title = f"Length of the stream, {_of_token(stream, row)}"
    placed(
        stream_chart(before, added, after, stream.subs, title=title, dark=is_dark()),
        key="stream",
        name=title,
        alt=f"{title}. It enters with length {np.linalg.norm(before[0]):.2f} and has {np.linalg.norm(after[-1]):.2f} "
        "after the last sub-layer; the table has each step.",
        table=partial(stream_table, before, added, after, stream.subs),
    )
    pre = scene.config.norm == "pre"
    st.caption(
        "A diamond is the next point of the line: nothing but the sum goes on. Lengths do not add up like numbers, "
        "because what is added points elsewhere; the table has the cosines."
        if pre
        else "LayerNorm stands on the stream itself: it takes each diamond, and the next point of the line is what "
        "comes out. So the stream cannot grow from layer to layer."
    )
    triplet(
        "section 3.1",
        r"x + \mathrm{Sublayer}(\mathrm{LayerNorm}(x))" if pre else r"\mathrm{LayerNorm}(x + \mathrm{Sublayer}(x))",
        "“We employ a residual connection around each of the two sub-layers, followed by layer normalization.” "
        + (
            "This checkpoint normalises what a sub-layer *reads* instead (pre-norm, as later work does), and leaves "
            "the stream alone."
            if pre
            else "The pass around the sub-layer lets a token's own vector through, whatever the sub-layer says."
        ),
        f"{stream.subs[0].site}.residual_sum",
        shape=shape_text((("S" if stream.subs[0].stack == "encoder" else "T"), "D"), scene.sizes),
        pre_norm=pre,
    )


def _all_tokens(stream: Stream, row: int) -> None:
    st.header("How much each sub-layer says, for every token", anchor=False)
    ratios = relative(stream.before, stream.added)
    title = f"What is added over what is there, {stream.subs[0].stack}: ‖Sublayer(x)‖ / ‖x‖"
    placed(
        added_heatmap(ratios, stream.tokens, stream.subs, row=row, title=title, dark=is_dark()),
        key="added",
        name=title,
        alt=f"{title}. Largest: {ratios.max():.2f}; mean: {ratios.mean():.2f}. The table has every number.",
        table=partial(added_table, ratios, stream.tokens, stream.subs),
    )
    st.caption("1.00: the sub-layer adds a vector as long as the stream. Near 0: it has nothing to say to this token.")


def _made_of(stream: Stream, row: int) -> None:
    st.header("What the last vector is made of", anchor=False)
    found = shares(np.concatenate([stream.embedding[row][None], stream.added[:, row]]))
    title = f"Shares of the last stream, {_of_token(stream, row)}"
    placed(
        share_chart(found, stream.subs, title=title, dark=is_dark()),
        key="shares",
        name=title,
        alt=f"{title}. The embedding makes up {found[0]:.0%}; the rest was written by the sub-layers.",
        table=partial(share_table, found, stream.subs),
    )
    st.caption(
        f"The bars sum to {found.sum():.4f}. Below zero: written against the direction in which the vector ends."
    )
    triplet(
        "section 3.1, summed over the layers",
        r"\begin{gathered}x_{last} = x_0 + \sum_u \mathrm{Sublayer}_u\\[4pt] \mathrm{share}_u = "
        r"\frac{\mathrm{Sublayer}_u \cdot x_{last}}{x_{last} \cdot x_{last}}\end{gathered}",
        "Where nothing normalises the stream itself, all that a stack computes is this sum. Each summand is drawn by "
        "how much of the last vector it accounts for.",
        lines_between("model/layers.py", "Residual.forward"),
    )


def _norms(scene: Scene, stream: Stream, row: int) -> None:
    st.header("LayerNorm, sub-layer by sub-layer", anchor=False)
    axis = TokenAxis("sub-layers", stream.subs[0].stack, tuple(sub.name for sub in stream.subs))
    before, after = stream.to_norm[:, row], stream.normed[:, row]
    title = f"Before and after each LayerNorm, {_of_token(stream, row)}"
    placed(
        before_and_after(before, after, axis, title=title, dark=is_dark()),
        key="moments",
        name=title,
        alt=f"{title}: mean and deviation; the table has the numbers.",
        table=partial(moments_table, before, after, axis),
    )
    triplet(
        "section 3.1 (Ba et al. 2016)",
        r"\mathrm{LayerNorm}(x) = \gamma\,\frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta",
        "However long the stream has become, what comes out of LayerNorm has the length that its learned gain γ "
        "gives it.",
        f"{stream.subs[0].site}.norm_out",
        pre_norm=scene.config.norm == "pre",
    )


page()

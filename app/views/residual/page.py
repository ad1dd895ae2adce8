"""Residual stream: what goes around the sub-layers, what each of them adds, and what LayerNorm does to it.

The paper's section 3.1.
"""

from functools import partial

import numpy as np
import streamlit as st

from app import components
from app.compute.layer_norms import norm_at
from app.figures.axes import TokenAxis, in_words, visible
from app.figures.row_statistics import before_and_after, moments_table
from app.figures.station_texts import dropped
from app.figures.strips import ENDS, of_norm
from app.figures.theme import counted, number
from app.library.source_code import lines_from
from app.stage.controls import STACKS, Stack
from app.stage.followed import attending_steps, opening_token
from app.stage.scene import Scene, scene_key
from app.stage.template import details, experiment, say
from app.state.choices import KIND, SOURCE_TOKEN, STEP, STREAM
from app.views.residual.flow import flow, largest_difference
from app.views.residual.stream import STREAM_SITES, Stream, relative, shares, stream, sub_layers, summands
from app.views.residual.stream_charts import (
    added_alt,
    added_heatmap,
    added_table,
    share_chart,
    share_table,
    stream_alt,
    stream_chart,
    stream_table,
)
from app.views.shared.placed import belongings, placed
from app.views.shared.triplet import shape_text, triplet
from app.views.shared.vector_strips import placed_strips
from transformer.model.attention_kinds import depth


def draw(scene: Scene) -> None:
    """Draws the page from top to bottom."""
    streams = {stack: _recorded(scene, stack) for stack in STACKS}
    axes = {"encoder": scene.source, "decoder": scene.target}
    stack: Stack = "decoder" if _opening(scene) == "decoder" else "encoder"
    row = _row(scene, stack)
    every, tokens, pre = streams[stack], axes[stack], scene.config.norm == "pre"
    one = every.of(row)
    start = "embedding" if scene.config.positions == "none" else "embedding + position"
    shown = scene_key(scene)
    whole = flow({name: (streams[name], axes[name]) for name in STACKS}, pre_norm=pre, start=start)
    components.held_data("flow", whole | {"scene": shown})
    with st.container(key="picture_flow"):
        components.residual_flow(
            {"scene": shown, "stack": stack, "row": row}, key="flow", on_choose=partial(_choose, scene)
        )
    _say(one, tokens, row, start, pre_norm=pre)
    experiment("Switch a sub-layer off: what does the translation lose?", experiment="heads")
    which = f"{stack}, position {row}: {visible(tokens.tokens[row])}"

    def draw_details() -> None:
        belongings(key="flow", name=f"Stream, {which}", table=partial(stream_table, one))
        _lengths(scene, one, which)
        _all_tokens(every, tokens, row, r"\mathrm{LayerNorm}(x)" if pre else "x")
        if pre:
            _made_of(start, one, which, _shape(scene, one))
        _norms(scene, one, row, which)

    details(draw_details)


def _opening(scene: Scene) -> str:
    """The stack of the shown token: the chosen one, or that of the queries of the kind that was chosen elsewhere."""
    if not STREAM.is_chosen and KIND.is_chosen and KIND.value != "encoder":
        return "decoder"
    return STREAM.value


def _row(scene: Scene, stack: Stack) -> int:
    """The shown token, from 0."""
    source = SOURCE_TOKEN.open(opening_token(scene))
    if stack == "encoder":
        return min(source, len(scene.source) - 1)
    attending = attending_steps(scene)
    return min(STEP.open(attending[min(source, len(attending) - 1)]), len(scene.target) - 1)


def _choose(scene: Scene, stack: str, row: int) -> None:
    """Chooses the token that was clicked."""
    for name, choice, tokens in (("encoder", SOURCE_TOKEN, scene.source), ("decoder", STEP, scene.target)):
        if stack == name and 0 <= row < len(tokens):
            STREAM.choose(name)
            choice.choose(row)


def _say(one: Stream, tokens: TokenAxis, row: int, start: str, *, pre_norm: bool) -> None:
    """What the picture shows, and how well the sum is met."""
    count, width = counted(len(one.subs), "sub-layer"), one.embedding.shape[-1]
    difference = number(largest_difference(one, pre_norm=pre_norm), 2)
    if pre_norm:
        said = (
            f"The last vector is the sum of the {start} and what {count} added (largest difference in {width} numbers: "
            f"{difference})."
        )
    else:
        said = (
            f"After each of {count}, LayerNorm normalises the sum of the stream and what was added (largest difference "
            f"from that sum: {difference}); the result is the new stream."
        )
    say(
        f"The picture shows the vector of the token “{in_words(tokens.tokens[row])}” in the {tokens.role}.",
        said,
        "Direction is the angle between the stream and the last vector.",
    )


def _recorded(scene: Scene, stack: Stack) -> Stream:
    config = scene.config
    subs = sub_layers(stack, depth(config, stack))
    sites = (f"{stack}.layers.*.{name}" for name in STREAM_SITES)
    return stream(scene.record(f"{stack}.embedding.output", *sites), subs, pre_norm=config.norm == "pre")


def _lengths(scene: Scene, one: Stream, which: str) -> None:
    st.header("A stream that every sub-layer adds to", anchor=False)
    title = f"Length of the stream, {which}"
    placed(
        stream_chart(one, title=title),
        key="stream",
        name=title,
        alt=stream_alt(one, title),
        table=partial(stream_table, one),
    )
    pre = scene.config.norm == "pre"
    st.caption(
        (
            "Each diamond is the next point of the line: the sum is the new stream. Lengths do not add up like "
            "numbers, because the added vector points in another direction; the table has the cosines."
            if pre
            else "LayerNorm is applied to the stream itself: its input is a diamond, and its output is the next point "
            "of the line. So the gain of each LayerNorm sets the length of the stream, whatever was added."
        )
        + " Positions count from 0, as pos in the formula of section 3.5."
    )
    triplet(
        "section 3.1",
        r"x + \mathrm{Sublayer}(\mathrm{LayerNorm}(x))" if pre else r"\mathrm{LayerNorm}(x + \mathrm{Sublayer}(x))",
        "“We employ a residual connection around each of the two sub-layers, followed by layer normalization.” "
        + (
            "This checkpoint normalises what a sub-layer *reads* instead (pre-norm, as later work does), and leaves "
            "the stream alone."
            if pre
            else "The residual connection passes on the token's own vector, whatever the sub-layer adds."
        )
        + dropped(scene.config)["dropped"],
        f"{one.subs[0].site}.residual_sum",
        shape=_shape(scene, one),
        pre_norm=pre,
    )


def _shape(scene: Scene, one: Stream) -> str:
    """Of the whole stream, of which the picture shows a row."""
    return shape_text("SD" if one.subs[0].stack == "encoder" else "TD", scene.sizes)


def _all_tokens(every: Stream, tokens: TokenAxis, row: int, read: str) -> None:
    st.header("How much each sub-layer adds, for every token", anchor=False)
    ratios = relative(every)
    title = f"What is added over what is there, {every.subs[0].stack}: ‖Sublayer‖ / ‖x‖"
    placed(
        added_heatmap(ratios, tokens, every.subs, row=row, title=title),
        key="added",
        name=title,
        alt=added_alt(ratios, title),
        table=partial(added_table, ratios, tokens, every.subs),
    )
    rows = "S" if every.subs[0].stack == "encoder" else "T"
    triplet(
        "a measure of what a sub-layer adds",
        rf"\frac{{\lVert \mathrm{{Sublayer}}({read}) \rVert}}{{\lVert x \rVert}}",
        "1.00: the sub-layer adds a vector as long as the stream. Near 0: it adds almost nothing for this token.",
        lines_from(relative, "lengths =", "return"),
        shape=shape_text((rows, "sub-layers"), ratios.shape),
        in_paper=False,
    )


def _made_of(start: str, one: Stream, which: str, shape: str) -> None:
    st.header("What the last vector is made of", anchor=False)
    found = shares(summands(one))
    title = f"Shares of the last stream, {which}"
    placed(
        share_chart(found, start, one.subs, title=title),
        key="shares",
        name=title,
        alt=f"{title}. The {start} makes up {found[0]:.0%}; the rest was written by the sub-layers.",
        table=partial(share_table, found, start, one.subs),
    )
    st.caption(f"The bars sum to {found.sum():.2%}. Below zero: opposite to the direction of the last vector.")
    triplet(
        "section 3.1, summed over the layers",
        r"\begin{gathered}x_{last} = x_0 + \sum_u \mathrm{Sublayer}_u\\[4pt] \mathrm{share}_u = "
        r"\frac{\mathrm{Sublayer}_u \cdot x_{last}}{x_{last} \cdot x_{last}}\end{gathered}",
        "Where nothing normalises the stream itself, all that a stack computes is this sum. Each summand is drawn by "
        "how much of the last vector it accounts for.",
        lines_from(shares, "exact =", "return"),
        shape=shape,
    )


def _norms(scene: Scene, one: Stream, row: int, which: str) -> None:
    st.header("LayerNorm, sub-layer by sub-layer", anchor=False)
    stack, names = one.subs[0].stack, [sub.name for sub in one.subs]
    sites = [f"{sub.site}.norm_out" for sub in one.subs]
    before, after = one.to_norm, one.normed  # (U, D)
    if scene.config.norm == "pre":  # one more on top of the stack
        top = scene.record(f"{stack}.norm_out")[f"{stack}.norm_out"][row]  # (D)
        before, after = np.vstack([before, one.after[-1]]), np.vstack([after, top])  # (U + 1, D)
        names.append("the last")
        sites.append(f"{stack}.norm_out")
    learned = [norm_at(scene.subject, site) for site in sites]
    axis = TokenAxis("sub-layers", stack, tuple(names))
    title = f"Before and after each LayerNorm, {which}"
    placed(
        before_and_after(before, after, axis, title=title),
        key="moments",
        name=title,
        alt=f"{title}: mean and deviation, each at its own scale; the table has the numbers.",
        table=partial(moments_table, before, after, axis, learned),
    )
    placed_strips(
        of_norm(before[-1], after[-1], learned[-1]),
        key="last_norm",
        title=f"The last of them, number by number, {which}",
    )
    st.caption(f"The colours of each strip {ENDS} Step by step has these strips for every LayerNorm.")
    triplet(
        "section 3.1 (Ba et al. 2016)",
        r"\mathrm{LayerNorm}(x) = \gamma\,\frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta",
        "However long the stream has become, every row gets mean 0 and deviation 1, so the length √d_model; then the "
        "learned gain γ and shift β stretch and move it.",
        f"{one.subs[0].site}.norm_out",
        shape=_shape(scene, one),
        pre_norm=scene.config.norm == "pre",
    )

"""Residual stream: what goes around the sub-layers, what each one adds, what LayerNorm does (paper, section 3.1)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from app import components
from app.compute.edited_cells import edited_rows
from app.figures.axes import TokenAxis, in_words
from app.figures.station_texts import dropped
from app.languages import _
from app.library.source_code import lines_from
from app.stage.controls import STACKS
from app.stage.followed import attending_steps, opening_token
from app.stage.scene import Scene, scene_key
from app.stage.template import details, experiment, say
from app.state.choices import KIND, SOURCE_TOKEN, STEP, STREAM, SUB_LAYER
from app.views.residual.flow import flow
from app.views.residual.norms_section import norms
from app.views.residual.sentences import (
    about_diamonds,
    about_norms,
    sentences,
    where_the_sum_begins,
)
from app.views.residual.stream import (
    STREAM_SITES,
    Stream,
    relative,
    shares,
    sites_after,
    stream,
    sub_layers,
    summands,
)
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
from app.views.shared.parts_off import off_parts, take_away
from app.views.shared.shapes import length_letter, shape_text
from app.views.shared.show_figure import download_and_table, show_figure
from app.views.shared.triplet import triplet
from transformer.analysis.edits import PositionsOff
from transformer.analysis.edits.checks import Stack
from transformer.model.attention_kinds import depth


def draw(scene: Scene) -> None:
    """Draws the page from top to bottom."""
    streams = {stack: _recorded(scene, stack) for stack in STACKS}
    axes = {"encoder": scene.source, "decoder": scene.target}
    stack = _opening()
    row = _row(scene, stack)
    every, tokens, pre = streams[stack], axes[stack], scene.config.norm == "pre"
    one = every.of(row)
    starts = {stack: _starts(scene, stack, streams[stack]) for stack in STACKS}
    start = starts[stack][row]
    shown = scene_key(scene)
    original = replace(scene, subject=scene.subject.original)
    unedited = {stack: _recorded(original, stack) for stack in STACKS} if scene.subject.edits else {}
    whole = flow({name: (streams[name], axes[name]) for name in STACKS}, unedited, pre_norm=pre, starts=starts)
    components.held_data("flow", whole | {"scene": shown})
    state = {"scene": shown, "stack": stack, "row": row, "part": SUB_LAYER.value, "off": off_parts(scene.config)}
    with st.container(key="picture_flow"):
        components.residual_flow(state, key="flow", on_choose=partial(_choose, scene, streams, stack))
    say(*sentences(scene, one, tokens, row, start))
    experiment(
        _("Switch other sub-layers off, or their residual connections: what is lost?"),
        experiment="heads",
        taken="residual",
    )
    which = _(
        "{stack}, position {position}: {token}", stack=_(stack), position=row + 1, token=in_words(tokens.tokens[row])
    )

    def draw_details() -> None:
        download_and_table(key="flow", name=_("Stream, {token}", token=which), table=partial(stream_table, one))
        _lengths(scene, one, which)
        _all_tokens(every, tokens, row, r"\mathrm{LayerNorm}(x)" if pre else "x")
        if pre:
            _made_of(start, one, which, _shape(scene, one))
        norms(scene, one, row, which)

    details(draw_details)


def _opening() -> Stack:
    """The stack of the shown token: the stack that was chosen on this page; else, if a kind of attention was chosen on
    another page, the stack of its queries; else the encoder."""
    if not STREAM.is_chosen and KIND.is_chosen and KIND.value != "encoder":
        return "decoder"
    return "decoder" if STREAM.value == "decoder" else "encoder"


def _row(scene: Scene, stack: Stack) -> int:
    """The shown token, from 0."""
    source = SOURCE_TOKEN.open(opening_token(scene))
    if stack == "encoder":
        return min(source, len(scene.source) - 1)
    attending = attending_steps(scene)
    return min(STEP.open(attending[min(source, len(attending) - 1)]), len(scene.target) - 1)


def _choose(scene: Scene, streams: Mapping[Stack, Stream], shown: Stack, name: str, index: int) -> None:
    """Handles a click: chooses a token or a sub-layer, or takes a part of the model away or puts it back.

    If `name` is a stack, `index` is the token; if it is "part", `index` is the sub-layer. If it is the text of an edit,
    `index` is 1 to take its part away and 0 to put it back, and the sub-layer of that part is chosen, too.
    """
    if name == "part" and index < len(streams[shown].subs):
        SUB_LAYER.choose(index)
    for stack, choice, tokens in (("encoder", SOURCE_TOKEN, scene.source), ("decoder", STEP, scene.target)):
        if name == stack and 0 <= index < len(tokens):
            if name != shown:
                SUB_LAYER.forget()
            STREAM.choose(name)
            choice.choose(index)
    edited = {
        text: place for every in streams.values() for place, sub in enumerate(every.subs) for text in sub.edits.values()
    }
    if name in edited:
        SUB_LAYER.choose(edited[name])
        take_away(scene.config, name, bool(index))


def _recorded(scene: Scene, stack: Stack) -> Stream:
    config, pre = scene.config, scene.config.norm == "pre"
    subs = sub_layers(stack, depth(config, stack))
    sites = (f"{stack}.layers.*.{name}" for name in STREAM_SITES)
    found = scene.record(f"{stack}.embedding.output", *sites)
    shape = (len(found[f"{stack}.embedding.output"]), config.d_model)
    replaced = np.stack([edited_rows(scene.subject, site, shape) for site in sites_after(subs, pre_norm=pre)])
    return stream(found, subs, pre_norm=pre, replaced=replaced)


def _starts(scene: Scene, stack: Stack, every: Stream) -> list[str]:
    """What the stream of each token starts with, in words."""
    has_none = scene.config.positions == "none" or PositionsOff(stack) in scene.subject.edits
    usual = _("embedding") if has_none else _("embedding + position")
    return [_("vector of another sentence") if replaced else usual for replaced in every.replaced[0]]


def _lengths(scene: Scene, one: Stream, which: str) -> None:
    st.header(_("A stream that every sub-layer adds to"), anchor=False)
    title = _("Length of the stream, {token}", token=which)
    show_figure(
        stream_chart(one, pre_norm=scene.config.norm == "pre", title=title),
        key="stream_lengths",
        name=title,
        alt=stream_alt(one, title),
        table=partial(stream_table, one),
    )
    pre = scene.config.norm == "pre"
    st.caption(about_diamonds(one) if pre else about_norms(one))
    papers = _("“We employ a residual connection around each of the two sub-layers, followed by layer normalization.”")
    ours = (
        _(
            "This checkpoint normalises what a sub-layer *reads* instead (pre-norm, as later work does), and leaves "
            "the stream alone."
        )
        if pre
        else _("The residual connection passes on the token's own vector, whatever the sub-layer adds.")
    )
    triplet(
        _("pre-norm; in section 3.1 the sum is normalised") if pre else _("section 3.1"),
        r"x + \mathrm{Sublayer}(\mathrm{LayerNorm}(x))" if pre else r"\mathrm{LayerNorm}(x + \mathrm{Sublayer}(x))",
        f"{papers} {ours}" + dropped(scene.config)["dropped"],
        f"{one.subs[0].site}.residual_sum",
        shape=_shape(scene, one),
        pre_norm=pre,
        origin="elsewhere" if pre else "paper",
    )


def _shape(scene: Scene, one: Stream) -> str:
    """The shape of the whole stream; the picture shows one row of it."""
    return shape_text((length_letter(one.subs[0].stack), "D"), scene.sizes)


def _all_tokens(every: Stream, tokens: TokenAxis, row: int, read: str) -> None:
    st.header(_("How much each sub-layer adds, for every token"), anchor=False)
    ratios = relative(every)
    title = _("What is added over what is there, {stack}: ‖Sublayer‖ / ‖x‖", stack=_(every.subs[0].stack))
    show_figure(
        added_heatmap(ratios, tokens, every.subs, row=row, title=title),
        key="added",
        name=title,
        alt=added_alt(ratios, title),
        table=partial(added_table, ratios, tokens, every.subs),
    )
    rows = length_letter(every.subs[0].stack)
    triplet(
        _("a measure of what a sub-layer adds"),
        rf"\frac{{\lVert \mathrm{{Sublayer}}({read}) \rVert}}{{\lVert x \rVert}}",
        _("1.00: the sub-layer adds a vector as long as the stream. Near 0: it adds almost nothing for this token."),
        lines_from(relative, "lengths =", "return"),
        shape=shape_text((rows, _("sub-layers")), ratios.shape),
        origin="elsewhere",
    )


def _made_of(start: str, one: Stream, which: str, shape: str) -> None:
    st.header(_("What the last vector is made of"), anchor=False)
    start = _("vector of another sentence") if one.replaced.any() else start
    found = shares(summands(one))
    title = _("Shares of the last stream, {token}", token=which)
    show_figure(
        share_chart(found, start, one.subs, title=title),
        key="shares",
        name=title,
        alt=_(
            "{title}. The {start} makes up {share:.0%}; the rest was written by the sub-layers.",
            title=title,
            start=start,
            share=found[0],
        ),
        table=partial(share_table, found, start, one.subs),
    )
    bars = _("The bars sum to {sum:.2%}. Below zero: opposite to the direction of the last vector.", sum=found.sum())
    st.caption(f"{bars} {where_the_sum_begins(one)}".strip())
    triplet(
        _("section 3.1, summed over the layers"),
        r"\begin{gathered}x_{last} = x_0 + \sum_u \mathrm{Sublayer}_u\\[4pt] \mathrm{share}_u = "
        r"\frac{\mathrm{Sublayer}_u \cdot x_{last}}{x_{last} \cdot x_{last}}\end{gathered}",
        _(
            "Where nothing normalises the stream itself, all that a stack computes is this sum. Each summand is drawn "
            "by how much of the last vector it accounts for."
        ),
        lines_from(shares, "exact =", "return"),
        shape=shape,
        origin="derived",
    )

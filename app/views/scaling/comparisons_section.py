"""Section of the page Scaling and softmax: how many comparisons all heads make for a sentence, how many matter."""

from functools import partial

import streamlit as st

from app.figures.tables import for_reading
from app.languages import _
from app.languages.numbers import formatted
from app.stage.scene import Scene
from app.stage.section import section
from app.state.choices import COUNTS_ABOVE
from app.views.scaling.comparisons import Counted, count, count_table, share_curves, share_table
from app.views.scaling.layer_times_section import layers_measured
from app.views.scaling.layer_types import layer_types
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet
from transformer.model.attention_kinds import KINDS, Kind

THRESHOLDS = [0.001, 0.01, 0.05, 0.1, 0.5]


@section
def all_comparisons(scene: Scene) -> None:
    """Draws the section: the comparisons of all kinds, layers and heads, and a choice of the threshold."""
    st.header(_("Every query with every key"), anchor=False)
    of, each = _("self-attention: "), _("a layer")
    triplet(
        _("section 4, table 1"),
        rf"\text{{{of}}} O(n^2\cdot d)\ \text{{{each}}}",
        _(
            "Each head of each layer compares every query with every key: n × n scores. That is brute force, in one "
            "matrix product. Many cells then get next to no weight; which ones, only the scores can tell."
        ),
        "encoder.layers.0.self_attention.products",
        shape=shape_text("HSS", scene.sizes),
    )
    table_1(scene)
    layers_measured(scene)
    threshold, counted = counted_cells(scene)
    st.table(for_reading(count_table(counted, threshold)), border="horizontal")


def table_1(scene: Scene) -> None:
    """Draws table 1 of the paper, with the numbers of this sentence."""
    n, d = len(scene.source), scene.config.d_model
    st.caption(
        _(
            "Table 1 of the paper for this sentence: n = {n} tokens, vectors of d = {d} numbers. Operations are "
            "counted up to a constant factor.",
            n=n,
            d=d,
        )
    )
    st.table(layer_types(n, d), border="horizontal")


def counted_cells(scene: Scene) -> tuple[float, dict[Kind, Counted]]:
    """Draws a choice of the threshold, and a chart of the cells with a larger weight.

    Returns the threshold and the counts by kind of attention.
    """
    COUNTS_ABOVE.open(allowed=THRESHOLDS)
    label = _("A cell counts if its weight is above")
    st.segmented_control(
        label,
        THRESHOLDS,
        format_func=partial(formatted, form="g"),
        required=True,
        key=COUNTS_ABOVE.key,
        persist_state="session",
    )
    threshold = COUNTS_ABOVE.value
    found = {kind: scene.attention(kind) for kind in KINDS}
    weights = {kind: each.weights for kind, each in found.items()}  # (L, H, Q, K) each
    # Trap: an edit may change the mask of one layer or head alone. Test:
    # test_cells_that_an_edit_forbids_in_one_head_are_counted_there_alone
    masks = {kind: each.masks for kind, each in found.items()}  # (L, H, Q, K) each
    counted = {kind: count(weights[kind], masks[kind], threshold) for kind in weights}
    cells, allowed, above = (sum(getattr(c, n) for c in counted.values()) for n in ("cells", "allowed", "above"))
    show_figure(
        share_curves(weights, masks, threshold),
        key="shares",
        name=_("How many cells get any attention"),
        alt=_(
            "This sentence makes {cells:,} comparisons; {above:,} of {allowed:,} allowed cells have a weight above "
            "{threshold:g}.",
            cells=cells,
            above=above,
            allowed=allowed,
            threshold=threshold,
        ),
        table=lambda: share_table(weights, masks),
    )
    st.markdown(
        _(
            "This sentence: **{cells:,} comparisons** over all layers and heads, {allowed:,} of them allowed by the "
            "masks, and **{above:,} cells ({share:.0%})** with a weight above {threshold:g}. A sentence twice as long: "
            "{longer:,}.",
            cells=cells,
            allowed=allowed,
            above=above,
            share=above / max(allowed, 1),
            threshold=threshold,
            longer=4 * cells,
        )
    )
    return threshold, counted

"""Scaling and softmax: why scores are divided by sqrt(d_k) (paper, section 3.2.1), and what all the comparing costs."""

from functools import partial

import numpy as np
import streamlit as st

from app import components
from app.figures.tables import for_reading
from app.figures.theme import number
from app.library.source_code import lines_from, together
from app.stage.controls import controls
from app.stage.heads import QUERIES as QUERIES_OF
from app.stage.heads import SHORT, chosen_head
from app.stage.scene import Scene
from app.stage.section import section
from app.stage.template import details, say
from app.state.choices import COUNTS_ABOVE, KIND, WIDTH_OF_HEAD
from app.views.scaling.additive_section import additive
from app.views.scaling.comparisons import count, count_table, share_curves, share_table
from app.views.scaling.scaling_charts import (
    curve,
    curve_table,
    facts_table,
    histograms,
    random_histograms,
    random_row,
    row_table,
    rows_table,
    scores_table,
    strongest_of_rows,
)
from app.views.scaling.softmax import (
    KEYS,
    QUERIES,
    jacobian_norms,
    random_products,
    random_sharpness,
    sharpness,
    softmax,
)
from app.views.scaling.softmax_message import softmax_message, table_of, widths_of
from app.views.shared.placed import belongings, placed
from app.views.shared.triplet import shape_text, triplet
from transformer.model.attention_kinds import KINDS, SITES, Kind

THRESHOLDS = [0.001, 0.01, 0.05, 0.1, 0.5]


def draw(scene: Scene) -> None:
    """Draws the page from top to bottom."""
    kind = KIND.open("cross", KINDS)
    layer, head = chosen_head(scene, kind)
    own = scene.config.d_k
    width = int(WIDTH_OF_HEAD.open(own, widths_of(own)))
    queries, keys = scene.axes(kind)
    query = min(QUERIES_OF[kind].open(0), len(queries) - 1)
    site = SITES[kind].format(layer)
    found = scene.record(f"{site}.products", f"{site}.mask")
    tensors = {name: found[f"{site}.{name}"][head] for name in ("products", "mask")}
    message = softmax_message(kind, (queries, keys), tensors, own, (width, query))
    with st.container(key="picture_softmax_scene"):
        components.softmax_scene(message, key="softmax_scene", on_choose=partial(_choose, kind, own))
    belongings(key="softmax_scene", name="Dot products of a random query", table=lambda: table_of(message))
    say(
        "A dot product adds d_k terms, so its size grows with the square root of d_k.",
        "With large scores, the softmax gives almost all weight to one key, and almost no gradient is left for "
        "training.",
        "Divided by √d_k, the scores have the same size for every d_k: move the slider and compare.",
    )
    details(lambda: _details(scene))


def _choose(kind: Kind, own: int, name: str, place: int) -> None:
    """In the picture another width or another query was chosen."""
    if name == "width":
        WIDTH_OF_HEAD.choose(widths_of(own)[place])
    else:
        QUERIES_OF[kind].choose(place)


def _details(scene: Scene) -> None:
    _random()
    _chosen_head(scene)
    _comparisons(scene)


def _random() -> None:
    st.header("Random queries and keys: what √d_k does", anchor=False)
    d_k = int(WIDTH_OF_HEAD.value)
    without, divided = random_sharpness(d_k)
    left, right = st.columns(2, gap="medium")
    products = random_products(d_k).ravel()
    with left:
        placed(
            random_histograms(d_k),
            key="histogram",
            name=f"Dot products of random vectors, d_k {d_k}",
            alt=f"Dot products of random vectors of width {d_k} have variance {number(without.variance)}; divided by "
            f"√{d_k} they have variance {number(divided.variance)}.",
            table=lambda: scores_table(products, products / np.sqrt(d_k)),
        )
    with right:
        placed(
            random_row(d_k),
            key="random_row",
            name=f"Softmax of a typical random query, d_k {d_k}",
            alt=f"Weights of a typical random query over {KEYS} keys. Strongest weight, mean over {QUERIES} queries: "
            f"{without.strongest:.2f} without the division, {divided.strongest:.2f} with it.",
            table=lambda: row_table(d_k),
        )
    triplet(
        "section 3.2.1 and footnote 4",
        r"\begin{gathered}\mathrm{Var}(q\cdot k)=d_k\\[4pt]"
        r"\frac{\partial p_i}{\partial s_j}=p_i\,(\delta_{ij}-p_j)\end{gathered}",
        "“We suspect that for large values of d_k, the dot products grow large in magnitude, pushing the softmax "
        "function into regions where it has extremely small gradients. To counteract this effect, we scale the dot "
        "products by 1/√d_k.”",
        together(
            lines_from(random_products, "query =", "products:"),
            lines_from(random_sharpness, "return"),
            lines_from(jacobian_norms, "jacobian =", "norms:"),
        ),
        shape=shape_text("QK", (QUERIES, KEYS)),
    )
    for column, what, title in zip(
        st.columns(3, gap="medium"),
        ("variance", "strongest", "gradient"),
        ("Variance of the scores", "Strongest weight of a row", "Gradient of the softmax"),
        strict=True,
    ):
        values = [getattr(found, what) for found in (without, divided)]
        with column:
            placed(
                curve(what, d_k, title=title),
                key=f"curve_{what}",
                name=title,
                alt=f"{title} over d_k from 1 to 1,024. At d_k = {d_k}: {number(values[0])} without the division, "
                f"{number(values[1])} with it.",
                table=lambda: curve_table(d_k),
            )
    st.caption(
        f"{QUERIES} random queries with {KEYS} keys each, components N(0, 1), always the same seed; the single "
        "one has the median of their strongest weights, without the division. The gradient is the Frobenius norm of "
        "the softmax's Jacobian, mean over the queries."
    )


def _chosen_head(scene: Scene) -> None:
    st.header("This checkpoint's own scores", anchor=False)
    kind, layer, head = controls(scene).kind_layer_head()
    site = SITES[kind].format(layer)
    names = ("products", "scores", "mask", "weights", "query", "key")
    found = scene.record(*(f"{site}.{name}" for name in names))
    products, scores, mask, weights, query, key = (found[f"{site}.{name}"][head] for name in names)
    queries, keys = scene.axes(kind)
    where = f"{KINDS[kind]}, layer {layer + 1}, head {head + 1}"
    short = f"{SHORT[kind].lower()}, layer {layer + 1}, head {head + 1}"
    d_k = scene.config.d_k
    without = softmax(products, mask)
    triplet(
        "section 3.2.1, equation 1",
        r"\mathrm{Attention}(Q,K,V)=\mathrm{softmax}\!\left(\frac{QK^{\top}}{\sqrt{d_k}}\right)V",
        f"Here d_k = d_model / h = {scene.config.d_model} / {scene.config.heads} = {d_k}, so scores are divided by "
        f"√{d_k} = {number(d_k**0.5)}. The model was trained with the division; what the softmax would give without it "
        "is computed here from the very same products.",
        f"{site}.scores",
        shape=shape_text(("Q", "K"), products.shape),
    )
    before, after = sharpness(products, mask), sharpness(scores, mask)
    left, right = st.columns(2, gap="medium")
    with left:
        placed(
            histograms(products[mask], scores[mask], title=f"Scores, {short}"),
            key="head_histogram",
            name=f"{where} - scores",
            alt=f"{where}: the scores have variance {number(before.variance)} before the division and "
            f"{number(after.variance)} after it.",
            table=lambda: scores_table(products[mask], scores[mask]),
        )
    with right:
        placed(
            strongest_of_rows(without, weights, queries, title=f"Strongest of each row, {short}"),
            key="head_rows",
            name=f"{where} - strongest weights",
            alt=f"{where}: the strongest weight of a row is {before.strongest:.2f} on average without the division and "
            f"{after.strongest:.2f} with it.",
            table=lambda: rows_table(without, weights, queries),
        )
    st.table(facts_table(before, after), border="horizontal")
    additive(scene, where, (queries, keys), (query, key), scores, mask, weights)


@section
def _comparisons(scene: Scene) -> None:
    st.header("Every query with every key", anchor=False)
    triplet(
        "section 4, table 1",
        r"\text{self-attention: } O(n^2\cdot d)\ \text{a layer}",
        "Each head of each layer compares every query with every key: n × n scores. That is brute force, in one matrix "
        "product. Many cells then get next to no weight; which ones, only the scores can tell.",
        "encoder.layers.0.self_attention.products",
        shape=shape_text("HSS", scene.sizes),
    )
    COUNTS_ABOVE.open(allowed=THRESHOLDS)
    label = "A cell counts if its weight is above"
    st.segmented_control(label, THRESHOLDS, required=True, key=COUNTS_ABOVE.key, persist_state="session")
    threshold = COUNTS_ABOVE.value
    patterns = {kind: SITES[kind].format("*") for kind in KINDS}
    found = scene.record(*(f"{site}.{name}" for site in patterns.values() for name in ("weights", "mask")))
    layers = {"encoder": scene.config.encoder_layers}
    weights, masks = {}, {}
    for kind, pattern in patterns.items():
        sites = [pattern.replace("*", str(i)) for i in range(layers.get(kind, scene.config.decoder_layers))]
        weights[str(kind)] = np.stack([found[f"{site}.weights"] for site in sites])  # (L, H, Q, K)
        masks[str(kind)] = found[f"{sites[0]}.mask"][0]  # (Q, K)
    counted = {kind: count(weights[kind], masks[kind], threshold) for kind in weights}
    cells, allowed, above = (sum(getattr(c, n) for c in counted.values()) for n in ("cells", "allowed", "above"))
    placed(
        share_curves(weights, masks, threshold),
        key="shares",
        name="How many cells get any attention",
        alt=f"This sentence makes {cells:,} comparisons; {above:,} of {allowed:,} allowed cells have a weight above "
        f"{threshold:g}.",
        table=lambda: share_table(weights, masks),
    )
    st.markdown(
        f"This sentence: **{cells:,} comparisons** over all layers and heads, {allowed:,} of them allowed by the "
        f"masks, and **{above:,} cells ({above / max(allowed, 1):.0%})** with a weight above {threshold:g}. "
        f"A sentence twice as long: {4 * cells:,}."
    )
    st.table(for_reading(count_table(counted, threshold)), border="horizontal")

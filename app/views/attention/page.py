"""Attention: the canvas, on which one finds and chooses heads. It opens with how the words of the sentence attend to
each other (encoder self-attention), as a matrix: one row for each word.

In the details: each head in numbers, and what several of them add up to. What goes beyond one head is in tabs at the
end, each computed only while it is open.
"""

from functools import partial

import streamlit as st

from app import components
from app.components.canvas import Head, Setting
from app.components.chart import Point
from app.compute import cached_results
from app.figures.axes import TokenAxis
from app.figures.head_sharpness import even_entropy
from app.figures.mask_reasons import key_name, row_name
from app.figures.shown_weights import Naming, Options, Shown, shown
from app.figures.theme import number
from app.library.source_code import lines_from
from app.pages import go_to
from app.stage.controls import row_of_tokens
from app.stage.heads import KEYS, QUERIES
from app.stage.scene import Scene
from app.stage.template import details
from app.state.choices import HIDE_SPECIAL, NAMING, NAMING_OF_WORDS, ONE_ROW, TAB, WORDS, choose_head
from app.views.attention.alignment_tab import alignment
from app.views.attention.bertviz_tab import bertviz
from app.views.attention.head_ranking import head_numbers, head_ranking, ranking_csv
from app.views.attention.rollout_tab import rollout_pictures
from app.views.shared.buttons import buttons
from app.views.shared.canvas_picture import canvas_download, draw_canvas
from app.views.shared.head_pictures import Chosen, explained, facts, lines, matrix, matrix_numbers, overview
from app.views.shared.triplet import shape_text, triplet
from transformer.model.attention_kinds import KINDS, SITES, Kind

NAMINGS: dict[Naming, str] = {"both": "both", "reads": "reads", "predicts": "predicts"}
WORD_NAMINGS: dict[Naming, str] = {"predicts": "predicts", "reads": "reads"}  # a word needs one of them
TABS = {"layers": "Across the layers", "alignment": "Word alignment", "bertviz": "BertViz"}
_TABS = "tabs"  # the key of the widget, whose values are the words


def draw(scene: Scene) -> None:
    """Draws the page."""
    head = draw_canvas(scene, key="canvas", opening="encoder", setting=Setting(below=4.2, form="matrix"))
    canvas_download(scene, head, key="canvas")
    details(partial(_details, scene, head))


def _details(scene: Scene, head: Head) -> None:
    """The options, all numbers of the heads, the chosen one in several forms, and what the heads add up to."""
    kind, layer = head.kind, head.layer
    found = scene.attention(kind)
    queries, keys = scene.axes(kind)
    options = _options(kind)
    now = shown(found.weights, found.mask, queries, keys, options)
    query = row_of_tokens(
        scene.source if kind == "encoder" else scene.target,
        QUERIES[kind],
        "Token" if kind == "encoder" else "Step t",
        key=f"pick_{QUERIES[kind].key}",
        then=_isolate,
    )
    chosen = Chosen(kind, layer, head.head, now, _isolated(query, now))
    st.caption(explained(kind, scene.config.attention_window))
    _said(chosen)

    st.header("All layers and heads", anchor=False)
    with st.container(key="head_overview"):
        left, right = st.columns([2, 3], gap="medium")
        with left:
            overview(chosen)
        with right:
            _ranking(found, keys, kind, layer, head.head)
    _numbers_in_code(found)

    st.header("One head", anchor=False)
    lines(chosen, several=True, on_pin=partial(_pinned, kind, now))
    triplet(
        "section 3.2.1, equation 1",
        r"A = \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right)",
        "Each row of A is one query's weights over all keys: the numbers below.",
        SITES[kind].format(layer) + ".weights",
        shape=shape_text("QK", now.weights.shape[2:]),
    )
    facts(chosen)
    _cells(found, chosen, (queries, keys), query)
    _more(scene, chosen, options)


def _options(kind: Kind) -> Options:
    """How the weights are shown. The same on every kind of attention, and in the address."""
    for choice in (HIDE_SPECIAL, WORDS, ONE_ROW):
        choice.open()
    with st.container(key="attention_options", horizontal=True, vertical_alignment="bottom", gap="medium"):
        hide = st.toggle(
            "Hide special tokens",
            key=HIDE_SPECIAL.key,
            persist_state="session",
            help="Takes `<s>` and `</s>` away and divides each row by what is left, so that it sums to 1 again. "
            "That is no longer what the model computed; the titles say so.",
        )
        words = st.toggle(
            "Words",
            key=WORDS.key,
            persist_state="session",
            help="Tokens are put together into words: rows are averaged, columns are summed, so each row still sums "
            "to 1. Punctuation at the end of a word stands alone.",
        )
        st.toggle(
            "One row alone" if kind == "encoder" else "Step t alone",
            key=ONE_ROW.key,
            persist_state="session",
            help="Isolates one row in all pictures: lines, overview, matrix. A click on a token of that side does the "
            "same.",
        )
        naming: Naming = "both"
        if kind != "encoder":
            naming = buttons(
                NAMING_OF_WORDS if words else NAMING,
                WORD_NAMINGS if words else NAMINGS,
                "Names of a row",
                help="Row t of the decoder reads token t and predicts token t + 1: the same row, two names. A word "
                "needs one of them.",
            )
    return Options(naming, hide, words)


def _isolate() -> None:
    ONE_ROW.choose(True)


def _isolated(query: int, now: Shown) -> int | None:
    """The row of the picture that is isolated, if one is."""
    if not ONE_ROW.value:
        return None
    row = now.row_of(query)
    if row is None:
        st.caption("This row is hidden: it belongs to a special token.")
    return row


def _pinned(kind: Kind, now: Shown, row: int | None, column: int | None) -> None:
    """A token was isolated among the lines: follow it in all pictures."""
    ONE_ROW.choose(row is not None)
    if row is not None:
        QUERIES[kind].choose(now.rows[row][0])
    if column is not None:
        KEYS[kind].choose(now.columns[column][0])


def _cells(found: cached_results.Attention, chosen: Chosen, sides: tuple[TokenAxis, TokenAxis], query: int) -> None:
    """The matrix, in which a click chooses a cell, and the way from the chosen one to its arithmetic."""
    kind, now, (queries, keys) = chosen.kind, chosen.shown, sides
    weights = found.weights[chosen.layer, chosen.head]  # (Q, K)
    key = min(KEYS[kind].open(int(weights[query].argmax())), len(keys) - 1)
    row, column = now.row_of(query), now.column_of(key)
    matrix(chosen, None if row is None or column is None else (row, column), partial(_clicked, kind, now))
    seen = f"with {number(float(weights[query, key]), 4)}" if found.mask[query, key] else "not at all: that is masked"
    with st.container(key="chosen_cell", horizontal=True, vertical_alignment="center", gap="small"):
        st.text(f"{row_name(queries, query)} attends to {key_name(keys, key)} {seen}.", width="content")
        if st.button("Work it out by hand", key="to_hand", type="tertiary", help="Every number of this weight."):
            go_to("hand")
    matrix_numbers(chosen)


def _clicked(kind: Kind, now: Shown, cell: Point) -> None:
    row, column = int(cell.y), int(cell.x)
    if 0 <= row < len(now.rows) and 0 <= column < len(now.columns):
        QUERIES[kind].choose(now.rows[row][0])
        KEYS[kind].choose(now.columns[column][0])


def _said(chosen: Chosen) -> None:
    """What was done to the weights, in words."""
    now = chosen.shown
    if now.hidden_share is not None and now.remarks:
        share = float(now.hidden_share[chosen.layer, chosen.head])
        columns = " ".join(f"`{token}`" for token in now.hidden_keys) or "none"
        rows = " ".join(f"`{token}`" for token in now.hidden_queries) or "none"
        text = (
            f"Hidden columns: {columns}; hidden rows: {rows}. On average {share:.0%} of a row of this head lay there; "
            "the rest of the row is divided by what is left."
        )
        if now.emptied:
            rows_ = "1 row stays" if now.emptied == 1 else f"{now.emptied} rows stay"
            text += f" {rows_} empty: nothing else could be seen from there."
        st.caption(text)
    elif now.remarks and now.remarks[0].startswith("special"):
        st.caption("There is nothing but special tokens here, so none is hidden.")


def _ranking(found: cached_results.Attention, keys: TokenAxis, kind: Kind, layer: int, head: int) -> None:
    numbers = head_numbers(found.weights, keys.tokens, itself=kind != "cross")
    label = f"Numbers of every head, {KINDS[kind]}"
    components.ranking(head_ranking(numbers, layer, head, label), key="ranking", on_choose=choose_head)
    st.caption(
        "Means over the rows, of the tokens as the model saw them. A title sorts, a row chooses the head. Entropy in "
        f"bits, at most {even_entropy(found.mask):.2f}; distance in tokens"
        + (" from the diagonal" if kind == "cross" else "")
        + "; sinks: special tokens and punctuation"
        + ("; aligned: the share of the source that is some row's strongest." if kind == "cross" else ".")
    )
    st.download_button(
        "CSV of all heads",
        lambda: ranking_csv(numbers),
        f"{label}.csv",
        "text/csv",
        key="ranking_csv",
        on_click="ignore",
    )


def _numbers_in_code(found: cached_results.Attention) -> None:
    with st.expander("How the numbers of a head are computed"):
        triplet(
            "numbers that describe a head, as analyses of attention use them",
            r"\text{entropy} = -\frac{1}{Q}\sum_{q,k} a_{qk}\log_2 a_{qk} \qquad "
            r"\text{distance} = \frac{1}{Q}\sum_{q,k} a_{qk}\,\lvert k - q \rvert",
            "Each is a mean over the rows of the weights a. In encoder-decoder attention the distance is that from the "
            "place of the row on the diagonal.",
            lines_from(head_numbers, "return {", "}"),
            shape="weights: " + shape_text("NHQK", found.weights.shape),
            in_paper=False,
        )


def _more(scene: Scene, chosen: Chosen, options: Options) -> None:
    st.session_state[_TABS] = TABS[TAB.open(allowed=TABS)]
    tabs = st.tabs(list(TABS.values()), key=_TABS, on_change=_tab_chosen)
    if tabs[0].open:
        with tabs[0]:
            rollout_pictures(scene, chosen, options)
    if tabs[1].open:
        with tabs[1]:
            alignment(scene, chosen)
    if tabs[2].open:
        with tabs[2]:
            bertviz(scene, chosen)


def _tab_chosen() -> None:
    TAB.choose(next(key for key, words in TABS.items() if words == st.session_state[_TABS]))

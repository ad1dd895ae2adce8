"""Attention: the canvas, on which one finds and chooses heads. It opens with how the words of the sentence attend to
each other (encoder self-attention), as a matrix: one row for each word.

The details show numbers of every head, then one head in several forms. Tabs at the end show what several heads compute
together; a tab is computed only while it is open.
"""

from functools import partial

import streamlit as st

from app import components
from app.components.canvas import Head, Setting
from app.components.chart import Point
from app.compute import cached_results
from app.figures.axes import TokenAxis
from app.figures.head_numbers import head_numbers
from app.figures.head_sharpness import even_entropy
from app.figures.mask_reasons import key_name, row_name
from app.figures.shown_weights import Options, Shown, shown
from app.figures.theme import number
from app.languages import _, gettext_noop
from app.library.source_code import lines_from
from app.pages import go_to
from app.stage.controls import row_of_tokens
from app.stage.heads import KEYS, QUERIES
from app.stage.question_card import predict
from app.stage.scene import Scene
from app.stage.template import details
from app.state.choices import ATTENTION_FORM, ONE_ROW, TAB
from app.state.events import choose_head
from app.views.attention.alignment_tab import alignment
from app.views.attention.bertviz_tab import bertviz
from app.views.attention.head_pictures import Chosen, explained, facts, lines, matrix
from app.views.attention.head_ranking import head_ranking, ranking_table
from app.views.attention.rollout_tab import rollout_pictures
from app.views.attention.weight_options import say_what_is_hidden, weight_options
from app.views.shared.canvas_picture import canvas_download, draw_canvas
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import download_and_table
from app.views.shared.triplet import triplet
from transformer.model.attention_kinds import KINDS, SITES, Kind

TABS = {
    "layers": gettext_noop("Across the layers"),
    "alignment": gettext_noop("Word alignment"),
    "bertviz": "BertViz",
}
_TABS = "tabs"  # the key of the widget; its values are the titles in the visitor's language


def draw(scene: Scene) -> None:
    """Draws the page."""
    head = draw_canvas(scene, key="canvas", opening="encoder", form=ATTENTION_FORM, setting=Setting(below=4.2))
    canvas_download(scene, head, key="canvas")
    predict(scene, "most-attended")
    details(partial(_details, scene, head))


def _details(scene: Scene, head: Head) -> None:
    """Draws the options, the numbers of all heads, the chosen head in several forms, and the tabs."""
    kind, layer = head.kind, head.layer
    found = scene.attention(kind)
    mask = found.masks[layer, head.head]  # (Q, K)
    queries, keys = scene.axes(kind)
    options = weight_options(kind)
    now = shown(found.weights, mask, queries, keys, options)
    query = row_of_tokens(
        scene.source if kind == "encoder" else scene.target,
        QUERIES[kind],
        _("Token") if kind == "encoder" else _("Step t"),
        key=f"pick_{QUERIES[kind].key}",
        then=_isolate,
    )
    chosen = Chosen(kind, layer, head.head, now, _isolated(query, now))
    st.caption(explained(kind, scene.subject.window, causal=scene.subject.has_causal_mask))
    say_what_is_hidden(chosen, options.hide_special)

    st.header(_("All heads in numbers"), anchor=False)
    _ranking(found, keys, kind, layer, head.head)
    _numbers_in_code(found)

    st.header(_("One head"), anchor=False)
    lines(chosen, several=True, on_pin=partial(_pinned, kind, now))
    triplet(
        _("section 3.2.1, equation 1"),
        r"A = \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right)",
        _("Each row of A is one query's weights over all keys: the numbers below."),
        SITES[kind].format(layer) + ".weights",
        shape=shape_text("QK", now.weights.shape[2:]),
    )
    facts(chosen)
    _cells(found, chosen, (queries, keys), query)
    _more(scene, chosen, options)


def _isolate() -> None:
    ONE_ROW.choose(True)


def _isolated(query: int, now: Shown) -> int | None:
    """The row of the picture that is isolated. None: no row is isolated, or the chosen row is hidden."""
    if not ONE_ROW.value:
        return None
    row = now.row_of(query)
    if row is None:
        st.caption(_("This row is hidden: it belongs to a special token."))
    return row


def _pinned(kind: Kind, now: Shown, row: int | None, column: int | None) -> None:
    """Chooses for all pictures the row or the column that was isolated in the picture of lines. None for both: no row
    is isolated any more."""
    ONE_ROW.choose(row is not None)
    if row is not None:
        QUERIES[kind].choose(now.rows[row][0])
    if column is not None:
        KEYS[kind].choose(now.columns[column][0])


def _cells(found: cached_results.Attention, chosen: Chosen, sides: tuple[TokenAxis, TokenAxis], query: int) -> None:
    """The matrix, in which a click chooses a cell, and a button that opens the calculation of that cell."""
    kind, now, (queries, keys) = chosen.kind, chosen.shown, sides
    weights = found.weights[chosen.layer, chosen.head]  # (Q, K)
    key = min(KEYS[kind].open(int(weights[query].argmax())), len(keys) - 1)
    row, column = now.row_of(query), now.column_of(key)
    matrix(chosen, None if row is None or column is None else (row, column), partial(_clicked, kind, now))
    place = {"row": row_name(queries, query), "column": key_name(keys, key)}
    weight = number(float(weights[query, key]), 4)
    sentence = (
        _("{row} attends to {column} with {weight}.", weight=weight, **place)
        if found.masks[chosen.layer, chosen.head, query, key]
        else _("{row} attends to {column} not at all: that is masked.", **place)
    )
    with st.container(key="chosen_cell", horizontal=True, vertical_alignment="center", gap="small"):
        st.text(sentence, width="content")
        if st.button(
            _("Work it out by hand"),
            key="to_hand",
            type="tertiary",
            help=_("Every number that makes this weight."),
        ):
            go_to("hand")


def _clicked(kind: Kind, now: Shown, cell: Point) -> None:
    row, column = int(cell.y), int(cell.x)
    if 0 <= row < len(now.rows) and 0 <= column < len(now.columns):
        QUERIES[kind].choose(now.rows[row][0])
        KEYS[kind].choose(now.columns[column][0])


def _ranking(found: cached_results.Attention, keys: TokenAxis, kind: Kind, layer: int, head: int) -> None:
    numbers = head_numbers(found.weights, keys.tokens, itself=kind != "cross")
    label = _("Numbers of every head, {kind}", kind=_(KINDS[kind]))
    components.ranking(head_ranking(numbers, layer, head, label), key="ranking", on_choose=choose_head)
    most = even_entropy(found.masks[layer, head])
    st.caption(
        _(
            "Means over the rows; hidden tokens count, too. A title sorts, a row chooses the head. Entropy in bits, at "
            "most {most:.2f}; distance in tokens from the diagonal; sinks: special tokens and punctuation; aligned: "
            "the share of the other source tokens on which at least one row has its largest weight.",
            most=most,
        )
        if kind == "cross"
        else _(
            "Means over the rows; hidden tokens count, too. A title sorts, a row chooses the head. Entropy in bits, at "
            "most {most:.2f}; distance in tokens; sinks: special tokens and punctuation.",
            most=most,
        )
    )
    download_and_table(key="ranking", name=label, table=lambda: ranking_table(numbers), drawn=False)


def _numbers_in_code(found: cached_results.Attention) -> None:
    entropy, distance = _("entropy"), _("distance")
    with st.expander(_("How the numbers of a head are computed")):
        triplet(
            _("numbers that describe a head, as analyses of attention use them"),
            rf"\text{{{entropy}}} = "
            r"-\frac{1}{Q}\sum_{q,k} a_{qk}\log_2 a_{qk} \qquad "
            rf"\text{{{distance}}} = "
            r"\frac{1}{Q}\sum_{q,k} a_{qk}\,\lvert k - q \rvert",
            _(
                "Each is a mean over the rows of the weights a. In encoder-decoder attention the distance is measured "
                "from the key where the diagonal crosses the row, q (K − 1) / (Q − 1) in place of q."
            ),
            lines_from(head_numbers, "return {", "}"),
            shape=_("weights: {shape}", shape=shape_text("NHQK", found.weights.shape)),
            origin="elsewhere",
        )


def _more(scene: Scene, chosen: Chosen, options: Options) -> None:
    st.session_state[_TABS] = _(TABS[TAB.open(allowed=TABS)])
    tabs = st.tabs([_(words) for words in TABS.values()], key=_TABS, on_change=_tab_chosen)
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
    TAB.choose(next(key for key, words in TABS.items() if _(words) == st.session_state[_TABS]))

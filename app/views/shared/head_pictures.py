"""Pictures of the chosen head that more than one page shows: all heads at a glance, lines, and the matrix."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from app import components
from app.components.chart import Point, chart
from app.figures.attention_lines import attention_lines
from app.figures.head_sharpness import head_facts
from app.figures.matrix import attention_matrix, matrix_alt, matrix_width
from app.figures.mosaic import LARGEST_TILE, head_mosaic, mosaic_table
from app.figures.panels import Cell
from app.figures.shown_weights import Shown
from app.figures.theme import counted
from app.state.choices import LINES_ON, choose_head
from app.views.shared.placed import belongings, matrix_belongings
from app.views.shared.triplet import shape_text
from transformer.model.attention_kinds import KINDS, Kind

_ROW = "A row is computed when the decoder *reads* one token and *predicts* the next."


def explained(kind: Kind, window: int | None) -> str:
    """Which query attends to which key; with a window, self-attention sees no further than that many positions."""
    if kind == "cross":
        return f"While the decoder writes each token, which tokens of the source does it attend to? {_ROW}"
    away = f"at most {window} {'position' if window == 1 else 'positions'} away"
    if kind == "encoder":
        those = "all tokens of the source" if window is None else f"those {away}"
        return f"Each token of the source attends to {those}."
    before = "the tokens before it" if window is None else f"the tokens before it, {away},"
    return f"Each token of the translation attends to {before} and to itself; later tokens are masked. {_ROW}"


def rows_sum(shown: Shown) -> str:
    """What each row of a picture sums to."""
    return "Each row sums to 1" + (", except empty rows." if shown.emptied else ".")


@dataclass(frozen=True)
class Chosen:
    """A head and what is shown of it."""

    kind: Kind
    layer: int  # from 0
    head: int  # from 0
    shown: Shown  # of all heads of this kind
    row: int | None = None  # the row that is isolated

    @property
    def title(self) -> str:
        return f"{KINDS[self.kind]}, layer {self.layer + 1}, head {self.head + 1}{self.shown.suffix}"

    @property
    def alt(self) -> str:
        shown = self.shown
        return matrix_alt(shown.weights[self.layer, self.head], shown.queries, shown.keys, self.title)


def overview(chosen: Chosen) -> None:
    """All heads as small pictures; a click chooses one."""
    weights = chosen.shown.weights
    layers, heads, rows, columns = weights.shape
    with st.container(key="picture_mosaic"):
        chart(
            head_mosaic(weights, layer=chosen.layer, head=chosen.head, row=chosen.row),
            key="mosaic",
            on_click=_clicked,
            alt=f"{KINDS[chosen.kind]} of {counted(layers, 'layer')} with {counted(heads, 'head')} each, as small "
            f"pictures; layer {chosen.layer + 1}, head {chosen.head + 1} is framed. The table "
            "beside it chooses a head with the keyboard too.",
        )
    note = "Click a picture to see it large. One colour scale for all, 0 to 1."
    if max(rows, columns) > LARGEST_TILE:
        note += " At this length a dot stands for the strongest weight of a few cells."
    st.caption(f"{note} {shape_text('NHQK', weights.shape)}")
    belongings(
        key="mosaic",
        name=f"{KINDS[chosen.kind]}: where each row of each head attends most{chosen.shown.suffix}",
        table=lambda: mosaic_table(weights, chosen.shown.queries, chosen.shown.keys),
    )


def _clicked(point: Point) -> None:
    choose_head(*point.customdata)


def lines(
    chosen: Chosen, *, several: bool = False, on_pin: Callable[[int | None, int | None], None] | None = None
) -> None:
    """The head as lines; with `several`, the other heads of its layer can be turned on beside it."""
    shown = chosen.shown
    layer = shown.weights[chosen.layer]  # (H, Q, K)
    with st.container(key="lines"):
        data = attention_lines(
            layer if several else layer[chosen.head],
            shown.queries,
            shown.keys,
            title=chosen.title,
            alt=chosen.alt,
            head=chosen.head if several else None,
            on=[head - 1 for head in LINES_ON.value[1:]] if LINES_ON.value[:1] == (chosen.head + 1,) else (),
            row=chosen.row,
        )
        components.attention_lines(data, key="attention_lines", on_pin=on_pin, on_heads=partial(_turned, chosen.head))
    components.save_picture("lines", f"{chosen.title} - lines", key="export_lines")


def _turned(head: int, on: Sequence[int]) -> None:
    """The reader turned heads on or off while this one was chosen."""
    LINES_ON.choose((head + 1, *(each + 1 for each in on)))


def facts(chosen: Chosen) -> None:
    """A sentence of numbers about the head."""
    shown = chosen.shown
    found = head_facts(shown.weights[chosen.layer, chosen.head], shown.mask, shown.keys.tokens)
    whose = f" as drawn here{chosen.shown.suffix}" if chosen.shown.remarks else ""
    st.caption(
        f"This head{whose}: strongest weight of a row {found['strongest']:.2f} on average, entropy "
        f"{found['entropy']:.2f} of at most {found['even']:.2f} bits; {found['sinks']:.0%} of the attention is on "
        "special tokens and punctuation."
        + (" The table above has the numbers over its tokens, as the model saw them." if whose else "")
    )


def matrix(chosen: Chosen, cell: Cell | None = None, on_cell: Callable[[Point], None] | None = None) -> None:
    """The head with a number in every cell. `on_cell` is called with a cell that is clicked; `cell` is framed."""
    shown, title = chosen.shown, chosen.title
    weights = shown.weights[chosen.layer, chosen.head]
    narrowest = matrix_width(shown.queries, shown.keys)
    st.html(f"<style>.st-key-matrix [data-testid='stElementContainer'] {{ min-width: {narrowest}px; }}</style>")
    with st.container(key="matrix"):
        chart(
            attention_matrix(
                weights,
                shown.queries,
                shown.keys,
                title=title,
                mask=shown.mask,
                row=chosen.row,
                cell=cell,
                clicks=on_cell is not None,
            ),
            key="head_matrix",
            alt=chosen.alt,
            on_click=on_cell,
        )
    click = "" if on_cell is None else " Click a cell to choose it."
    st.caption(f"Rows are queries, columns are keys. {rows_sum(shown)} Grey: masked. A dot: less than .005.{click}")


def matrix_numbers(chosen: Chosen) -> None:
    """Downloads and table of the matrix."""
    shown, title = chosen.shown, chosen.title
    weights = shown.weights[chosen.layer, chosen.head]
    matrix_belongings("matrix", title, "The same numbers as a table", weights, (shown.queries, shown.keys))

"""Pictures of the chosen head: lines from queries to keys, and the matrix; and what they show, in words and numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from app import components
from app.components.chart import Point
from app.figures.attention_lines import attention_lines
from app.figures.head_names import head_name
from app.figures.head_sharpness import head_facts
from app.figures.matrix import attention_matrix, matrix_alt, matrix_table, matrix_width
from app.figures.panels import Cell
from app.figures.shown_weights import Shown
from app.languages import _, gettext_noop, ngettext
from app.state.choices import LINES_ON
from app.views.shared.show_figure import scrolling, show_figure
from transformer.model.attention_kinds import Kind

_ROW = gettext_noop("A row is computed when the decoder *reads* one token and *predicts* the next.")


def explained(kind: Kind, window: int | None, *, causal: bool = True) -> str:
    """Which query attends to which key; with a window, self-attention sees no further than that many positions.
    `causal`: whether the decoder has its causal mask, which an edit may switch off."""
    if kind == "cross":
        asked = _("While the decoder writes each token, which tokens of the source does it attend to?")
        return f"{asked} {_(_ROW)}"
    if kind == "encoder":
        if window is None:
            return _("Each token of the source attends to all tokens of the source.")
        return ngettext(
            "Each token of the source attends to those at most {count} position away.",
            "Each token of the source attends to those at most {count} positions away.",
            window,
        )
    if window is None and causal:
        sentence = _(
            "Each token of the translation attends to the tokens before it and to itself; later tokens are masked."
        )
    elif window is None:
        sentence = _(
            "Each token of the translation attends to all tokens of the translation, because an edit switches the "
            "causal mask off."
        )
    elif causal:
        sentence = ngettext(
            "Each token of the translation attends to the tokens before it, at most {count} position away, and to "
            "itself; later tokens are masked.",
            "Each token of the translation attends to the tokens before it, at most {count} positions away, and to "
            "itself; later tokens are masked.",
            window,
        )
    else:
        sentence = ngettext(
            "Each token of the translation attends to those at most {count} position away, also to later ones, because "
            "an edit switches the causal mask off.",
            "Each token of the translation attends to those at most {count} positions away, also to later ones, "
            "because an edit switches the causal mask off.",
            window,
        )
    return f"{sentence} {_(_ROW)}"


def rows_sum(shown: Shown) -> str:
    """What each row of a picture sums to."""
    return _("Each row sums to 1, except empty rows.") if shown.emptied else _("Each row sums to 1.")


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
        return head_name(self.kind, self.layer, self.head) + self.shown.suffix

    @property
    def alt(self) -> str:
        shown = self.shown
        return matrix_alt(shown.weights[self.layer, self.head], shown.queries, shown.keys, self.title)


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
    components.save_picture("lines", _("{title} - lines", title=chosen.title), key="export_lines")


def _turned(head: int, on: Sequence[int]) -> None:
    """Keeps which other heads the reader turned on while `head` was chosen."""
    LINES_ON.choose((head + 1, *(each + 1 for each in on)))


def facts(chosen: Chosen) -> None:
    """A sentence of numbers about the head."""
    shown = chosen.shown
    found = head_facts(shown.weights[chosen.layer, chosen.head], shown.mask, shown.keys.tokens)
    if shown.remarks:
        st.caption(
            _(
                "This head as drawn here{remarks}: largest weight of a row {strongest:.2f} on average, entropy "
                "{entropy:.2f} of at most {even:.2f} bits; {sinks:.0%} of the attention is on special tokens and "
                "punctuation. The table above has the numbers over its tokens, as the model saw them.",
                remarks=shown.suffix,
                **found,
            )
        )
        return
    st.caption(
        _(
            "This head: largest weight of a row {strongest:.2f} on average, entropy {entropy:.2f} of at most "
            "{even:.2f} bits; {sinks:.0%} of the attention is on special tokens and punctuation.",
            **found,
        )
    )


def matrix(chosen: Chosen, cell: Cell | None = None, on_cell: Callable[[Point], None] | None = None) -> None:
    """The head with a number in every cell. `on_cell` is called with a cell that is clicked; `cell` is framed."""
    shown, title = chosen.shown, chosen.title
    weights = shown.weights[chosen.layer, chosen.head]
    figure = attention_matrix(
        weights,
        shown.queries,
        shown.keys,
        title=title,
        mask=shown.mask,
        row=chosen.row,
        cell=cell,
        clicks=on_cell is not None,
    )
    with scrolling("head_matrix", matrix_width(shown.queries, shown.keys)):
        show_figure(
            figure,
            key="head_matrix",
            name=title,
            alt=chosen.alt,
            table=lambda: matrix_table(weights, shown.queries, shown.keys),
            on_click=on_cell,
        )
    caption = _("Rows are queries, columns are keys. {sums} Grey: masked. A dot: less than .005.", sums=rows_sum(shown))
    st.caption(caption if on_cell is None else caption + " " + _("Click a cell to choose it."))

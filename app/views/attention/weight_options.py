"""How the details of Attention show the weights: special tokens hidden or not, tokens or words, names of the rows."""

import streamlit as st

from app.figures.shares import Share
from app.figures.shown_weights import Naming, Options
from app.languages import _, gettext_noop, ngettext
from app.state.choices import HIDE_SPECIAL, NAMING, NAMING_OF_WORDS, ONE_ROW, WORDS
from app.views.attention.head_pictures import Chosen
from app.views.shared.buttons import buttons
from transformer.model.attention_kinds import Kind

NAMINGS: dict[Naming, str] = {
    "both": gettext_noop("both"),
    "reads": gettext_noop("reads"),
    "predicts": gettext_noop("predicts"),
}
WORD_NAMINGS: tuple[Naming, ...] = ("predicts", "reads")  # a row of a word has only one of the two names


def weight_options(kind: Kind) -> Options:
    """Draws the options and returns them. All kinds of attention share them, and they are written into the address."""
    for choice in (HIDE_SPECIAL, WORDS, ONE_ROW):
        choice.open()
    with st.container(key="attention_options", horizontal=True, vertical_alignment="bottom", gap="medium"):
        hide = st.toggle(
            _("Hide special tokens"),
            key=HIDE_SPECIAL.key,
            persist_state="session",
            help=_(
                "Takes `<s>` and `</s>` away and divides each row by what is left, so that it sums to 1 again. "
                "That is no longer what the model computed; the titles say so."
            ),
        )
        words = st.toggle(
            _("Words"),
            key=WORDS.key,
            persist_state="session",
            help=_(
                "Tokens are put together into words: rows are averaged, columns are summed, so each row still sums "
                "to 1. Punctuation at the end of a word is a word of its own."
            ),
        )
        st.toggle(
            _("One row alone") if kind == "encoder" else _("Step t alone"),
            key=ONE_ROW.key,
            persist_state="session",
            help=_(
                "Isolates one row in all pictures: lines and matrix. A click on a token of that side does the same."
            ),
        )
        naming: Naming = "both"
        if kind != "encoder":
            naming = buttons(
                NAMING_OF_WORDS if words else NAMING,
                {name: _(NAMINGS[name]) for name in (WORD_NAMINGS if words else NAMINGS)},
                _("Names of a row"),
                help=_(
                    "Row t of the decoder reads token t and predicts token t + 1: the same row, two names. A word "
                    "needs one of them."
                ),
            )
    return Options(naming, hide, words)


def say_what_is_hidden(chosen: Chosen, hide_special: bool) -> None:
    """Says which rows and columns are hidden, and what that did to the weights."""
    now = chosen.shown
    if now.hidden_share is not None and now.remarks:
        share = Share(now.hidden_share[chosen.layer, chosen.head])
        columns = " ".join(f"`{token}`" for token in now.hidden_keys) or _("none")
        rows = " ".join(f"`{token}`" for token in now.hidden_queries) or _("none")
        text = _(
            "Hidden columns: {columns}; hidden rows: {rows}. On average, the hidden columns have {share:.0%} of the "
            "weight of a row of this head; the other weights of the row are divided by their sum.",
            columns=columns,
            rows=rows,
            share=share,
        )
        if now.emptied:
            text += " " + ngettext(
                "{count} row is empty: it may attend to hidden tokens only.",
                "{count} rows are empty: they may attend to hidden tokens only.",
                now.emptied,
            )
        st.caption(text)
    elif hide_special:
        st.caption(_("There is nothing but special tokens here, so none is hidden."))

"""The map of alignment error rates in the tab "Word alignment" of Attention, if it was measured for the checkpoint."""

from collections.abc import Callable
from math import exp

import streamlit as st

from app.languages import _, gettext_noop
from app.languages.numbers import formatted
from app.library.alignment_maps import alignment_map
from app.library.checkpoints import CheckpointFile
from app.library.source_code import lines_of_definition
from app.views.attention.aligning_heads import MEAN, head_map, head_map_alt, head_map_table, percent_text
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet
from transformer.analysis.alignment.alignment_map import AlignmentMap, Head, TextMeasures
from transformer.analysis.alignment.word_attention import Shift
from transformer.errors import CheckpointError

NOT_MEASURED = gettext_noop(
    "It was not measured which heads of this checkpoint align. `python -m transformer align CHECKPOINT --data FILE "
    "--store` measures it, against links that people have drawn."
)
GUESS = gettext_noop(
    "At first this tab chooses the heads that attend most sharply to words of this sentence, which is only a guess."
)


def measured(file: CheckpointFile) -> AlignmentMap | None:
    """The map of this checkpoint. None: there is none, or it cannot be read; the page has said so."""
    try:
        found = alignment_map(file)
    except CheckpointError as error:
        st.text(str(error))
        st.caption(_(GUESS))
        return None
    if found is None:
        st.caption(f"{_(NOT_MEASURED)} {_(GUESS)}")
    return found


def drawn_map(found: AlignmentMap, shift: Shift, heads: list[Head], choose: Callable[[list[Head]], None]) -> None:
    """Draws the map of one shift.

    A click on a cell calls `choose` with its head, or, in the column of means, with all heads of its layer.
    """
    rates = found.of_shift(shift)
    title = (
        _("Alignment error rate, rows that read the word")
        if shift == "reads"
        else _("Alignment error rate, rows that predict the word")
    )

    def clicked(layer: int, head: int) -> None:
        choose([(layer, head)] if head != MEAN else [(layer, each) for each in range(len(rates.aer[layer]))])

    left, right = st.columns([3, 2], gap="medium")
    with left:
        show_figure(
            head_map(rates, heads, title=title),
            key="head_map",
            name=title,
            alt=head_map_alt(rates, title),
            table=lambda: head_map_table(rates),
            on_click=lambda point: clicked(*point.customdata),
        )
    with right:
        st.caption(
            _(
                "Each head links every word of a right translation to the word of the source to which it attends most; "
                "the rate says how far that is from links that people have drawn (Och & Ney, 2003): 0% is perfect. A "
                "click chooses a head, or with “all” the heads of a layer."
            )
        )
        _measured_on(found)
    with st.expander(_("How the rate is computed")):
        triplet(
            _("the alignment error rate, Och & Ney (2003)"),
            r"\mathrm{AER} = 1 - \frac{\lvert A \cap S \rvert + \lvert A \cap P \rvert}"
            r"{\lvert A \rvert + \lvert S \rvert}",
            _(
                "A: the links of the head. S: the links that the annotators marked as sure. P: the links that they "
                "marked as possible; P contains S."
            ),
            lines_of_definition("analysis/alignment/alignment_error_rate.py", "Counts.aer"),
            origin="elsewhere",
        )


def _measured_on(found: AlignmentMap) -> None:
    """Says on which text the map was measured, and in numbers how far that text is from the training text."""
    gold, text, home = found.gold, found.text, found.home
    st.text(  # not markdown, because a name may have any characters
        _("Measured on {name}: {pairs:,} pairs, {sure:,} sure links.", name=gold.name, pairs=gold.pairs, sure=gold.sure)
    )
    st.caption(
        _(
            "On this text, links along the diagonal have an alignment error rate of {diagonal}%, and links drawn at "
            "random {chance}%.",
            diagonal=percent_text(found.diagonal.aer),
            chance=percent_text(found.chance.aer),
        )
    )
    if home:
        st.text(_("The table compares this text with {name}, a text like the training text.", name=home.name))
    else:
        st.caption(_("No text like the training text was measured (`--home`), so the table has only this text."))
    columns = [_numbers(text)] + ([_numbers(home)] if home else [])
    head = _("| | this text | text like the training text |") if home else _("| | this text |")
    rows = [f"| {name} | {' | '.join(column[name] for column in columns)} |" for name in columns[0]]
    st.markdown("\n".join([head, "| --- " * (1 + len(columns)) + "|", *rows]))


def _numbers(text: TextMeasures) -> dict[str, str]:
    return {
        _("words per sentence"): formatted(text.source_words, ".1f"),
        _("tokens per source word"): formatted(text.source_tokens_per_word, ".2f"),
        _("tokens per target word"): formatted(text.target_tokens_per_word, ".2f"),
        _("nats per target token"): formatted(text.loss, ".2f"),
        _("perplexity"): formatted(exp(min(text.loss, 50)), ",.1f"),
    }

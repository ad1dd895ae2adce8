"""The map of alignment error rates in the tab "Word alignment" of Attention, if it was measured for the checkpoint."""

from collections.abc import Callable
from math import exp

import streamlit as st

from app.languages import _, gettext_noop
from app.languages.numbers import formatted
from app.library.alignment_maps import alignment_map
from app.library.checkpoints import CheckpointFile
from app.library.source_code import lines_between
from app.views.attention.aligning_heads import MEAN, head_map, head_map_alt, head_map_table, percent_text
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet
from transformer.analysis.alignment.alignment_map import AlignmentMap, Head, TextMeasures
from transformer.analysis.alignment.word_attention import Shift
from transformer.errors import CheckpointError

GUESS = gettext_noop(
    "It was not measured which heads of this checkpoint align. It opens with those that attend most sharply to words "
    "of this sentence: a guess. `python -m transformer align CHECKPOINT --data FILE --store` measures it, against "
    "links that people have drawn."
)


def measured(file: CheckpointFile) -> AlignmentMap | None:
    """The map of this checkpoint. None: there is none, and the page has said so."""
    try:
        found = alignment_map(file)
    except CheckpointError as error:
        st.text(str(error))
        found = None
    if found is None:
        st.caption(_(GUESS))
    return found


def drawn_map(found: AlignmentMap, shift: Shift, heads: list[Head], choose: Callable[[list[Head]], None]) -> None:
    """Draws the map of one shift.

    A click on a cell calls `choose` with its head, or, in the column of means, with all heads of its layer.
    """
    reading = found.reading(shift)
    title = (
        _("Alignment error rate, rows that read the word")
        if shift == "reads"
        else _("Alignment error rate, rows that predict the word")
    )

    def clicked(layer: int, head: int) -> None:
        choose([(layer, head)] if head != MEAN else [(layer, each) for each in range(len(reading.aer[layer]))])

    left, right = st.columns([3, 2], gap="medium")
    with left:
        show_figure(
            head_map(reading, heads, title=title),
            key="head_map",
            name=title,
            alt=head_map_alt(reading, title),
            table=lambda: head_map_table(reading),
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
                "A are the links of a head, S those that the people who drew them were sure of, P the possible ones, "
                "which hold the sure ones too."
            ),
            lines_between("analysis/alignment/alignment_error_rate.py", "Counts.aer"),
            in_paper=False,
        )


def _measured_on(found: AlignmentMap) -> None:
    """Says on which text the map was measured, and in numbers how far that text is from the training text."""
    gold, text, home = found.gold, found.text, found.home
    st.text(  # not markdown, because a name may have any characters
        _("Measured on {name}: {pairs:,} pairs, {sure:,} sure links.", name=gold.name, pairs=gold.pairs, sure=gold.sure)
    )
    st.caption(
        _(
            "There the diagonal alone has an alignment error rate of {diagonal}%, a word drawn at random of {chance}%. "
            "How far that text is from the training text, in numbers:",
            diagonal=percent_text(found.diagonal.aer),
            chance=percent_text(found.chance.aer),
        )
    )
    columns = [_numbers(text)] + ([_numbers(home)] if home else [])
    head = _("| | there | at home |") if home else _("| | there |")
    rows = [f"| {name} | {' | '.join(column[name] for column in columns)} |" for name in columns[0]]
    st.markdown("\n".join([head, "| --- " * (1 + len(columns)) + "|", *rows]))
    if home:
        st.text(_("Home is {name}, a text like that of training.", name=home.name))
    else:
        st.caption(_("A text like that of training was not measured with it (`--home`), so the distance is not known."))


def _numbers(text: TextMeasures) -> dict[str, str]:
    return {
        _("words per sentence"): formatted(text.source_words, ".1f"),
        _("tokens per source word"): formatted(text.source_pieces, ".2f"),
        _("tokens per target word"): formatted(text.target_pieces, ".2f"),
        _("nats a target token"): formatted(text.loss, ".2f"),
        _("perplexity"): formatted(exp(min(text.loss, 50)), ",.1f"),
    }

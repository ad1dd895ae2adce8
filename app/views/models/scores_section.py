"""Sections of Models: our scores beside published ones, and how the models learnt."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from app.figures.training_curves import Curve, curve_alt, curve_chart, curve_table
from app.languages import _, gettext_noop, pgettext
from app.languages.numbers import formatted
from app.library.catalogue import Entry, curves_of
from app.library.main_score import search_words
from app.library.published_scores import TEST_SETS, TestSet
from app.views.shared.bleu_caption import say_where_bleu_is_0
from app.views.shared.show_figure import show_figure

MOST_CURVES = 8  # as many as there are colours
WHAT = {
    ("valid", "bleu"): (gettext_noop("BLEU of the validation text"), "BLEU"),
    ("valid", "loss"): (gettext_noop("Validation loss"), gettext_noop("nats per token")),
}


def published(entries: Sequence[Entry]) -> None:
    """A table for each test set on which others have published scores of the same two languages."""
    languages = {one.languages for one in entries}
    texts = [text for text in TEST_SETS if text.languages in languages]
    if not texts:
        return
    st.header(_("Beside published scores"), anchor=False)
    st.caption(
        _(
            "BLEU. Only scores on the same text and with the same tokenization can be compared; differences are "
            "named. The texts on which `en-de` was trained and tested are a split of our own: for that test no "
            "published score exists."
        )
    )
    for text in texts:
        st.subheader(_(text.title), anchor=False)
        st.table(_beside(text, entries))
        st.caption(_(text.remark))


def _beside(text: TestSet, entries: Sequence[Entry]) -> dict[str, list[str]]:
    """One row per system, ours first. The table reads cells as Markdown, so names from files are shown as code."""
    ours = [
        (one, score)
        for one in entries
        if one.languages == text.languages
        for score in one.scores
        if score.measure == "BLEU" and text.file in score.text
    ]
    rows = [
        (
            f"`{one.file.name}`",
            formatted(score.value, ".1f"),
            _(
                "the files of this checkpoint: {search}, `{signature}`",
                search=search_words(score) or _("search not stated"),
                signature=score.signature,
            ),
        )
        for one, score in ours
    ]
    rows = rows or [
        (_("ours"), _("not measured here"), _("{command} measures it", command="`python -m transformer evaluate`"))
    ]
    rows += [(_(other.system), formatted(other.bleu, ".1f"), _(other.source)) for other in text.published]
    return {
        name: [row[i] for row in rows]
        for i, name in enumerate((_("system"), "BLEU", pgettext("of a number", "source")))
    }


def curves(entries: Sequence[Entry]) -> None:
    """Draws the validation scores over the updates, of the first `MOST_CURVES` models whose training run is known."""
    known = [(one, found) for one in entries if (found := curves_of(one.file))]
    drawn = known[:MOST_CURVES]
    st.header(_("How they learned"), anchor=False)
    if not known:
        st.caption(
            _(
                "There is no run of these checkpoints. To see its curves here, put the file `metrics.jsonl` of a run "
                "beside NAME.safetensors, as NAME.metrics.jsonl, or keep the run in `runs/NAME`."
            )
        )
        return
    with st.container(key="learnt_duo"):
        for column, ((kind, name), (title, unit)) in zip(st.columns(2, gap="medium"), WHAT.items(), strict=True):
            lines = [
                Curve(one.file.name, "", *found[kind, name], place)
                for place, (one, found) in enumerate(drawn)
                if (kind, name) in found
            ]
            if lines:
                with column:
                    show_figure(
                        curve_chart(lines, title=_(title), unit=_(unit)),
                        key=f"learnt_{name}",
                        name=_(title),
                        alt=curve_alt(lines, _(title)),
                        table=partial(curve_table, lines),
                    )
                    if name == "bleu":
                        say_where_bleu_is_0(found for unused, found in drawn)
        if len(drawn) < len(known):
            st.caption(
                _("The first {drawn} of {count} models with a run are drawn.", drawn=len(drawn), count=len(known))
            )
        st.caption(
            _(
                "A run that started from the weights of another one (`--init-from`) counts its updates from there. The "
                "cards say which runs did."
            )
        )

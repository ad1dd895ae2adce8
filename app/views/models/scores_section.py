"""Sections of Models: our scores beside published ones, and how the models learnt."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from app.figures.training_curves import Curve, curve_alt, curve_chart, curve_table
from app.library.catalogue import Entry, curves_of
from app.library.published_scores import TEST_SETS, TestSet
from app.views.shared.bleu_caption import say_where_bleu_is_0
from app.views.shared.placed import placed

MOST_CURVES = 8  # as many as there are colours
WHAT = {
    ("valid", "bleu"): ("BLEU of the validation text", "BLEU"),
    ("valid", "loss"): ("Validation loss", "nats per token"),
}


def published(entries: Sequence[Entry]) -> None:
    """A table for each test set on which others have published scores of the same two languages."""
    languages = {one.languages for one in entries}
    texts = [text for text in TEST_SETS if text.languages in languages]
    if not texts:
        return
    st.header("Beside published scores", anchor=False)
    st.caption(
        "BLEU. Only scores of one text can be compared, and only if they are counted alike; what is not alike is said. "
        "The texts on which `en-de` was trained and tested are a split of our own: for that test no published score "
        "exists."
    )
    for text in texts:
        st.subheader(text.title, anchor=False)
        st.table(_beside(text, entries))
        st.caption(text.remark)


def _beside(text: TestSet, entries: Sequence[Entry]) -> dict[str, list[str]]:
    """A row a system, ours first. Cells are Markdown to the table, so names in files are shown as code."""
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
            f"{score.value:.1f}",
            f"its file, {score.search or 'search not said'}, `{score.signature}`",
        )
        for one, score in ours
    ]
    rows = rows or [("ours", "not run", "`python -m transformer evaluate`")]
    rows += [(other.system, f"{other.bleu:.1f}", other.source) for other in text.published]
    return {name: [row[i] for row in rows] for i, name in enumerate(("system", "BLEU", "says"))}


def curves(entries: Sequence[Entry]) -> None:
    """Validation of all models whose run is known, over their updates."""
    known = [(one, found) for one in entries if (found := curves_of(one.file))][:MOST_CURVES]
    st.header("How they learnt", anchor=False)
    if not known:
        st.caption(
            "There is no run of these checkpoints. To see its curves here, put the file `metrics.jsonl` of a run "
            "beside NAME.safetensors, as NAME.metrics.jsonl, or keep the run in `runs/NAME`."
        )
        return
    with st.container(key="learnt_duo"):
        for column, ((kind, name), (title, unit)) in zip(st.columns(2, gap="medium"), WHAT.items(), strict=True):
            lines = [
                Curve(one.file.name, "", *found[kind, name], place)
                for place, (one, found) in enumerate(known)
                if (kind, name) in found
            ]
            if lines:
                with column:
                    placed(
                        curve_chart(lines, title=title, unit=unit),
                        key=f"learnt_{name}",
                        name=title,
                        alt=curve_alt(lines, title),
                        table=partial(curve_table, lines),
                    )
                    if name == "bleu":
                        say_where_bleu_is_0(found for _, found in known)
        st.caption(
            "A run that went on from the weights of another (`--init-from`) begins with what that one had learnt, and "
            "its updates count from there. The cards say which did."
        )

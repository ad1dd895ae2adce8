"""The sample translations of a run. If it has no snapshots, the time machine shows one of the sentences. The details
show all of them."""

from typing import Any

import streamlit as st

from app.figures.tables import Table
from app.languages import _
from app.languages.numbers import formatted
from app.library.run_samples import Samples, read_samples
from app.library.runs import Run
from app.views.shared.number_tables import readable
from app.views.training.snapshot_rows import marked

MOST_ROWS, ROW_HEIGHT = 12, 35  # the second in px


def shown_sample(samples: Samples) -> int:
    """The index of the sentence that is shown where there is room for only one: the middle one."""
    return len(samples[max(samples)]) // 2


def sample_rows(samples: Samples) -> list[dict[str, Any]]:
    """A row of the time machine for each validation: what the model wrote for one sentence."""
    rows: list[dict[str, Any]] = []
    before: str | None = None
    for update, found in samples.items():
        text = found[shown_sample(samples)].translation
        words = marked(before, text) or [[_("(nothing)"), False]]
        rows.append({"update": formatted(update, ","), "number": update, "words": words})
        before = text
    return rows


def samples_table(samples: Samples) -> Table:
    """The references, then what the model wrote at each validation, the newest first."""
    newest = samples[max(samples)]
    updates = sorted(samples, reverse=True)
    table: dict[str, list[str]] = {_("update"): [_("reference"), *(formatted(update, ",") for update in updates)]}
    for number, sample in enumerate(newest):
        table[sample.source] = [sample.reference, *(samples[update][number].translation for update in updates)]
    return table


def samples_alt(samples: Samples) -> str:
    """What the rows say, in words."""
    chosen = shown_sample(samples)
    texts = "; ".join(f"{formatted(update, ',')}: “{found[chosen].translation}”" for update, found in samples.items())
    sentence = samples[max(samples)][chosen].source
    return _("Translations of “{sentence}” by number of updates: {texts}.", sentence=sentence, texts=texts)


def samples_section(run: Run) -> None:
    """Draws the section, if the run has samples."""
    samples = read_samples(run.folder)
    if not samples:
        return
    st.header(_("Sentences of the validation text"), anchor=False)
    table = samples_table(samples)
    rows = len(samples) + 1
    height = (min(rows, MOST_ROWS) + 1) * ROW_HEIGHT + 2
    st.dataframe(**readable(table), hide_index=True, height=height, alt=_("Sentences of the validation text"))
    st.caption(
        _(
            "Each column after the first is a sentence of the validation text. The first row is the right translation; "
            "the others are what the model wrote at each validation, the newest first (greedy decoding)."
        )
    )

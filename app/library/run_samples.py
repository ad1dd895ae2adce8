"""The sample translations of a run: a few sentences of its validation text, as they were translated at each validation.

Like all files of a run, they are not trusted: whatever does not have the form of a sample is skipped.
"""

from pathlib import Path
from typing import Any

import streamlit as st

from app.library.runs import metrics_lines
from transformer.training.samples import Sample

MOST_CHARACTERS = 500  # of a text that is shown
MOST_SAMPLES = 10  # of one validation
Samples = dict[int, list[Sample]]


def read_samples(folder: Path) -> Samples:
    """The samples by the update after which they were translated, the first update first. Samples whose sources differ
    from those of the newest samples are left out."""
    path = folder / "metrics.jsonl"
    try:
        found = path.stat()
    except OSError:
        return {}
    return _samples(str(path), found.st_mtime_ns, found.st_size)


@st.cache_data(max_entries=64, show_spinner=False)
def _samples(path: str, changed: int, size: int) -> Samples:
    found: Samples = {}
    for update, line in metrics_lines(Path(path), size, ("samples",)):
        samples = line.get("samples")
        if isinstance(samples, list) and samples and all(map(_is_sample, samples)):
            texts = [{name: text[:MOST_CHARACTERS] for name, text in each.items()} for each in samples[:MOST_SAMPLES]]
            found[update] = [Sample(**each) for each in texts]
    if not found:
        return {}
    newest = [sample.source for sample in found[max(found)]]
    return {update: found[update] for update in sorted(found) if [each.source for each in found[update]] == newest}


def _is_sample(value: Any) -> bool:
    names = {"source", "reference", "translation"}
    return isinstance(value, dict) and value.keys() == names and all(isinstance(text, str) for text in value.values())

"""The files besides the HTML files: tensors of a scene as .npz, and a notebook of ten lines that reads them and
computes one row of weights again.

A notebook is JSON: cells of text and of code. test_the_notebook_repeats_a_number executes its code.
"""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.compute.cached_results import GATE
from app.languages import _
from app.stage.scene import Scene
from transformer.analysis.trace import Trace, trace
from transformer.files.checksum import sha256_of
from transformer.model.attention_kinds import SITES, STAGES

MOST_BYTES = 20_000_000  # of the tensors in a file


@dataclass(frozen=True)
class Files:
    """The files that are offered. `name`: their name without an ending."""

    name: str
    hand_out: str
    exercises: str = ""
    tensors: bytes = b""
    notebook: str = ""

    @property
    def too_large(self) -> bool:
        """Whether there is a translation, but its tensors are too large for a file."""
        return bool(self.exercises) and not self.tensors

    @property
    def listed(self) -> list[tuple[str, str, str | bytes, str]]:
        """(label, ending, content, media type) of each file that is not empty."""
        found: list[tuple[str, str, str | bytes, str]] = [
            (_("Hand-out (HTML)"), ".html", self.hand_out, "text/html"),
            (_("Exercises (HTML)"), "-exercises.html", self.exercises, "text/html"),
            (_("Tensors (npz)"), ".npz", self.tensors, "application/octet-stream"),
            (_("Notebook"), ".ipynb", self.notebook, "application/x-ipynb+json"),
        ]
        return [each for each in found if each[2]]


def trace_of(scene: Scene) -> Trace:
    """The trace of all attention of a scene: in every layer the sites of `STAGES`, from query to context."""
    sites = [f"*_attention.{name}" for name in STAGES]
    translator, file = scene.subject.translator, scene.subject.file
    ids = scene.translation.source_ids, scene.hypothesis.ids
    token_of = translator.tokenizer.token
    name = _("{name}, changed", name=file.name) if scene.subject.edits else file.name
    about = {"sentence": scene.translation.source, "checkpoint": name, "checkpoint_sum": sha256_of(Path(file.path))}
    with GATE:
        found = trace(translator.model, *ids, sites, token_of)
    return found.named(**about)


def trace_file(scene: Scene) -> bytes:
    """The trace of a scene as the bytes of an .npz file; b"" if the tensors are too large."""
    traced = trace_of(scene)
    if sum(array.nbytes for array in traced.arrays.values()) > MOST_BYTES:
        return b""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.npz"
        traced.save(path)
        return path.read_bytes()


def trace_notebook(file_name: str, scene: Scene) -> str:
    """A notebook that computes one row of weights again: from the query and the keys in the file, or, if the model is
    edited, from the masked scores, which an edit may change."""
    layer = len(scene.attention("cross").weights) - 1
    scores = """\
query, key = file[f"{site}.query"][head], file[f"{site}.key"][head]  # (T, d_k), (S, d_k)
scores = query[row] @ key.T / np.sqrt(query.shape[-1])  # (S)"""
    if scene.subject.edits:
        scores = 'scores = file[f"{site}.masked_scores"][head, row]  # (S)'
    code = f"""\
import numpy as np

file = np.load({file_name!r}, allow_pickle=False)
site, head, row = {SITES["cross"].format(layer)!r}, 0, 0
{scores}
weights = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
for token, weight in zip(file["about.source_tokens"], weights):
    print(f"{{token:12}} {{weight:.4f}}")
print("largest difference:", np.abs(weights - file[f"{{site}}.weights"][head, row]).max())"""
    title = _("One row of attention, computed again")
    text = _(
        "`{file}` has the attention of one translation: query, key, value, scores and weights of each layer and "
        "head. Below, softmax(q Kᵀ / √d_k) for one query. It needs NumPy only.",
        file=file_name,
    )
    if scene.subject.edits:
        text = _(
            "`{file}` has the attention of one translation by a changed model: query, key, value, scores and weights "
            "of each layer and head. Below, the softmax of the scores of one query, after the changes. It needs NumPy "
            "only.",
            file=file_name,
        )
    return notebook([("markdown", f"# {title}\n\n{text}"), ("code", code)])


def notebook(cells: Sequence[tuple[str, str]]) -> str:
    """A notebook, format 4.5, of cells (kind, text)."""
    made: list[dict[str, object]] = []
    for number, (kind, text) in enumerate(cells):
        cell: dict[str, object] = {
            "cell_type": kind,
            "id": f"cell-{number}",
            "metadata": {},
            "source": text.splitlines(keepends=True),
        }
        made.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, ensure_ascii=False, indent=1)

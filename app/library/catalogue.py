"""What is known of every checkpoint without loading its weights: from its header, its card, and the files beside it.

    NAME.safetensors        configuration, recipe, and the metrics that training (or a later evaluation) wrote into it
    NAME.md                 its card: the rows of the first table name the data and the licence
    NAME.scores.jsonl       lines of `python -m transformer evaluate ... --json`, one per test set
    NAME.metrics.jsonl      what its run measured; else runs/NAME/metrics.jsonl

Nothing in these files is trusted: invalid values are left out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from app.languages import _, gettext_noop
from app.library.checkpoints import CheckpointFile
from app.library.run_checkpoints import is_of_run
from app.library.runs import Curves, read_metrics
from app.library.snapshots import run_folder, run_of_best
from app.library.tasks import Task, task_in
from transformer.checkpoint.header import Header, read_header
from transformer.data.toy_tasks import TOY_TASKS
from transformer.errors import HeadlightError
from transformer.files.strict_json import parse_json
from transformer.files.untrusted_values import finite_number

MOST_BYTES = 2_000_000  # of a file of scores
MEASURES = {"bleu": "BLEU", "chrf": "chrF", "exact_match": gettext_noop("exact match")}
_ROW = re.compile(r"^\|\s*([^|]+?)\s*\|\s*([^|]+?)\s*\|\s*$")


@dataclass(frozen=True)
class Score:
    """One number that a file gives.

    Attributes:
        text: on which it was measured: the name of a file, "test" or "validation".
        measure: "BLEU", "chrF" or "exact match", from 0 to 100.
        search: "beam 4", "greedy", or "" where the file does not say.
        signature: sacrebleu's; "" where the file has none. date: ISO, or "".
        sentences: how many; 0 where the file does not say.
    """

    text: str
    measure: str
    value: float
    search: str = ""
    signature: str = ""
    date: str = ""
    sentences: int = 0


@dataclass(frozen=True)
class Entry:
    """A checkpoint of the catalogue; `header` is None if the file is not a checkpoint, and `problem` says why."""

    file: CheckpointFile
    header: Header | None
    problem: str
    task: Task
    facts: Mapping[str, str]  # the card's first table
    scores: tuple[Score, ...]

    def recipe(self, section: str) -> dict[str, Any]:
        """A section of its recipe, as the file states it; {} where it has none."""
        recipe = self.header.recipe if self.header else None
        found = recipe.get(section) if isinstance(recipe, dict) else None
        return found if isinstance(found, dict) else {}

    @property
    def is_toy(self) -> bool:
        """Whether it learned a toy task, whose sentences are generated."""
        return bool(self.recipe("data").get("toy"))

    @property
    def languages(self) -> tuple[str, str]:
        """Codes of source and target as its recipe names them, such as ("en", "de"); "" for a toy task."""
        found = {} if self.is_toy else self.recipe("data")
        return str(found.get("source_language", "")), str(found.get("target_language", ""))

    @property
    def longest(self) -> int | None:
        """The most tokens that a sentence of its training may have had; None where its recipe does not say."""
        data = self.recipe("data")
        task = TOY_TASKS.get(str(data.get("toy")))
        names = ("max_length", "toy_max_length") if task and task.one_token_each else ("max_length",)
        limits = [data.get(name) for name in names]
        return min((limit for limit in limits if isinstance(limit, int) and limit > 0), default=None)


def entry(file: CheckpointFile) -> Entry:
    """What is known of this file."""
    header, problem = _header(file.path, file.modified, file.size)
    recipe, metrics = (header.recipe, header.metrics) if header else (None, {})
    beside = _scores_beside(Path(file.path).with_suffix(".scores.jsonl"))
    return Entry(
        file, header, problem, task_in(recipe), card_facts(file.card or ""), (*beside, *scores_in(metrics))
    )  # fmt: skip


def reverse_model(file: CheckpointFile, others: Iterable[CheckpointFile]) -> CheckpointFile | None:
    """The first other checkpoint of the opposite direction, by its recipe; None if there is none."""
    source, target = entry(file).languages
    if not source or not target or source == target:
        return None
    return next((other for other in others if entry(other).languages == (target, source)), None)


def curves_of(file: CheckpointFile) -> Curves:
    """What its run measured, if that is known."""
    beside = read_metrics(Path(file.path).with_suffix(".metrics.jsonl"))
    run = run_of_best(file.name) or file.name
    folder = run_folder(run) if is_of_run(file.name, run) else None
    return beside or (read_metrics(folder / "metrics.jsonl") if folder else {})


def card_facts(card: str) -> dict[str, str]:
    """The first table of a card that has two columns, as Markdown by name."""
    facts: dict[str, str] = {}
    for line in card.splitlines():
        row = _ROW.match(line)
        if row and not set(row[1]) <= set("-: "):
            facts.setdefault(row[1], row[2])
        elif facts and not row:
            break
    return facts


def scores_in(metrics: Mapping[str, Any]) -> tuple[Score, ...]:
    """The scores that a checkpoint carries in its metrics."""
    found = []
    for text, beginning in (("test", "test_"), ("validation", "valid_")):
        for name, measure in MEASURES.items():
            for search in ("", "greedy_"):
                value = _from_0_to_100(name, metrics.get(f"{beginning}{search}{name}"))
                signature = metrics.get(f"{beginning}{name}_signature") or metrics.get(f"{name}_signature")
                if value is not None:
                    how = search.rstrip("_") or ("greedy" if text == "validation" else "")
                    found.append(Score(text, measure, value, how, _text(signature)))
    return tuple(found)


def _scores_beside(path: Path) -> Iterator[Score]:
    try:
        lines = path.read_bytes()[:MOST_BYTES].decode(errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            result = parse_json(line)
        except ValueError:
            continue
        if not isinstance(result, dict):
            continue
        text = re.sub(r"\.tsv(\.gz)?$", "", Path(_text(result.get("data"))).name) or _("a test set")
        decoding = result.get("decoding")
        method, beam = (decoding.get("method"), decoding.get("beam")) if isinstance(decoding, dict) else (None, None)
        search = f"beam {beam}" if method == "beam" and type(beam) is int else _text(method)
        for name, measure in MEASURES.items():
            value = _from_0_to_100(name, result.get(name))
            if value is not None:
                signature = _text(result.get(f"{name}_signature"))
                count = int(finite_number(result.get("sentences")) or 0)
                yield Score(text, measure, value, search, signature, _text(result.get("date"))[:10], count)


def _from_0_to_100(name: str, stored: object) -> float | None:
    """A stored score; exact matches are stored as a share. None: it is not a number."""
    value = finite_number(stored)
    return 100 * value if value is not None and name == "exact_match" else value


@st.cache_resource(max_entries=256, show_spinner=False)
def _header(path: str, modified: int, size: int) -> tuple[Header | None, str]:
    try:
        return read_header(path), ""
    except (HeadlightError, OSError) as error:
        return None, str(error).replace(path, Path(path).name)


def _text(value: object) -> str:
    return value[:200] if isinstance(value, str) else ""

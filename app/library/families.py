"""Families of small models that differ in one option, as `python -m transformer queue ... --report` gathers them.

Each queue has a file `*families.json` in the folder of the checkpoints. It is read leniently: a member without a
result, or with a damaged one, counts as not run.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any, Literal

from app.languages import _, ngettext
from app.languages.numbers import localised
from app.library.catalogue import entry
from app.library.checkpoints import CheckpointFile, checkpoint_folder, checkpoints
from app.library.option_names import OPTION_NAMES
from app.library.tasks import Task
from transformer.files.strict_json import parse_json
from transformer.files.untrusted_values import finite_number

FILES = "*families.json"
MOST_BYTES = 8_000_000
FEWEST_POINTS = 3  # of a plot that shows anything
Measure = Literal["bleu", "chrf", "perplexity", "exact_match"]
MEASURES: tuple[Measure, ...] = ("bleu", "chrf", "perplexity", "exact_match")
Value = str | int | float | bool | None


@dataclass(frozen=True)
class Number:
    """The results of the runs of one member: their mean, the lowest and the highest, and the result of the first run,
    whose checkpoint ships. Exact matches are in percent."""

    mean: float
    low: float
    high: float
    first: float
    runs: int


@dataclass(frozen=True)
class Member:
    """One model of a family; `ours` is empty if it was not run.

    Attributes:
        value: that of the option that the family varies; in a family of several options, the name of the member.
        paper: the numbers of table 3, if it has such a row.
        parameters: 0 where unknown.
        stem: the name of its checkpoint. file: its checkpoint, if it ships.
    """

    name: str
    value: Value
    ours: Mapping[Measure, Number]
    paper: Mapping[Measure, float]
    parameters: int
    stem: str
    file: CheckpointFile | None

    @property
    def label(self) -> str:
        """Its value, in words."""
        if self.value is None:
            return _("unlimited")
        if isinstance(self.value, bool):
            return _("yes") if self.value else _("no")
        return localised(str(self.value)) if isinstance(self.value, float) else str(self.value)


@dataclass(frozen=True)
class ScoredText:
    """What the members of a family were scored on.

    Attributes:
        name: a file, or "toy:" and the task that draws the pairs.
        sentences: how many. signature: sacrebleu's, of BLEU. 0 and "" where the report does not say.
    """

    name: str
    sentences: int = 0
    signature: str = ""

    @property
    def is_toy(self) -> bool:
        return self.name.startswith("toy:")

    @property
    def toy_task(self) -> str:
        """What the models of a toy task learn, in words."""
        return _("reversing letters") if self.name == "toy:reverse" else self.name.removeprefix("toy:")

    @property
    def measured_on(self) -> str:
        """Text, number of sentences and search, in words."""
        if self.is_toy:
            task = self.name.removeprefix("toy:")
            return _("{count:,} new strings of the task {task}, beam 4", count=self.sentences, task=task)
        text = re.sub(r"\.tsv(\.gz)?$", "", self.name) or _("one text")
        if not self.sentences:
            return f"{text}, beam 4"
        return _("{count:,} sentences of {text}, beam 4", count=self.sentences, text=text)


@dataclass(frozen=True)
class Family:
    """Models that differ in one option.

    Attributes:
        option: its name, such as "model.heads"; "" if each model differs from the first one in another option.
        remarks: sentences on members whose order is not that of the paper.
    """

    name: str
    option: str
    members: tuple[Member, ...]
    text: ScoredText
    remarks: tuple[str, ...] = ()

    @property
    def varies(self) -> str:
        return _(OPTION_NAMES.get(self.option, self.option))

    @property
    def main(self) -> Measure:
        """The score by which its members are compared."""
        return "exact_match" if self.text.is_toy else "bleu"

    @property
    def scored(self) -> list[tuple[Member, Number]]:
        """The members that were run, the lowest score first."""
        found = [(member, member.ours[self.main]) for member in self.members if self.main in member.ours]
        return sorted(found, key=lambda one: one[1].mean)

    @property
    def is_repeated(self) -> bool:
        """Whether it has enough members, each with several runs, to tell a difference from chance."""
        return len(self.scored) >= FEWEST_POINTS and all(score.runs > 1 for unused, score in self.scored)

    @property
    def runs(self) -> str:
        """How often each member was trained, in words."""
        counts = sorted({score.runs for unused, score in self.scored})
        if not counts:
            return _("not trained")
        if len(counts) == 1:
            return ngettext("one run each", "{count} runs each", counts[0])
        return _("{least} to {most} runs each", least=counts[0], most=counts[-1])

    @property
    def effect(self) -> float:
        """The largest difference between two members, divided by the larger of the ranges of their runs. A range
        counts as at least one point."""
        if len(self.scored) < 2:
            return 0.0
        low, high = self.scored[0][1], self.scored[-1][1]
        return (high.mean - low.mean) / max(low.high - low.low, high.high - high.low, 1.0)

    @property
    def unlike_paper(self) -> list[tuple[Member, Member]]:
        """Pairs whose first member is better here and worse in the paper, the largest difference first."""
        found = [
            (theirs.mean - ours.mean, better, worse)
            for (better, theirs), (worse, ours) in permutations(self.scored, 2)
            if theirs.mean > ours.mean and better.paper.get("bleu", 0.0) < worse.paper.get("bleu", 0.0) != 0.0
            if "bleu" in better.paper
        ]
        return [(better, worse) for unused, better, worse in sorted(found, key=lambda one: -one[0])]


def read_families(files: Mapping[str, CheckpointFile]) -> tuple[Family, ...]:
    """The families of the folder of checkpoints, those with several runs first. `files`: the checkpoints that ship."""
    found = [family for path in sorted(checkpoint_folder().glob(FILES)) for family in _read(path, files)]
    return tuple(sorted(found, key=lambda family: not family.is_repeated))


def shipped_members(option: str, task: Task | None = None) -> dict[Value, CheckpointFile]:
    """The shipped checkpoints of the family that varies this option, by their values of the option.

    Args:
        task: a family whose members have this task is preferred, else one that does not learn a toy task.
    """
    families = [family for family in read_families(checkpoints()) if family.option == option]
    found = [(family, {member.value: member.file for member in family.members if member.file}) for family in families]
    own = [members for unused, members in found if task and members and _is_of(task, *members.values())]
    translating = [members for family, members in found if not family.text.is_toy]
    return next(iter([*own, *translating]), {})


def _is_of(task: Task, *files: CheckpointFile) -> bool:
    return all((one.source, one.target) == (task.source, task.target) for one in (entry(file).task for file in files))


def _read(path: Path, files: Mapping[str, CheckpointFile]) -> list[Family]:
    try:
        stored = _dict(parse_json(path.read_bytes()[:MOST_BYTES].decode("utf-8-sig")))
    except (OSError, ValueError):
        return []
    results = _dict(stored.get("members"))
    remarks = tuple(remark[:400] for remark in _list(stored.get("disagreements")) if isinstance(remark, str))
    text, prefix = _text(stored, results), stored.get("prefix", "family")
    found = []
    for family in map(_dict, _list(stored.get("families"))):
        members = [_member(_dict(member), results, files, str(prefix)[:60]) for member in _list(family.get("members"))]
        if isinstance(name := family.get("name"), str) and members:
            option = str(family.get("option", ""))[:60]
            own = tuple(remark for remark in remarks if remark.startswith(f"{name}:"))
            found.append(Family(name[:40], option, tuple(members), text, own))
    return found


def _text(stored: Mapping[str, Any], results: Mapping[str, Any]) -> ScoredText:
    runs = [_dict(run) for member in results.values() for run in _list(_dict(member).get("runs"))]
    scored = next((beam for run in runs if (beam := _dict(run.get("beam_4"))).get("sentences")), {})
    sentences, signature = finite_number(scored.get("sentences")), scored.get("bleu_signature")
    signature_text = signature[:200] if isinstance(signature, str) else ""
    return ScoredText(str(stored.get("scored_on", ""))[:100], int(sentences or 0), signature_text)


def _member(
    stored: dict[str, Any], results: dict[str, Any], files: Mapping[str, CheckpointFile], prefix: str
) -> Member:
    name, value = str(stored.get("member", ""))[:60], stored.get("value")
    runs = [_dict(run) for run in _list(_dict(results.get(name)).get("runs"))]
    ours = {measure: number for measure in MEASURES if (number := _number(runs, measure))}
    theirs = _dict(stored.get("paper"))
    paper = {measure: stated for measure in MEASURES if (stated := finite_number(theirs.get(measure))) is not None}
    parameters = runs[0].get("parameters") if runs else 0
    stem = f"{prefix}-{name}"
    if value == name or not isinstance(value, str | int | float | bool | None):
        value = re.sub(r"-(?!norm)", " ", name)
    file = files.get(stem) or files.get(name)
    return Member(name, value, ours, paper, parameters if type(parameters) is int else 0, stem, file)


def _number(runs: list[dict[str, Any]], measure: Measure) -> Number | None:
    scale = 100 if measure == "exact_match" else 1
    stored = [run.get(measure) if measure == "perplexity" else _dict(run.get("beam_4")).get(measure) for run in runs]
    found = [scale * number for one in stored if (number := finite_number(one)) is not None]
    return Number(sum(found) / len(found), min(found), max(found), found[0], len(found)) if found else None


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []

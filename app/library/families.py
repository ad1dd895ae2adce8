"""Families of small models that differ in one option, as `python -m transformer queue ... --report` gathers them.

`families.json` is in the folder of the checkpoints. It is read leniently: a member that has no result yet, or one that
is damaged, is a member that was not run.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from app.library.checkpoints import CheckpointFile, checkpoint_folder, checkpoints
from transformer.files.strict_json import parse_json
from transformer.files.untrusted_values import finite_number

FILE = "families.json"
MOST_BYTES = 8_000_000
Measure = Literal["bleu", "chrf", "perplexity"]
Value = str | int | float | bool | None

SHORT = {
    "model.heads": "heads h",
    "model.positions": "positions",
    "model.encoder_layers": "layers N",
    "model.dropout": "dropout P_drop",
    "training.label_smoothing": "label smoothing ε",
    "model.norm": "LayerNorm",
    "model.attention_window": "attention window r",
    "model.causal_training": "causal mask in training",
}


@dataclass(frozen=True)
class Number:
    """A mean over `seeds` runs, and their standard deviation where there is more than one."""

    mean: float
    spread: float | None
    seeds: int


@dataclass(frozen=True)
class Member:
    """One model of a family; `ours` is empty if it was not run.

    Attributes:
        value: of the option that the family varies. paper: the numbers of table 3, if it has such a row.
        parameters: 0 where unknown.
        file: its checkpoint, if it ships.
    """

    name: str
    value: Value
    ours: Mapping[Measure, Number]
    paper: Mapping[Measure, float]
    parameters: int
    file: CheckpointFile | None

    @property
    def label(self) -> str:
        """Its value, in words."""
        if self.value is None:
            return "unlimited"
        if isinstance(self.value, bool):
            return "yes" if self.value else "no"
        return str(self.value)


@dataclass(frozen=True)
class Family:
    """Models that differ in one option, such as "model.heads"."""

    name: str
    option: str
    members: tuple[Member, ...]

    @property
    def varies(self) -> str:
        return SHORT.get(self.option, self.option)

    @property
    def ends(self) -> tuple[Member, Member] | None:
        """The members with the lowest and the highest BLEU; None if fewer than two were run."""
        run = sorted(
            (member for member in self.members if "bleu" in member.ours), key=lambda one: one.ours["bleu"].mean
        )
        return (run[0], run[-1]) if len(run) > 1 else None

    @property
    def effect(self) -> float:
        """The largest difference of BLEU between two members, in spreads of the seeds (of one seed: in BLEU points)."""
        if not self.ends:
            return 0.0
        low, high = (member.ours["bleu"] for member in self.ends)
        return (high.mean - low.mean) / max(low.spread or 1.0, high.spread or 1.0)


@dataclass(frozen=True)
class Families:
    """All that the file says.

    Attributes:
        scored_on: the file on which all members were scored.
        remarks: where the order is not the paper's.
        sentences: how many that file has. signature: sacrebleu's, of BLEU. 0 and "" where the file does not say.
    """

    families: tuple[Family, ...]
    scored_on: str
    remarks: tuple[str, ...]
    sentences: int = 0
    signature: str = ""

    @property
    def clearest(self) -> Family:
        """The family with the largest effect. There must be one."""
        return max(self.families, key=lambda family: family.effect)

    @property
    def measured_on(self) -> str:
        """Text, number of sentences and search, in words."""
        text = re.sub(r"\.tsv(\.gz)?$", "", self.scored_on) or "one text"
        return f"{self.sentences:,} sentences of {text}, beam 4" if self.sentences else f"{text}, beam 4"


def read_families(files: Mapping[str, CheckpointFile]) -> Families:
    """The families beside the checkpoints; none if there is no such file. `files`: the checkpoints that ship."""
    try:
        stored = parse_json((checkpoint_folder() / FILE).read_bytes()[:MOST_BYTES].decode("utf-8-sig"))
    except (OSError, ValueError):
        return Families((), "", ())
    stored = _dict(stored)
    results = _dict(stored.get("members"))
    found = []
    for family in map(_dict, _list(stored.get("families"))):
        members = [_member(_dict(member), results, files) for member in _list(family.get("members"))]
        if isinstance(family.get("name"), str) and members:
            found.append(Family(family["name"][:40], str(family.get("option", ""))[:60], tuple(members)))
    remarks = [remark[:400] for remark in _list(stored.get("disagreements")) if isinstance(remark, str)]
    runs = [_dict(run) for member in results.values() for run in _list(_dict(member).get("runs"))]
    scored = next((beam for run in runs if (beam := _dict(run.get("beam_4"))).get("sentences")), {})
    sentences, signature = finite_number(scored.get("sentences")), scored.get("bleu_signature")
    return Families(
        tuple(found),
        str(stored.get("scored_on", ""))[:100],
        tuple(remarks),
        int(sentences or 0),
        signature[:200] if isinstance(signature, str) else "",
    )


def shipped_members(option: str) -> dict[Value, CheckpointFile]:
    """The checkpoints of the family that varies this option, by their value of it, as far as they are included."""
    families = read_families(checkpoints()).families
    members = [member for family in families if family.option == option for member in family.members]
    return {member.value: member.file for member in members if member.file}


def _member(stored: dict[str, Any], results: dict[str, Any], files: Mapping[str, CheckpointFile]) -> Member:
    name, value = str(stored.get("member", ""))[:60], stored.get("value")
    result = _dict(results.get(name))
    runs, means, spreads = _list(result.get("runs")), _dict(result.get("mean")), _dict(result.get("spread"))
    measures: tuple[Measure, ...] = ("bleu", "chrf", "perplexity")
    ours = {
        measure: Number(mean, finite_number(spreads.get(measure)), max(len(runs), 1))
        for measure in measures
        if (mean := finite_number(means.get(measure))) is not None
    }
    theirs = _dict(stored.get("paper"))
    paper = {measure: number for measure in measures if (number := finite_number(theirs.get(measure))) is not None}
    parameters = _dict(runs[0]).get("parameters") if runs else 0
    file = files.get(f"family-{name}") or files.get(name)
    if not isinstance(value, str | int | float | bool | None):
        value = name
    return Member(name, value, ours, paper, parameters if type(parameters) is int else 0, file)


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []

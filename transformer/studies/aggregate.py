"""Means and spreads of the results of all runs, and where their order differs from the paper's.

The spread is the sample standard deviation over the seeds: sqrt(sum (x - mean)^2 / (n - 1)). One run has no spread.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from transformer.studies.measure_member import read_result, recorded
from transformer.studies.paper_table_3 import Row, row_of
from transformer.studies.training_queue import Family, Queue, value_in

BEAM = ("bleu", "chrf", "exact_match")  # measured with beam 4
MEASURES = (*BEAM, *(f"greedy_{name}" for name in BEAM), "perplexity", "loss", "train_loss")


@dataclass(frozen=True)
class MemberResults:
    """The results of one member."""

    member: str
    runs: list[dict[str, Any]]  # the results, one per seed
    mean: dict[str, float]  # of each of MEASURES that was measured; empty if the member has no result yet
    spread: dict[str, float]  # of the same measures; empty if fewer than two runs have a result


def gather(queue: Queue, runs: Path) -> dict[str, MemberResults]:
    """The results of each member of the queue so far, by name.

    Raises:
        HeadlightError: a result is damaged, or was made with another recipe.
    """
    members = {}
    for member in queue.recipes:
        own = [training for training in queue.trainings if training.member == member]
        results = [read_result(training, runs / training.folder) for training in own]
        found = [result for result in results if result is not None]
        measured = {name: [_measured(result, name) for result in found] for name in MEASURES}
        known = {name: [v for v in values if v is not None] for name, values in measured.items()}
        mean = {name: statistics.mean(values) for name, values in known.items() if values}
        spread = {name: statistics.stdev(values) for name, values in known.items() if len(values) > 1}
        members[member] = MemberResults(member, found, mean, spread)
    return members


def disagreements(queue: Queue, members: dict[str, MemberResults]) -> list[str]:
    """A sentence for each pair of members that the paper also compared and whose order is different here.

    The exact matches of toy tasks are compared with the paper's BLEU. Where both members have several seeds, a
    difference that is not larger than the larger of their spreads is left out.
    """
    sentences = []
    main = ("bleu", "bleu", "BLEU", ".1f", "")
    if queue.is_toy:
        main = ("exact_match", "bleu", "exact matches", ".1%", "BLEU ")
    measures = (main, ("perplexity", "perplexity", "perplexity", ".2f", ""))
    for family in queue.families:
        compared = [(members[name], row) for name, row in paper_rows(queue, family) if row and members[name].mean]
        for (one, its), (other, theirs) in combinations(compared, 2):
            for name, papers, unit, form, papers_unit in measures:
                ours = one.mean[name] - other.mean[name]
                paper = getattr(its, papers) - getattr(theirs, papers)
                several = name in one.spread and name in other.spread
                if ours * paper < 0 and not (several and abs(ours) <= max(one.spread[name], other.spread[name])):
                    here = f"{one.mean[name]:{form}} against {other.mean[name]:{form}}"
                    digits = form[:2] + "f"
                    there = f"{papers_unit}{getattr(its, papers):{digits}} against {getattr(theirs, papers):{digits}}"
                    sentences.append(
                        f"{family.name}: {one.member} against {other.member} has {unit} {here}; in the paper {there}."
                        + ("" if several else " (One seed: this may be chance.)")
                    )
    return sentences


def paper_rows(queue: Queue, family: Family) -> list[tuple[str, Row | None]]:
    """The members of a family, each with the paper's row of the same value, or None."""
    return [(name, row_of(family.option, value_in(queue, name, family.option))) for name in family.members]


def as_json(queue: Queue, members: dict[str, MemberResults]) -> dict[str, Any]:
    """All results for programs: members, families, and the paper's numbers where it has the same row."""
    by_name = {
        name: {
            "recipe": recorded(queue.recipes[name]),  # imported_results.py reads it
            "runs": [_without_recipe(run) for run in one.runs],
            "mean": one.mean,
            "spread": one.spread,
            "seeds_planned": _seeds(queue, name),
        }
        for name, one in members.items()
    }
    families = [
        {
            "name": family.name,
            "option": family.option,
            "members": [
                {"member": name, "value": value_in(queue, name, family.option), "paper": _numbers(row)}
                for name, row in paper_rows(queue, family)
            ],
        }
        for family in queue.families
    ]
    return {
        "queue": queue.name,
        "prefix": queue.prefix,
        "scored_on": queue.text,
        "members": by_name,
        "families": families,
        "disagreements": disagreements(queue, members),
    }


def _without_recipe(result: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in result.items() if name != "recipe"}


def _measured(result: dict[str, Any], name: str) -> float | None:
    if name in BEAM:
        value = result["beam_4"].get(name)
    elif name.startswith("greedy_"):
        value = result["greedy"].get(name.removeprefix("greedy_"))
    else:
        value = result.get(name)
    return None if value is None else float(value)


def _seeds(queue: Queue, member: str) -> Sequence[int]:
    return [training.seed for training in queue.trainings if training.member == member]


def _numbers(row: Row | None) -> dict[str, float] | None:
    return None if row is None else {"perplexity": row.perplexity, "bleu": row.bleu}

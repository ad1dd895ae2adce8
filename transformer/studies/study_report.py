"""The results of a queue as one JSON file and one Markdown card, in the form of the paper's table 3.

A row has only the values that differ from the base, as in the paper. A member without a result is marked "not run".
"""

from pathlib import Path

from transformer.config import Recipe
from transformer.errors import ConfigError
from transformer.files.atomic_write import replacing
from transformer.studies.aggregate import MemberResults, as_json, disagreements, gather, paper_rows
from transformer.studies.measure_member import write_json
from transformer.studies.paper_table_3 import BASE, TABLE_3, Row, Value
from transformer.studies.training_queue import Family, Queue, value_in, value_of

COLUMNS = {
    "N": "model.encoder_layers",
    "d_model": "model.d_model",
    "d_ff": "model.d_ff",
    "h": "model.heads",
    "d_k": "model.d_k",
    "P_drop": "model.dropout",
    "ε_ls": "training.label_smoothing",
    "updates": "training.updates",
}
PERPLEXITY = ("perplexity", 2)
BLEU = {"BLEU": ("bleu", 1), "BLEU, greedy": ("greedy_bleu", 1)}
EXACT = {"exact match": ("exact_match", 1), "exact match, greedy": ("greedy_exact_match", 1)}
NOT_RUN = "not run"
NONE = {  # the meaning of an option that is not set
    "model.attention_window": "unlimited",
    "data.max_ratio": "unlimited",
    "training.peak_rate": "the paper's",
}
OTHER_TOKENS = (
    "PPL is the perplexity per token, and these members have different tokens: compare them by BLEU and chrF."
)
SIGNATURES = "Signatures of sacrebleu: BLEU `{bleu_signature}`, chrF `{chrf_signature}`."


def write_report(queue: Queue, runs: Path, name: Path) -> tuple[Path, Path]:
    """Writes NAME.json and NAME.md; returns their paths.

    Raises:
        HeadlightError: a result is damaged, or was made with another recipe.
        ConfigError: there is no folder `runs`.
    """
    if not runs.is_dir():
        raise ConfigError(f"There is no folder {runs} with runs. Name it with --runs.")
    members = gather(queue, runs)
    data, card = Path(f"{name}.json"), Path(f"{name}.md")
    write_json(data, as_json(queue, members))
    with replacing(card) as temporary:
        temporary.write_text(markdown(queue, members), encoding="utf-8")
    return data, card


def markdown(queue: Queue, members: dict[str, MemberResults]) -> str:
    """The card."""
    done = [one for one in members.values() if one.runs]
    total, made = len(queue.trainings), sum(len(one.runs) for one in done)
    parts = [f"# {queue.name}", "", *([queue.about.strip(), ""] if queue.about else [])]
    beam = "exact matches and BLEU are" if queue.is_toy else "BLEU is"
    parts += [f"{made} of {total} runs are done. Scores are on {queue.text}; {beam} with beam 4.", ""]
    if any(one.spread for one in done):
        parts += ["± is the standard deviation over the seeds.", ""]
    parts += ["## All members", "", *_ours(queue, members), ""]
    for family in queue.families:
        parts += [f"## {family.name}", "", *_beside(queue, family, members), ""]
    for one in done:
        unmasked = [run["perplexity_without_mask"] for run in one.runs if "perplexity_without_mask" in run]
        if unmasked:
            parts += [
                f"In the training of `{one.member}` each position attended to the whole target; computed like that, "
                f"its perplexity on this text is {sum(unmasked) / len(unmasked):.2f}. With the causal mask, as in "
                f"decoding, it is {one.mean['perplexity']:,.0f}, and BLEU is {one.mean['bleu']:.1f}.",
                "",
            ]
    odd = disagreements(queue, members)
    parts += ["## Results in another order than the paper's", ""]
    parts += [f"- {sentence}" for sentence in odd] or ["Nowhere, as far as both have been compared."]
    parts += [
        "",
        "## The paper's table 3",
        "",
        "On newstest2013, after 100,000 updates (big: 300,000) on 4.5 million pairs.",
        "",
    ]
    parts += _paper()
    if done:
        scored = done[0].runs[0]["beam_4"]
        parts += ["", SIGNATURES.format(**scored)]
    return "\n".join(parts) + "\n"


def _ours(queue: Queue, members: dict[str, MemberResults]) -> list[str]:
    rows = [[*COLUMNS, "else", *_measures(queue), "params ×10⁶", "runs"]]
    first = next(iter(queue.recipes))  # the base is the first
    options = list(dict.fromkeys(option for family in queue.families for option in _options(queue, family)))
    for name, recipe in queue.recipes.items():
        base = queue.recipes[first]
        cells = [_changed(option, recipe, base, name == first) for option in COLUMNS.values()]
        extra = [option for option in options if option not in COLUMNS.values()]
        differs = [f"{option.partition('.')[2]} {_value_text(option, value_of(recipe, option))}" for option in extra]
        usual = [f"{option.partition('.')[2]} {_value_text(option, value_of(base, option))}" for option in extra]
        changes = ", ".join(one for one, other in zip(differs, usual, strict=True) if one != other)
        one = members[name]
        size = f"{one.runs[0]['parameters'] / 1e6:.2f}" if one.runs else ""
        numbers = [_number(one, *measure) for measure in _measures(queue).values()]
        rows.append([*cells, changes, *numbers, size, str(len(one.runs)), name])
    return table([["", *rows[0]], *([row[-1], *row[:-1]] for row in rows[1:])])


def _options(queue: Queue, family: Family) -> list[str]:
    """The option that a family varies; if it varies several, all options in which its members differ from the base."""
    changes = [change for name in family.members for change in queue.changes[name]]
    return [family.option] if family.option else [change.partition("=")[0] for change in changes]


def _beside(queue: Queue, family: Family, members: dict[str, MemberResults]) -> list[str]:
    main = EXACT if queue.is_toy else BLEU
    rows = [[family.option, "PPL", *main, "PPL, the paper", "BLEU, the paper"]]
    for name, row in paper_rows(queue, family):
        one, value = members[name], _value_text(family.option, value_in(queue, name, family.option))
        numbers = [_number(one, *measure) for measure in (PERPLEXITY, *main.values())]
        theirs = ["–", "–"] if row is None else [f"{row.perplexity:.2f}", f"{row.bleu:.1f}"]
        rows.append([f"{value} ({name})" if family.option else name, *numbers, *theirs])
    return [*table(rows), *(["", OTHER_TOKENS] if family.option.startswith("tokenizer.") else [])]


def _paper() -> list[str]:
    rows = [["", *COLUMNS, "else", "PPL", "BLEU", "params ×10⁶"]]
    for row in TABLE_3:
        first = row.group == "base"
        cells = [_value_text(option, BASE[option]) if first else _cell(row, option) for option in COLUMNS.values()]
        learned = "learned positions" if row.differs.get("model.positions") == "learned" else ""
        numbers = [f"{row.perplexity:.2f}", f"{row.bleu:.1f}", "" if row.millions is None else str(row.millions)]
        rows.append([row.group, *cells, learned, *numbers])
    return table(rows)


def _cell(row: Row, option: str) -> str:
    return _value_text(option, row.differs[option]) if option in row.differs else ""


def _changed(option: str, recipe: Recipe, base: Recipe, is_base: bool) -> str:
    value = _value_text(option, value_of(recipe, option))
    return value if is_base or value != _value_text(option, value_of(base, option)) else ""


def _measures(queue: Queue) -> dict[str, tuple[str, int]]:
    """The columns of results in the table of all members: their names in a result, and their digits."""
    first = {"exact match": ("exact_match", 1)} if queue.is_toy else {}
    return {"PPL": PERPLEXITY, **first, "BLEU": ("bleu", 1), "chrF": ("chrf", 1)}


def _number(one: MemberResults, name: str, digits: int) -> str:
    if name not in one.mean:
        return NOT_RUN
    scale, unit = (100, "%") if name.endswith("exact_match") else (1, "")
    text = number(scale * one.mean[name], digits)
    spread = f" ± {number(scale * one.spread[name], digits)}" if name in one.spread else ""
    return f"{text}{spread}{unit}"


def number(value: float, digits: int) -> str:
    """A score for a reader: 11.52, but 13,375."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.{digits}f}"


def _value_text(option: str, value: Value) -> str:
    """The value of "section.key" for a reader."""
    if value is None:
        return NONE.get(option, "none")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(rows: list[list[str]]) -> list[str]:
    """The lines of a table in Markdown; the first row is the header."""
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return [f"| {' | '.join(cell.replace('|', ' ') for cell in line)} |" for line in lines]

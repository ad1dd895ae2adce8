"""Means and spreads, the paper's table 3 beside our own, and where their order differs."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from transformer.errors import ConfigError
from transformer.recipe import load_recipe
from transformer.studies.aggregate import disagreements, gather
from transformer.studies.measure_member import RESULT, write_json
from transformer.studies.paper_table_3 import BASE, BIG, TABLE_3, Value, row_of
from transformer.studies.queue_file import load_queue
from transformer.studies.study_report import markdown, write_report
from transformer.studies.training_queue import Queue, Training, value_of

QUEUE = """
recipe = "family"
scored_on = "texts/valid.tsv"
about = "Toys."
members = [
    { name = "base", seeds = [1, 2] },
    { name = "heads-1", set = ["model.heads=1"], seeds = [1, 2] },
    { name = "learned", set = ["model.positions=learned"] },
    { name = "no-mask", set = ["model.causal_training=false"] },
]
families = [
    { name = "heads", option = "model.heads", members = ["heads-1", "base"] },
    { name = "positions", option = "model.positions", members = ["base", "learned"] },
    { name = "mask", option = "model.causal_training", members = ["base", "no-mask"] },
]
"""


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    path = tmp_path / "toys.toml"
    path.write_text(QUEUE, encoding="utf-8")
    return load_queue(path)


def pretend(training: Training, runs: Path, bleu: float, perplexity: float, **more: Any) -> None:
    """A result as if the run had been made."""
    scored = {"bleu": bleu, "chrf": 50.0, "bleu_signature": "B", "chrf_signature": "C"}
    result = {"parameters": 1_900_544, "perplexity": perplexity, "loss": 1.0, "train_loss": 2.0, **more}
    result |= {"beam_4": scored, "greedy": {**scored, "bleu": bleu - 1}, "recipe": asdict(training.recipe)}
    result["scored_on"] = training.scored_on
    write_json(runs / training.folder / RESULT, result)


def test_the_papers_base_is_that_of_its_recipe() -> None:
    for name, values in (("paper-base", BASE), ("paper-big", BASE | BIG)):
        recipe = load_recipe(name)
        assert {option: value_of(recipe, option) for option in values} == values


def test_the_papers_rows_are_found_by_what_differs() -> None:
    asked: list[tuple[str, Value]] = [
        ("model.heads", 1),
        ("model.heads", 8),
        ("model.encoder_layers", 2),
        ("model.d_model", 1024),
        ("model.d_k", 32),
        ("training.label_smoothing", 0.0),
        ("model.positions", "learned"),
        ("model.heads", 2),
        ("model.norm", "pre"),
    ]
    found = [row_of(option, value) for option, value in asked]
    numbers = [None if row is None else (row.perplexity, row.bleu) for row in found]
    assert numbers == [
        (5.29, 24.9),
        (4.92, 25.8),
        (6.11, 23.7),
        (4.66, 26.0),  # that of row (C), not of "big"
        (5.01, 25.4),
        (4.67, 25.3),
        (4.92, 25.7),
        None,
        None,
    ]
    heads = [row for row in TABLE_3 if row.group == "(A)"]
    assert all(row.differs["model.heads"] * row.differs["model.d_k"] == 512 for row in heads)  # type: ignore[operator]


def test_means_and_spreads_are_those_over_the_seeds(queue: Queue, tmp_path: Path) -> None:
    first, second = (training for training in queue.trainings if training.member == "base")
    pretend(first, tmp_path, bleu=20.0, perplexity=8.0)
    result = gather(queue, tmp_path)["base"]
    assert (result.mean["bleu"], result.spread) == (20.0, {})
    pretend(second, tmp_path, bleu=23.0, perplexity=8.0)
    result = gather(queue, tmp_path)["base"]
    assert result.mean["bleu"] == pytest.approx(21.5)
    assert result.mean["greedy_bleu"] == pytest.approx(20.5)
    assert result.spread["bleu"] == pytest.approx((2 * 1.5**2 / 1) ** 0.5)
    assert result.spread["perplexity"] == 0.0


def test_an_order_unlike_the_papers_is_reported_if_the_difference_exceeds_the_spread(
    queue: Queue, tmp_path: Path
) -> None:
    def reported(heads_1: list[float], base: list[float]) -> list[str]:
        for member, values in (("heads-1", heads_1), ("base", base)):
            trainings = [training for training in queue.trainings if training.member == member]
            for training, bleu in zip(trainings, values, strict=False):
                pretend(training, tmp_path, bleu, perplexity=9.0 if member == "heads-1" else 8.0)
        return disagreements(queue, gather(queue, tmp_path))

    assert reported([20.0], [21.0]) == []  # as in the paper
    alone = reported([21.0], [20.0])
    assert len(alone) == 1
    assert "BLEU 21.0 against 20.0; in the paper 24.9 against 25.8. (One seed" in alone[0]
    assert reported([21.0, 23.0], [20.0, 22.0]) == []  # 1 apart, spreads 1.4
    several = reported([25.0, 25.5], [20.0, 22.0])
    assert len(several) == 1
    assert "One seed" not in several[0]


def test_the_card_says_what_differs_what_is_measured_and_what_was_not_run(queue: Queue, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    by_folder = {training.folder: training for training in queue.trainings}
    pretend(by_folder["base-seed1"], runs, bleu=20.0, perplexity=8.0)
    pretend(by_folder["base-seed2"], runs, bleu=23.0, perplexity=8.5)
    pretend(by_folder["no-mask-seed1"], runs, bleu=0.1, perplexity=51_234.5, perplexity_without_mask=1.034)
    data, card = write_report(queue, runs, tmp_path / "out" / "toys")
    text = card.read_text(encoding="utf-8")
    assert text.startswith(
        "# toys\n\nToys.\n\n3 of 6 runs are done. Scores are on texts/valid.tsv; BLEU is with beam 4.\n\n± is"
    )
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    ours = {row[0]: row for row in reversed(rows) if len(row) == 15}
    assert ours["base"][1:9] == ["3", "128", "512", "8", "16", "0.1", "0.1", "1,600"]
    assert ours["base"][9:] == ["", "8.25 ± 0.35", "21.5 ± 2.1", "50.0 ± 0.0", "1.90", "2"]
    assert ours["heads-1"][1:] == ["", "", "", "1", "128", "", "", "", "", *["not run"] * 3, "", "0"]
    assert ours["learned"][9] == "positions learned"
    assert ours["no-mask"][9:12] == ["causal_training no", "51,234", "0.1"]
    assert ["8 (base)", "8.25 ± 0.35", "21.5 ± 2.1", "20.5 ± 2.1", "4.92", "25.8"] in rows
    assert ["1 (heads-1)", "not run", "not run", "not run", "5.29", "24.9"] in rows
    assert "its perplexity on this text is 1.03. With the causal mask" in text
    assert len([row for row in rows if row[0] in {"base", "big", "(A)", "(B)", "(C)", "(D)", "(E)"}]) == 1 + len(
        TABLE_3
    )
    stated = json.loads(data.read_text(encoding="utf-8"))
    assert stated["members"]["base"]["mean"]["bleu"] == 21.5
    assert stated["members"]["heads-1"]["mean"] == {}
    assert stated["families"][0]["members"][0] == {
        "member": "heads-1",
        "value": 1,
        "paper": {"perplexity": 5.29, "bleu": 24.9},
    }


def test_the_card_says_what_an_unset_option_means_and_which_perplexities_do_not_compare(tmp_path: Path) -> None:
    family = '{{ name = "{}", option = "{}", members = ["base", "{}"] }},\n]'
    text = QUEUE
    for name, option, settings in [
        ("window", "model.attention_window", '"model.attention_window=3"'),
        ("rate", "training.peak_rate", '"training.peak_rate=none", "training.schedule=inverse_sqrt"'),
        ("vocabulary", "tokenizer.vocab_size", '"tokenizer.vocab_size=1000"'),
    ]:
        text = text.replace("]\nfamilies", f'    {{ name = "{name}", set = [{settings}] }},\n]\nfamilies')
        text = text.rstrip().removesuffix("]") + family.format(name, option, name)
    (tmp_path / "toys.toml").write_text(text, encoding="utf-8")
    queue = load_queue(tmp_path / "toys.toml")
    card = markdown(queue, gather(queue, tmp_path / "runs"))
    assert "| unlimited (base) |" in card.partition("## window")[2].partition("##")[0]
    rates = card.partition("## rate")[2].partition("##")[0]
    assert "| 0.002 (base) |" in rates
    assert "| the paper's (rate) |" in rates
    warned = "compare them by BLEU and chrF"
    assert warned in card.partition("## vocabulary")[2].partition("##")[0]
    assert card.count(warned) == 1


def test_a_report_without_runs_says_where_they_were_looked_for(queue: Queue, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        write_report(replace(queue), tmp_path / "nowhere", tmp_path / "toys")

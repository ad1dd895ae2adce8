"""The members that a lesson needs are shipped with the other checkpoints, each with a card that names its purpose."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from transformer.checkpoint.checkpoint_file import TrainedModel, load_checkpoint, save_checkpoint
from transformer.cli import app
from transformer.data.corpus import read_pairs
from transformer.data.pair_sources import toy_test_pairs
from transformer.decoding.translator import Translator
from transformer.errors import HeadlightError
from transformer.evaluation import evaluate
from transformer.studies.measure_member import RESULT
from transformer.studies.queue_file import load_queue
from transformer.studies.ship_members import card, ship

PRETRAINED = Path(__file__).parents[2] / "pretrained"


def test_members_with_a_lesson_ship_as_they_were_scored(worked_off: tuple[Path, Path], tmp_path: Path) -> None:
    file, runs = worked_off
    command = ["queue", str(file), "--data", str(file.parent), "--runs", str(runs), "--ship", str(tmp_path / "to")]
    assert CliRunner().invoke(app, command).exit_code == 0
    assert {path.name for path in (tmp_path / "to").iterdir()} == {"family-no-mask.safetensors", "family-no-mask.md"}
    result = json.loads((runs / "no-mask-seed1" / RESULT).read_text(encoding="utf-8"))
    base = json.loads((runs / "base-seed1" / RESULT).read_text(encoding="utf-8"))
    shipped = tmp_path / "to" / "family-no-mask.safetensors"
    assert shipped.read_bytes() == (runs / "no-mask-seed1" / result["checkpoint"]).read_bytes()
    assert not load_checkpoint(shipped).config.causal_training
    card_text = shipped.with_suffix(".md").read_text(encoding="utf-8")
    assert "What it saw, it copies." in card_text
    assert "| Unlike the base | `model.causal_training=false` |" in card_text
    assert "1 + 1 layers" in card_text
    assert "parameters, stored in single precision |" in card_text
    assert f"`python -m transformer evaluate {shipped} --data" in card_text
    assert f"the training loss was {result['train_loss']:.2f} at the end" in card_text
    assert f"| BLEU, beam 4 | {result['beam_4']['bleu']:.1f} | {base['beam_4']['bleu']:.1f} |" in card_text
    assert f"as in training | {result['perplexity_without_mask']:.2f} |  |" in card_text
    translator = Translator.load(shipped)
    greedy = replace(translator.settings, method="greedy", n_best=1)
    found = evaluate(translator, read_pairs(file.parent / "scored.tsv"), greedy)
    assert f"| chrF, greedy | {found['chrf']:.1f} |" in card_text


def test_one_command_reports_and_ships(worked_off: tuple[Path, Path], tmp_path: Path) -> None:
    file, runs = worked_off
    command = ["queue", str(file), "--data", str(file.parent), "--runs", str(runs)]
    result = CliRunner().invoke(app, [*command, "--report", str(tmp_path / "card"), "--ship", str(tmp_path / "to")])
    assert result.exit_code == 0
    written = {tmp_path / "card.json", tmp_path / "card.md", tmp_path / "to" / "family-no-mask.safetensors"}
    assert set(result.stderr.splitlines()) == {f"Written: {path}" for path in written}
    assert all(path.is_file() for path in written)


def test_what_was_not_measured_or_is_stored_otherwise_is_said_otherwise(
    worked_off: tuple[Path, Path], tmp_path: Path
) -> None:
    file, runs = worked_off
    queue = load_queue(file, file.parent)
    training = next(training for training in queue.trainings if training.member == "no-mask")
    result = json.loads((runs / training.folder / RESULT).read_text(encoding="utf-8"))
    kept = load_checkpoint(runs / training.folder / result["checkpoint"])
    save_checkpoint(tmp_path / "half.safetensors", TrainedModel(kept.model, kept.tokenizer), half=True)
    text = card(queue, tmp_path / "half.safetensors", training, result | {"train_loss": None}, result)
    assert "parameters, stored in half precision |" in text
    assert f"seed {training.seed} |" in text


def test_a_member_without_a_result_does_not_ship_and_a_lost_checkpoint_is_reported(
    worked_off: tuple[Path, Path], tmp_path: Path
) -> None:
    file, runs = worked_off
    queue = load_queue(file, file.parent)
    assert ship(queue, tmp_path / "no-runs", tmp_path / "to") == []
    command = ["queue", str(file), "--data", str(file.parent), "--runs", str(tmp_path / "no-runs")]
    result = CliRunner().invoke(app, [*command, "--ship", str(tmp_path / "to")])
    assert f"Nothing was copied to {tmp_path / 'to'}." in result.stderr
    assert "once they and the first member, base, have results" in result.stderr
    assert not (tmp_path / "to").exists()
    for folder in ("base-seed1", "no-mask-seed1"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / RESULT).write_bytes((runs / folder / RESULT).read_bytes())
    with pytest.raises(HeadlightError, match="which was scored, is missing"):
        ship(queue, tmp_path, tmp_path / "to")


@pytest.mark.parametrize("study", ["families", "toy-families"])
def test_the_members_that_ship_are_those_with_a_lesson_and_their_cards_have_the_numbers_of_the_report(
    study: str,
) -> None:
    queue = load_queue(study)
    report = json.loads((PRETRAINED / f"{study}.json").read_text(encoding="utf-8"))
    shipped = {path.stem for path in PRETRAINED.glob(f"{queue.prefix}-*.safetensors")}
    assert shipped == {f"{queue.prefix}-{name}" for name in queue.lessons if report["members"][name]["runs"]}
    for name, lesson in queue.lessons.items():
        if f"{queue.prefix}-{name}" not in shipped:
            continue
        card_text = (PRETRAINED / f"{queue.prefix}-{name}.md").read_text(encoding="utf-8")
        assert lesson.strip() in card_text
        result = report["members"][name]["runs"][0]
        for title, value in (("BLEU, beam 4", result["beam_4"]["bleu"]), ("chrF, greedy", result["greedy"]["chrf"])):
            assert re.search(rf"^\| {title} \| {value:.1f} \|", card_text, re.MULTILINE)
        loaded = load_checkpoint(PRETRAINED / f"{queue.prefix}-{name}.safetensors")
        options = {f"model.{option}": value for option, value in vars(queue.recipes[name].model).items()}
        odd = [option for option, value in options.items() if getattr(loaded.config, option[6:]) != value]
        assert odd in ([], ["model.vocab_size"])


def test_without_positions_the_order_of_words_is_lost_and_with_them_it_is_not() -> None:
    """What the cards of family-positions-none and reverse-no-positions say."""
    sentences, letters = ("Tom loves Mary.", "Mary loves Tom."), ("k f a z", "z a f k")
    for name, lost, texts in (
        ("family-positions-none", True, sentences),
        ("family-base", False, sentences),
        ("reverse-no-positions", True, letters),
        ("reverse-base", False, letters),
    ):
        translator = Translator.load(PRETRAINED / f"{name}.safetensors")
        one, other = (translator.translate(text).text for text in texts)
        assert (one == other) is lost


def test_the_score_on_a_toy_s_card_is_that_of_the_file_that_ships() -> None:
    report = json.loads((PRETRAINED / "toy-families.json").read_text(encoding="utf-8"))
    recipe = load_queue("toy-families").recipes["one-head"]
    translator = Translator.load(PRETRAINED / "reverse-one-head.safetensors")
    settings = replace(translator.settings, method="greedy")
    scores = evaluate(translator, toy_test_pairs(recipe.data), settings)
    reported = report["members"]["one-head"]["runs"][0]["greedy"]["exact_match"]
    assert scores["exact_match"] == pytest.approx(reported, abs=0.005)  # another machine may round otherwise


def test_what_was_shipped_elsewhere_stays_where_only_its_result_is_here(
    worked_off: tuple[Path, Path], tmp_path: Path
) -> None:
    file, runs = worked_off
    queue = load_queue(file, file.parent)
    (shipped,) = ship(queue, runs, tmp_path / "to")
    before = shipped.read_bytes(), shipped.with_suffix(".md").read_bytes()
    for folder in ("base-seed1", "no-mask-seed1"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / RESULT).write_bytes((runs / folder / RESULT).read_bytes())
    assert ship(queue, tmp_path, tmp_path / "to") == []
    assert (shipped.read_bytes(), shipped.with_suffix(".md").read_bytes()) == before

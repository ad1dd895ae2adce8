"""The command `evaluate`: its scores are those of the translations, in each precision and with reranking."""

import gzip
import json
from pathlib import Path

import pytest
import torch

from tests.support.command_line import one_line, run
from transformer.checkpoint.checkpoint_file import TrainedModel, load_checkpoint, save_checkpoint
from transformer.data.toy_tasks import held_out_pairs
from transformer.decoding.reranking import Reranker
from transformer.decoding.translation import Translation
from transformer.decoding.translator import Translator
from transformer.evaluation import score


def test_rows_that_share_a_source_are_its_references(checkpoint: Path, tmp_path: Path) -> None:
    rows = [("the dog ran.", "der Hund lief."), ("a cat.", "Katze."), ("the dog ran.", "Hund!"), ("a cat.", "Katze.")]
    with gzip.open(tmp_path / "test.tsv.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{i}\t{target}\t{source}\n" for i, (source, target) in enumerate(rows))
    columns = ("--source-column", 3, "--target-column", 2)
    result = run("evaluate", checkpoint, "--data", tmp_path / "test.tsv.gz", *columns, "--json")
    assert result.exit_code == 0
    scores = json.loads(result.stdout)
    outputs = [t.text for t in Translator.load(checkpoint).translate_sentences(["the dog ran.", "a cat."])]
    for name, value in score(outputs, [["der Hund lief.", "Hund!"], ["Katze."]]).items():
        assert scores[name] == pytest.approx(value) if isinstance(value, float) else scores[name] == value
    assert (scores["sentences"], scores["references"], scores["untranslated"]) == (2, 3, 0)
    assert scores["decoding"]["beam"] == 2
    assert scores["seconds"] > 0
    readable = run("evaluate", checkpoint, "--data", tmp_path / "test.tsv.gz", *columns, "--beam", 3)
    assert readable.exit_code == 0
    assert readable.stdout.startswith("BLEU ")
    assert "nrefs:var|case:mixed" in readable.stdout
    assert "2 sentences, 3 references" in readable.stdout


def test_a_toy_model_is_scored_on_pairs_that_its_task_keeps_out_of_training() -> None:
    reverse = Path(__file__).parents[2] / "pretrained" / "reverse.safetensors"
    scores = json.loads(run("evaluate", reverse, "--beam", 1, "--json").stdout)
    assert scores["references"] <= 1000
    assert scores["exact_match"] > 0.98
    assert scores["data"] == "pairs of the toy task"


def test_a_model_of_the_other_direction_chooses_among_the_hypotheses(checkpoint: Path, tmp_path: Path) -> None:
    """Between the two languages of the first model, and no others."""
    (tmp_path / "test.tsv").write_text("a cat.\tKatze.\nthe dog ran.\tder Hund lief.\n")
    files = {}
    for languages in (("en", "de"), ("de", "en"), ("fr", "en")):
        files[languages] = tmp_path / f"{'-'.join(languages)}.safetensors"
        data = {"toy": None, "train": ["x.tsv"], "source_language": languages[0], "target_language": languages[1]}
        trained = load_checkpoint(checkpoint)
        recipe = {"model": {"vocab_size": 320}, "data": data, "decoding": {"beam": 2}}
        save_checkpoint(files[languages], TrainedModel(trained.model, trained.tokenizer, recipe, {}))
    command = ("evaluate", files["en", "de"], "--data", tmp_path / "test.tsv", "--json", "--rerank")
    result = json.loads(run(*command, files["de", "en"]).stdout)
    forward, reverse = Translator.load(files["en", "de"]), Translator.load(files["de", "en"])
    found = Reranker(forward, reverse).translate_each(["a cat.", "the dog ran."])
    outputs = [each.text for each in found if isinstance(each, Translation)]
    assert result["bleu"] == pytest.approx(score(outputs, [["Katze."], ["der Hund lief."]])["bleu"])
    assert result["rerank"] == str(files["de", "en"])
    refused = run(*command, files["fr", "en"])
    assert refused.exit_code == 1
    assert "translates fr to en. Needed is one that translates de to en." in one_line(refused.stderr)


def test_a_source_that_is_too_long_counts_as_an_empty_output(checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "test.tsv").write_text("a cat.\tKatze.\n" + "dog " * 60 + "\tHund.\n")
    result = run("evaluate", checkpoint, "--data", tmp_path / "test.tsv", "--json")
    assert json.loads(result.stdout)["untranslated"] == 1
    result = run("evaluate", checkpoint, "--data", tmp_path / "test.tsv").stdout
    assert "counted as empty: 1. The sentence ('dog dog" in result
    assert "this model reads at most" in result


def test_bfloat16_translates_the_toys_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scores show whether bfloat16 loses quality; a warning says that the hardware emulates it."""
    numbers = Path(__file__).parents[2] / "pretrained" / "numbers.safetensors"
    lines = [f"{source}\t{target}\n" for source, target in held_out_pairs("numbers", 5, 40)]
    (tmp_path / "test.tsv").write_text("".join(lines), encoding="utf-8")
    command = ["evaluate", numbers, "--data", tmp_path / "test.tsv", "--device", "cpu", "--json"]
    exact = json.loads(run(*command).stdout)
    assert exact["precision"] == "float32"
    for emulated in (False, True):
        monkeypatch.setattr("transformer.device.multiplies_bfloat16", lambda device, e=emulated: not e)
        evaluated = run(*command, "--precision", "bfloat16")
        result = json.loads(evaluated.stdout)
        assert result["precision"] == "bfloat16"
        assert result["chrf"] == exact["chrf"] > 99  # words have no 4-grams, so BLEU is 0
        assert ("does not multiply bfloat16" in evaluated.stderr) == emulated


def test_precision_is_that_of_the_weights(checkpoint: Path) -> None:
    exact, rounded = Translator.load(checkpoint).model, Translator.load(checkpoint, precision="bfloat16").model
    assert {weight.dtype for weight in (*exact.parameters(), *exact.buffers())} == {torch.float32}
    assert {weight.dtype for weight in (*rounded.parameters(), *rounded.buffers())} == {torch.bfloat16}

"""A checkpoint that is exported for Hugging Face has the same tokens, logits and translations there."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from tests.support.app_checkpoints import LINES, tokenizer_of_lines
from tests.support.marian_folder import marian_folder
from tests.support.small_decoding import ids
from tests.support.small_model import randomised, small
from transformer.checkpoint.checkpoint_file import Checkpoint, TrainedModel, load_checkpoint, save_checkpoint
from transformer.cli import app
from transformer.config import BOS, EOS, PAD, UNK, DecodingConfig, ModelConfig
from transformer.decoding.search import search
from transformer.decoding.translator import Translator
from transformer.errors import HeadlightError
from transformer.export.ctranslate2_readme import PAPER_POWER
from transformer.export.huggingface_model import export_huggingface
from transformer.importing.marian_import import import_marian

PRETRAINED = Path(__file__).parents[2] / "pretrained"
CONFIGS: dict[str, dict[str, Any]] = {
    "as in the paper": {},
    "halves": {"sinusoid_layout": "concatenated", "activation": "silu"},
    "three matrices": {"shared_embeddings": False, "activation": "gelu", "encoder_layers": 3},
    "a bias": {"output_bias": True, "decoder_layers": 1},
    "pre-norm": {"norm": "pre"},
    "pre-norm, learned positions": {"norm": "pre", "positions": "learned", "activation": "gelu"},
    "pre-norm, no positions": {"norm": "pre", "positions": "none", "encoder_layers": 3, "output_bias": True},
}
SETTINGS = DecodingConfig(beam=3, length_penalty="power", alpha=0.5, max_extra_length=8)


def checkpoint(folder: Path, **changes: Any) -> Checkpoint:
    """A random model, with MarianMT's epsilon unless `changes` has another."""
    tokenizer = tokenizer_of_lines()
    sizes = {"vocab_size": tokenizer.vocab_size, "norm": "post", "norm_epsilon": 1e-5, "max_positions": 64}
    config = ModelConfig(**{**vars(small()), **sizes, **changes})
    save_checkpoint(folder / "random.safetensors", TrainedModel(randomised(config, torch.float32), tokenizer))
    return load_checkpoint(folder / "random.safetensors")


def loaded(folder: Path) -> tuple[Any, Any]:
    """The model and its tokenizer as Hugging Face loads them."""
    from transformers import AutoModelForSeq2SeqLM, MarianTokenizer

    model: Any = AutoModelForSeq2SeqLM
    tokenizer: Any = MarianTokenizer
    return model.from_pretrained(folder).eval(), tokenizer.from_pretrained(folder)


@pytest.mark.parametrize("name", CONFIGS)
def test_tokens_and_logits_are_the_same_in_hugging_face(name: str, tmp_path: Path) -> None:
    ours = checkpoint(tmp_path, **CONFIGS[name])
    export_huggingface(ours, tmp_path / "marian", SETTINGS)
    theirs, tokenizer = loaded(tmp_path / "marian")
    for line in LINES:
        assert tokenizer(line)["input_ids"] == [*ours.tokenizer.encode(line), EOS]
        assert tokenizer.decode(ours.tokenizer.encode(line)) == line
    source = torch.tensor([[*ours.tokenizer.encode(LINES[0]), EOS]])
    target = torch.tensor([[BOS, *ours.tokenizer.encode(LINES[1])]])
    with torch.no_grad():
        found = theirs(input_ids=source, decoder_input_ids=target).logits
        torch.testing.assert_close(found, ours.model(source, target), rtol=1e-4, atol=1e-4)


def test_sampling_keeps_its_temperature_top_k_and_top_p(tmp_path: Path) -> None:
    settings = DecodingConfig(method="sampling", temperature=0.5, top_k=0, top_p=0.9)
    export_huggingface(checkpoint(tmp_path), tmp_path / "marian", settings)
    found = loaded(tmp_path / "marian")[0].generation_config
    assert (found.do_sample, found.temperature, found.top_k, found.top_p) == (True, 0.5, 0, 0.9)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (DecodingConfig(beam=4, length_penalty="paper", alpha=0.6), (4, PAPER_POWER * 0.6, "never")),
        (DecodingConfig(beam=2, length_penalty="power", alpha=0.5), (2, 0.5, "never")),
        (DecodingConfig(beam=3, length_penalty="none"), (3, 0.0, "never")),
        (DecodingConfig(beam=1), (1, PAPER_POWER * 0.6, False)),
        (DecodingConfig(method="greedy", beam=4), (1, PAPER_POWER * 0.6, False)),
    ],
)
def test_a_search_keeps_its_beam_and_its_length_penalty(
    settings: DecodingConfig, expected: tuple[int, float, str | bool], tmp_path: Path
) -> None:
    export_huggingface(checkpoint(tmp_path), tmp_path / "marian", settings)
    found = loaded(tmp_path / "marian")[0].generation_config
    assert (found.num_beams, found.length_penalty, found.early_stopping) == expected
    assert not found.do_sample


def test_translations_are_the_same_in_hugging_face(tmp_path: Path) -> None:
    """The model is one that ends its translations: it was imported, and is exported again."""
    marian_folder(tmp_path / "first")
    import_marian(tmp_path / "first", tmp_path / "ours.safetensors", half=False)
    ours = load_checkpoint(tmp_path / "ours.safetensors")
    settings = DecodingConfig(beam=3, length_penalty="power", alpha=1.0, max_extra_length=12)
    export_huggingface(ours, tmp_path / "again", settings)
    theirs, tokenizer = loaded(tmp_path / "again")
    compared = 0
    for line in LINES[::2]:
        (found,) = search(ours.model, [[*ours.tokenizer.encode(line), EOS]], settings)
        (row,) = theirs.generate(**tokenizer(line, return_tensors="pt"), max_new_tokens=found.limit).tolist()
        if row[-1] == EOS:
            assert row[1:] == ids(found)
            compared += 1
    assert compared >= 2
    assert not {PAD, UNK} & set(row[1:])


def test_the_included_model_translates_the_same_in_hugging_face(tmp_path: Path) -> None:
    translator = Translator.load(PRETRAINED / "en-de.safetensors")
    assert translator.checkpoint is not None
    export_huggingface(translator.checkpoint, tmp_path / "en-de", translator.settings)
    theirs, tokenizer = loaded(tmp_path / "en-de")
    assert type(theirs).__name__ == "PegasusForConditionalGeneration"
    sentences = ["I was looking for my glasses all morning.", "Where is the nearest train station?"]
    rows = theirs.generate(**tokenizer(sentences, return_tensors="pt", padding=True))
    found = [each.text for each in translator.translate_sentences(sentences)]
    assert tokenizer.batch_decode(rows, skip_special_tokens=True) == found


def test_an_exported_model_can_be_imported_again(tmp_path: Path) -> None:
    ours = checkpoint(tmp_path)
    export_huggingface(ours, tmp_path / "marian", SETTINGS)
    import_marian(tmp_path / "marian", tmp_path / "back.safetensors", half=False)
    back = load_checkpoint(tmp_path / "back.safetensors")
    source = torch.tensor([[*ours.tokenizer.encode(LINES[0]), EOS]])
    target = torch.tensor([[BOS, *ours.tokenizer.encode(LINES[1])]])
    assert back.tokenizer.encode(LINES[0]) == ours.tokenizer.encode(LINES[0])
    with torch.no_grad():
        torch.testing.assert_close(back.model(source, target), ours.model(source, target), rtol=1e-4, atol=1e-4)


def test_without_languages_in_the_recipe_the_folder_names_none(tmp_path: Path) -> None:
    ours = replace(checkpoint(tmp_path), recipe={"data": "text.tsv"})
    export_huggingface(ours, tmp_path / "marian", SETTINGS)
    written = json.loads((tmp_path / "marian" / "tokenizer_config.json").read_text())
    assert (written["source_lang"], written["target_lang"]) == ("", "")


def test_what_it_does_not_have_is_refused_with_the_reason(tmp_path: Path) -> None:
    ours = checkpoint(tmp_path, positions="learned", attention_window=2)
    with pytest.raises(HeadlightError, match=r'with attention_window = 2 and norm = "post", positions = "learned"'):
        export_huggingface(ours, tmp_path / "marian", SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == ["random.safetensors"]
    with pytest.raises(HeadlightError, match=r"no such model with norm_epsilon = 0\.05"):
        export_huggingface(checkpoint(tmp_path, norm_epsilon=0.05), tmp_path / "marian", SETTINGS)
    export_huggingface(checkpoint(tmp_path, norm_epsilon=1e-6), tmp_path / "marian", SETTINGS)
    with pytest.raises(HeadlightError, match="exists already"):
        export_huggingface(checkpoint(tmp_path), tmp_path / "marian", SETTINGS)
    file, folder = str(tmp_path / "random.safetensors"), str(tmp_path / "other")
    done = CliRunner().invoke(app, ["export", "--to", "huggingface", file, folder, "--quantization", "int8"])
    assert (done.exit_code, "gets float32" in done.stderr) == (2, True)
    done = CliRunner().invoke(app, ["export", "--to", "huggingface", file, folder])
    assert (done.exit_code, (tmp_path / "other" / "model.safetensors").is_file()) == (0, True)

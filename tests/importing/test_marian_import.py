"""A MarianMT model of Hugging Face becomes a checkpoint with the same tokens, logits and translations."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from tests.support.marian_folder import ENGLISH, GERMAN, marian_folder
from tests.support.small_decoding import ids
from transformer.checkpoint.checkpoint_file import Checkpoint, load_checkpoint
from transformer.cli import app
from transformer.config import BOS, EOS, PAD, DecodingConfig
from transformer.decoding import Translator
from transformer.decoding.fast.fast_transformer import FastTransformer
from transformer.decoding.search import search
from transformer.errors import CheckpointError
from transformer.importing.marian_import import decoding_config, import_marian
from transformer.recipe import load_recipe
from transformer.text.pair_tokenizer import PairTokenizer
from transformer.training import train

SHAPES: dict[str, dict[str, Any]] = {
    "as opus-mt": {},
    "relu, deeper": {"activation_function": "relu", "encoder_layers": 3, "decoder_layers": 2},
    "separate embeddings": {"share_encoder_decoder_embeddings": False},
    "an output matrix of its own": {"tie_word_embeddings": False, "share_encoder_decoder_embeddings": False},
    "one head, gelu": {
        "encoder_attention_heads": 1,
        "decoder_attention_heads": 1,
        "activation_function": "gelu",
        "encoder_ffn_dim": 40,
        "decoder_ffn_dim": 40,
    },
}
SENTENCES = (*ENGLISH, "Zebras & Qwerty 😀!", "the the the")


@pytest.fixture(scope="module", params=SHAPES)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any, Checkpoint]:
    """A model, its tokenizer, and our checkpoint of it; all in float64."""
    from transformers import MarianTokenizer

    folder = tmp_path_factory.mktemp("marian")
    theirs = marian_folder(folder / "model", seed=list(SHAPES).index(request.param), **SHAPES[request.param])
    import_marian(folder / "model", folder / "ours.safetensors", half=False)
    ours = load_checkpoint(folder / "ours.safetensors")
    ours.model.double()
    tokenizer: Any = MarianTokenizer
    return theirs.double(), tokenizer.from_pretrained(folder / "model"), ours


def their_ids(tokenizer: Any, ours: Checkpoint, ids: list[int]) -> list[int]:
    """Our ids as theirs."""
    vocabulary = tokenizer.get_vocab()
    return [vocabulary["<pad>"] if id in (PAD, BOS) else vocabulary[ours.tokenizer.token(id)] for id in ids]


def test_tokens_are_those_of_the_tokenizer(both: tuple[Any, Any, Checkpoint]) -> None:
    _model, tokenizer, ours = both
    assert isinstance(ours.tokenizer, PairTokenizer)
    for sentence in SENTENCES:
        assert their_ids(tokenizer, ours, [*ours.tokenizer.encode(sentence), EOS]) == tokenizer(sentence)["input_ids"]
        tokens = ours.tokenizer.analyse(sentence)
        assert [token.id for token in tokens] == ours.tokenizer.encode(sentence)
        assert "".join(sentence[token.begin : token.end] for token in tokens) == sentence
    for sentence in GERMAN:
        ids = ours.tokenizer.target.encode(sentence)
        assert their_ids(tokenizer, ours, [*ids, EOS]) == tokenizer(text_target=sentence)["input_ids"]
        assert ours.tokenizer.decode([*ids, EOS]) == sentence
        assert ours.tokenizer.decode(ids) == tokenizer.decode(their_ids(tokenizer, ours, ids))


def test_logits_equal_those_of_the_model(both: tuple[Any, Any, Checkpoint]) -> None:
    theirs, tokenizer, ours = both
    source = [*ours.tokenizer.encode(ENGLISH[0]), EOS]
    target = [BOS, *ours.tokenizer.target.encode(GERMAN[0])]
    with torch.no_grad():
        found = ours.model(torch.tensor([source]), torch.tensor([target]))[0]  # (T, V)
        expected = theirs(
            input_ids=torch.tensor([their_ids(tokenizer, ours, source)]),
            decoder_input_ids=torch.tensor([their_ids(tokenizer, ours, target)]),
        ).logits[0]  # (T, V)
    rest = [id for id in range(ours.config.vocab_size) if id != BOS]
    torch.testing.assert_close(found[:, rest], expected[:, their_ids(tokenizer, ours, rest)], rtol=0, atol=1e-5)
    torch.testing.assert_close(
        found.log_softmax(-1)[:, rest],
        expected.log_softmax(-1)[:, their_ids(tokenizer, ours, rest)],
        rtol=0,
        atol=1e-5,
    )


@pytest.mark.parametrize("beam", [1, 3])
def test_greedy_and_beam_search_find_the_same_ids(both: tuple[Any, Any, Checkpoint], beam: int) -> None:
    theirs, tokenizer, ours = both
    settings = DecodingConfig(beam=beam, length_penalty="power", alpha=1.0, max_extra_length=12)
    never = [tokenizer.get_vocab()[token] for token in ("<pad>", "<unk>")]
    compared = 0
    for sentence in SENTENCES:
        source = [*ours.tokenizer.encode(sentence), EOS]
        (found,) = search(FastTransformer(ours.model), [source], settings)
        with torch.inference_mode():
            (row,) = theirs.generate(
                input_ids=torch.tensor([their_ids(tokenizer, ours, source)]),
                num_beams=beam,
                do_sample=False,
                length_penalty=1.0,
                early_stopping="never" if beam > 1 else False,
                max_new_tokens=found.limit,
                suppress_tokens=never,
            ).tolist()
        # What MarianMT cuts off at the limit competes with what finished, and with us it does not.
        if beam == 1 or row[-1] == tokenizer.get_vocab()["</s>"]:
            assert their_ids(tokenizer, ours, ids(found)) == row[1:]
            compared += 1
    assert compared >= 3


def test_settings_that_a_folder_does_not_state_are_those_of_hugging_face() -> None:
    assert decoding_config({}) == DecodingConfig(beam=1, length_penalty="power", alpha=1.0)
    stated = {"num_beams": 6, "length_penalty": 0.5}
    assert decoding_config(stated) == DecodingConfig(beam=6, length_penalty="power", alpha=0.5)


def test_the_checkpoint_translates_with_the_settings_and_languages_of_the_folder(tmp_path: Path) -> None:
    marian_folder(tmp_path / "opus-mt-en-de")
    folder, out = str(tmp_path / "opus-mt-en-de"), str(tmp_path / "a.safetensors")
    done = CliRunner().invoke(app, ["import", "marian", folder, out])
    assert (done.exit_code, "a.safetensors" in done.stderr) == (0, True), done.output
    translator = Translator.load(tmp_path / "a.safetensors")
    assert translator.settings == DecodingConfig(beam=3, length_penalty="power", alpha=1.0)
    assert translator.checkpoint is not None
    assert translator.checkpoint.format_version == 3
    assert translator.checkpoint.recipe is not None
    assert translator.checkpoint.recipe["data"] == {"source_language": "en", "target_language": "de"}
    same = CliRunner().invoke(app, ["evaluate", out, "--data", "x.tsv", "--rerank", out, "--beam", "2"])
    assert "Needed is one that translates de to en" in same.stderr
    found = translator.translate(ENGLISH[1])
    assert found.sentences[0].source_tokens[-1].text == "</s>"
    given = translator.score(ENGLISH[1], GERMAN[1])
    assert given.text == GERMAN[1]
    assert translator.translate_sentences([ENGLISH[1]], prefix="Wo ist")[0].text.startswith("Wo ist")
    again = CliRunner().invoke(app, ["import", "marian", f"{folder}-2", f"{out}.safetensors"])
    assert (again.exit_code, "has no config.json" in again.stderr) == (1, True)


def test_pickled_weights_are_read_and_a_pickle_that_runs_code_is_refused(tmp_path: Path) -> None:
    model = marian_folder(tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").unlink()
    weights = tmp_path / "model" / "pytorch_model.bin"
    torch.save(model.state_dict(), weights)
    assert import_marian(tmp_path / "model", tmp_path / "a.safetensors").model.config.output_bias

    class Hostile:
        def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
            return Path.touch, (tmp_path / "was run",)  # type: ignore[return-value]

    torch.save({"model.shared.weight": Hostile()}, weights)
    with pytest.raises(CheckpointError, match="cannot be read as weights"):
        import_marian(tmp_path / "model", tmp_path / "b.safetensors")
    assert not (tmp_path / "was run").exists()
    for content, reason in ((b"version https://git-lfs.github.com/spec/v1\n", "pointer of Git LFS"), (b"", "empty")):
        weights.write_bytes(content)
        with pytest.raises(CheckpointError, match=f"cannot be read as weights: .*{reason}") as refused:
            import_marian(tmp_path / "model", tmp_path / "b.safetensors")
        assert "weights_only" not in str(refused.value)


def changed(folder: Path, name: str, **values: object) -> None:
    about = json.loads((folder / name).read_text(encoding="utf-8"))
    (folder / name).write_text(json.dumps(about | values), encoding="utf-8")


def test_a_model_of_another_kind_is_refused_with_everything_that_does_not_fit(tmp_path: Path) -> None:
    folder, out = tmp_path / "model", tmp_path / "out.safetensors"
    marian_folder(folder)
    kept = (folder / "config.json").read_text(encoding="utf-8")
    changed(folder, "config.json", model_type="bart", scale_embedding=False, activation_function="tanh", d_model="big")
    with pytest.raises(CheckpointError) as refused:
        import_marian(folder, out)
    for words in ("model_type is bart", "scale_embedding is False", "activation_function is tanh", "d_model"):
        assert words in str(refused.value)
    (folder / "config.json").write_text(kept, encoding="utf-8")
    changed(folder, "config.json", decoder_start_token_id=None, dropout=None)
    with pytest.raises(CheckpointError, match=r"starts neither with <pad> nor with <s>; .*dropout"):
        import_marian(folder, out)
    (folder / "config.json").write_text(kept, encoding="utf-8")
    changed(folder, "config.json", encoder_layers=3, encoder_ffn_dim=25, decoder_ffn_dim=25)
    with pytest.raises(CheckpointError, match=r"layers\.2\..* is missing") as refused:
        import_marian(folder, out)
    assert "fc1.weight has the shape (24, 16) instead of (25, 16)" in str(refused.value)
    (folder / "config.json").write_text("[]", encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"config\.json is not a JSON object"):
        import_marian(folder, out)
    (folder / "source.spm").unlink()
    with pytest.raises(CheckpointError, match=r"has no source\.spm"):
        import_marian(folder, out)
    assert not out.exists()


@pytest.mark.parametrize("own_vocabulary", [False, True])
def test_an_imported_model_is_trained_further_and_resumed(own_vocabulary: bool, tmp_path: Path) -> None:
    marian_folder(tmp_path / "model")
    import_marian(tmp_path / "model", tmp_path / "a.safetensors")
    imported = load_checkpoint(tmp_path / "a.safetensors")
    text = tmp_path / "pairs.en-de.tsv"
    text.write_text("\n".join(f"{one}\t{other}" for one, other in zip(ENGLISH, GERMAN, strict=True)) + "\n")
    settings = ["training.updates=4", "training.save_every=2", "training.validate_every=4", "training.best_by=loss"]
    settings += [f"data.train={text}", f"data.valid={text}", "tokenizer.vocab_size=120", "training.average_last=1"]
    settings += [
        "training.validation_sentences=0",
        "data.tokens_per_batch=200",
        "data.max_length=60",
        "tokenizer.byte_fallback=false",
    ]
    recipe = load_recipe("paper-base", settings)
    recipe = replace(recipe, model=replace(imported.config, vocab_size=120))
    first = replace(
        recipe.training, updates=2, init_from=str(tmp_path / "a.safetensors"), own_vocabulary=own_vocabulary
    )
    train(replace(recipe, training=first), tmp_path / "run", device="cpu")
    (tmp_path / "run" / "average.safetensors").unlink(missing_ok=True)
    train(recipe, tmp_path / "run", resume=True, device="cpu")
    found = load_checkpoint(tmp_path / "run" / "last.safetensors")
    assert found.metrics["update"] == 4
    assert isinstance(found.tokenizer, PairTokenizer) != own_vocabulary
    assert found.model.output_bias is not None

"""Findings about letters and tokens that the vocabulary lacks or that did not occur in training."""

from pathlib import Path

from app.library.tasks import EXAMPLES
from tests.support.findings import PRETRAINED, named
from transformer.analysis.doctor import diagnose, examine_checkpoint
from transformer.analysis.doctor.vocabulary_findings import never_learnt
from transformer.decoding.translator import Translator


def test_letters_that_the_vocabulary_lacks_are_named_once(reverse: Translator) -> None:
    found = named(diagnose(reverse, "a H b H é c"))
    assert found["no_letters"].title == "The vocabulary lacks letters of this sentence"
    assert "“H” and “é”: the model reads 4 bytes instead" in found["no_letters"].says
    assert (
        "none of the letters"
        in named(diagnose(Translator.load(PRETRAINED / "en-de.safetensors"), "Привет"))["no_letters"].title
    )


def test_tokens_that_did_not_occur_in_training_are_distinguished_from_those_that_did(toy: Path) -> None:
    translator = Translator.load(toy / "best.safetensors")
    assert translator.checkpoint is not None
    known, tokenizer = examine_checkpoint(translator), translator.tokenizer
    met = {id for letters in ("a b c d", "a") for id in tokenizer.encode(letters)}
    never = {id for letter in "klmnopqrs" for id in tokenizer.encode(letter)}
    assert never <= known.unlearnt
    assert not met & known.unlearnt
    assert "unlearnt_tokens" in named(diagnose(translator, "a k b"))
    assert "unlearnt_tokens" not in named(diagnose(translator, "a b"))
    other = dict(translator.checkpoint.recipe or {}) | {"training": {"seed": 2}}  # which drew something else
    assert never_learnt(translator.model, tokenizer, other) == frozenset()


def test_bytes_that_did_not_occur_in_training_are_found_without_a_seed() -> None:
    translator = Translator.load(PRETRAINED / "en-de.safetensors")
    unlearnt = examine_checkpoint(translator).unlearnt
    ordinary = {id for sentence in EXAMPLES["en"] for id in translator.tokenizer.encode(sentence)}
    assert set(translator.tokenizer.encode("🚂")[-4:]) <= unlearnt
    assert not ordinary & unlearnt
    assert "hardly occurred in training" in named(diagnose(translator, "Where is the 🚂?"))["no_letters"].says

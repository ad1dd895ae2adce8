"""The score of a given translation is the one that a search would give it."""

from dataclasses import replace

import pytest
import torch

from tests.support.small_decoding import LINES, translator
from transformer.config import BOS, EOS, TokenizerConfig
from transformer.decoding import Translator
from transformer.errors import TranslationError
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer


def test_a_given_translation_has_the_probabilities_that_the_search_gave_it() -> None:
    given = translator().score(LINES[2], "The red dog")
    (found,) = translator().translate_sentences([LINES[2]], prefix="The red dog")  # its beginning is forced
    for hypothesis in found.hypotheses:
        begun = len(given.ids) - 1  # without </s>, which the search need not have put there
        assert hypothesis.ids[:begun] == given.ids[:begun]
        assert given.log_probabilities[:begun] == pytest.approx(hypothesis.log_probabilities[:begun], abs=1e-9)
    assert (given.text, given.finished, given.node) == ("The red dog", True, None)


def test_a_given_translation_is_scored_as_by_a_softmax_over_the_logits() -> None:
    given = translator().score("A dog barks.", "The mat barks!")
    ids = [*translator().tokenizer.encode("The mat barks!"), EOS]
    assert list(given.ids) == ids
    source = torch.tensor([[*translator().tokenizer.encode("A dog barks."), EOS]])
    logits = translator().model(source, torch.tensor([[BOS, *ids[:-1]]]))[0]
    wanted = -torch.nn.functional.cross_entropy(logits.detach(), torch.tensor(ids), reduction="none")
    assert given.log_probabilities == pytest.approx(wanted.tolist())
    assert given.score == pytest.approx(float(wanted.sum()))


def test_given_ids_are_scored_without_tokenizing_again() -> None:
    usual = translator().tokenizer.encode("The mat")
    ids = {translator().tokenizer.token(id): id for id in range(translator().tokenizer.vocab_size)}
    others = [ids[letter] for letter in "▁The▁mat"]
    assert others != usual
    given = translator().score("A dog barks.", others)
    assert given.ids == (*others, EOS)
    assert given.score != translator().score("A dog barks.", translator().tokenizer.decode(others)).score
    assert translator().score("A dog barks.", usual) == translator().score("A dog barks.", "The mat")


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("", "x", "nothing to translate"),
        ("A dog.", "  ", "empty"),
        ("A dog.", "the cat " * 80, "at most 59"),
        ("A dog.", (), "empty"),
        ("A dog.", (9, EOS), "the id 3"),
        ("A dog.", (9, 10**6), "the id 1000000"),
        ("A dog.", (9,) * 80, "at most 59"),
    ],
)
def test_an_impossible_given_translation_is_refused(source: str, target: str | tuple[int, ...], message: str) -> None:
    with pytest.raises(TranslationError, match=message):
        translator().score(source, target)


def test_a_character_outside_the_vocabulary_is_reported_and_not_scored_as_unknown() -> None:
    tokenizer = Tokenizer.train(["a b c"] * 9, TokenizerConfig(kind="bpe", vocab_size=12, byte_fallback=False))
    model = Transformer(replace(translator().model.config, vocab_size=tokenizer.vocab_size)).eval()
    with pytest.raises(TranslationError, match="no token for '🚂'"):
        Translator(model, tokenizer).score("a b", "a 🚂")

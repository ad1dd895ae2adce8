"""Text in, text out: order, paragraphs, empty lines, settings, and the beginning that a translation must have."""

import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.small_decoding import LINES, SETTINGS, small_translator, translator
from transformer.checkpoint.checkpoint_file import TrainedModel, save_checkpoint
from transformer.config import EOS, DecodingConfig
from transformer.decoding.search import similar_lengths
from transformer.decoding.translator import Translator
from transformer.errors import ConfigError, TranslationError
from transformer.text.spelling import WordList


def test_translations_are_in_order_and_empty_sentences_stay_empty() -> None:
    found = translator().translate_sentences(LINES)
    assert [one.source for one in found] == [line.strip() for line in LINES]
    for one, line in zip(found, LINES, strict=True):
        if line.strip():
            (alone,) = translator().translate_sentences([line])
            assert one.text == alone.text
            assert one.source_ids == (*translator().tokenizer.encode(line), EOS)
            assert len(one.hypotheses) == 2
        else:
            assert (one.text, one.hypotheses, one.source_tokens, one.source_ids) == ("", (), (), ())


def test_small_batches_give_the_same_translations() -> None:
    whole = translator().translate_sentences(LINES)
    for batch_tokens in (1, 30, 60):
        parts = translator().translate_sentences(LINES, batch_tokens=batch_tokens)
        assert [one.text for one in parts] == [one.text for one in whole]


def test_tokens_and_probabilities_belong_to_the_text() -> None:
    (found,) = translator().translate_sentences(["The cat."])
    tokenizer = translator().tokenizer
    assert found.source_tokens[-1].text == "</s>"
    assert tuple(token.id for token in found.source_tokens) == found.source_ids
    for hypothesis in found.hypotheses:
        assert hypothesis.text == tokenizer.decode(hypothesis.ids)
        assert hypothesis.tokens == tuple(tokenizer.token(id) for id in hypothesis.ids)
        assert hypothesis.score == pytest.approx(sum(hypothesis.log_probabilities), abs=1e-9)
        assert hypothesis.normalised_score == pytest.approx(
            hypothesis.score / ((5 + len(hypothesis.ids)) / 6) ** 0.6, abs=1e-9
        )
        assert hypothesis.finished == (hypothesis.ids[-1] == EOS)
    assert found.settings == SETTINGS
    assert found.tree == ()


def test_text_is_split_into_sentences_and_joined_again() -> None:
    found = translator().translate("The cat sat. A dog barks!\n\nIt is “loud”.")
    assert [one.source for one in found.sentences] == ["The cat sat.", "A dog barks!", "", 'It is "loud".']
    one, two, _, three = (sentence.text for sentence in found.sentences)
    assert found.text == f"{one} {two}\n\n{three}"


def test_several_texts_have_the_translations_that_each_has_alone_and_an_empty_one_stays_empty() -> None:
    translator = small_translator(SETTINGS)
    texts = ["The cat sat. A dog barks!\n\nThe mat.", " ", "It is loud!"]
    found = translator.translate(texts, beam=3)
    assert [one.text for one in found] == [
        translator.translate(text, beam=3).text if text.strip() else "" for text in texts
    ]
    assert translator.translate(iter(texts[2:])) == [translator.translate(texts[2])]
    assert translator.translate([]) == []


def test_a_translation_is_immutable_and_can_be_pickled() -> None:
    found = translator().translate("The cat.")
    assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(AttributeError):
        found.sentences[0].source = "The dog."  # type: ignore[misc]


def test_settings_can_be_changed_by_name_for_one_call() -> None:
    assert translator().translate("A dog.", beam=3).sentences[0].settings == replace(SETTINGS, beam=3)
    with pytest.raises(ConfigError, match=re.escape("beem is not an option. Did you mean beam?")):
        translator().translate("A dog.", beem=3)
    with pytest.raises(ConfigError, match=r"beam = 0: should be greater than or equal to 1\. alpha = 9: "):
        translator().translate("A dog.", beam=0, alpha=9)
    with pytest.raises(ConfigError, match="5 alternatives cannot come from a beam of 2"):
        translator().translate("A dog.", n_best=5)


def test_a_prefix_may_be_text_or_ids() -> None:
    ids = translator().tokenizer.encode("The cat")
    (one,) = translator().translate_sentences(["A dog barks."], prefix="The cat")
    (two,) = translator().translate_sentences(["A dog barks."], prefix=ids)
    assert one == two
    assert all(hypothesis.text.startswith("The cat") for hypothesis in one.hypotheses)


def test_a_prefix_is_cleaned_as_targets_are_and_keeps_its_typography() -> None:
    ids = translator().tokenizer.encode("„The cat")
    assert ids != translator().tokenizer.encode('"The cat')
    (found,) = translator().translate_sentences(["A dog barks."], prefix="  „The\u200b  cat ")
    assert list(found.hypotheses[0].ids[: len(ids)]) == ids
    assert found.text.startswith("„The cat")


def test_an_impossible_prefix_is_refused() -> None:
    for longest, remedy in ((4, "Shorten the prefix, or raise max_extra_length"), (500, "Shorten it")):
        settings = replace(SETTINGS, max_extra_length=longest)
        with pytest.raises(TranslationError, match=rf"The prefix has 500 tokens, .* may have at most \d+\. {remedy}\."):
            translator().translate_sentences(["A dog."], settings, prefix=[9] * 500)
    for wrong in (0, 1, 2, EOS, 5000):
        with pytest.raises(TranslationError, match="ordinary tokens only"):
            translator().translate_sentences(["A dog."], prefix=[9, wrong])


@pytest.mark.parametrize(("method", "rows"), [("greedy", 1), ("beam", 4), ("sampling", 3)])
def test_a_batch_has_as_many_sentences_as_its_limit_allows(method: Any, rows: int) -> None:
    settings = DecodingConfig(method=method, beam=4, n_best=3 if method == "sampling" else 1)
    lengths = [7, 0, 3, 12, 5, 5, 1, 40, 2]
    found = similar_lengths(lengths, settings, batch_tokens=24 * rows)
    assert found == [[7], [3, 0], [4, 5, 2, 8], [6]]
    assert all(len(batch) * rows * max(lengths[i] for i in batch) <= 24 * rows or len(batch) == 1 for batch in found)


def test_a_source_of_ids_is_translated_as_its_text_is() -> None:
    by = translator()
    found = by.translate("dog cat", n_best=1).sentences[0]
    assert by.translate_ids(found.source_ids, by.settings) == found.hypotheses[0]


def test_spelling_is_corrected_by_a_translator_with_words(tmp_path: Path) -> None:
    plain = translator()
    assert plain.correcting_spelling().translate("The caat.").sentences[0].typed == ""  # it has no words
    file, words = tmp_path / "words.safetensors", WordList({"cat": 9, "the": 9})
    save_checkpoint(file, TrainedModel(plain.model, plain.tokenizer, words=words))
    loaded = Translator.load(file)
    (as_typed,) = loaded.translate_sentences(["The caat."])
    assert (as_typed.source, as_typed.typed) == ("The caat.", "")
    (corrected,) = loaded.correcting_spelling().translate_sentences(["The caat."])
    assert (corrected.source, corrected.typed) == ("The cat.", "The caat.")
    (right,) = loaded.translate_sentences(["The cat."])
    assert corrected.hypotheses == right.hypotheses
    by = loaded.correcting_spelling(lambda sentence: "dog" in sentence)  # each sentence by itself
    assert [each.source for each in by.translate("The caat. A caat, dog.").sentences] == ["The cat.", "A caat, dog."]
    assert loaded.sources.words is None
    too_long = f"The caat {'cat ' * loaded.max_length}"  # in its message the sentence is as it was typed
    with pytest.raises(TranslationError, match="The caat cat"):
        loaded.correcting_spelling().translate(too_long)

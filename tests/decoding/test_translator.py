"""Text in, text out: order, paragraphs, empty lines, and an error message for whatever cannot be translated."""

import copy
import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.small_decoding import small_translator
from transformer.analysis.edits import Edit, MaskCell, PositionsShuffled, PositionsSwapped, model_edits
from transformer.checkpoint.checkpoint_file import TrainedModel, save_checkpoint
from transformer.config import BOS, EOS, DecodingConfig, TokenizerConfig
from transformer.decoding import Translator
from transformer.decoding import search as search_module
from transformer.decoding.fast.fast_transformer import FastTransformer
from transformer.decoding.fast.search_model import search_model
from transformer.decoding.search import similar_lengths
from transformer.decoding.translation import Translation
from transformer.errors import CheckpointError, ConfigError, TranslationError
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer

SETTINGS = DecodingConfig(beam=2, n_best=2, max_extra_length=4)
LINES = ["A dog barks.", "", "The cat sat on the mat, and the dog saw it.", "Cats!", "  ", "The mat is red."]


def translator() -> Translator:
    return small_translator(SETTINGS)


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
            assert (one.text, one.hypotheses, one.source_pieces, one.source_ids) == ("", (), (), ())


def test_small_batches_give_the_same_translations() -> None:
    whole = translator().translate_sentences(LINES)
    for batch_tokens in (1, 30, 60):
        parts = translator().translate_sentences(LINES, batch_tokens=batch_tokens)
        assert [one.text for one in parts] == [one.text for one in whole]


def test_tokens_and_probabilities_belong_to_the_text() -> None:
    (found,) = translator().translate_sentences(["The cat."])
    tokenizer = translator().tokenizer
    assert found.source_pieces[-1].text == "</s>"
    assert tuple(piece.id for piece in found.source_pieces) == found.source_ids
    for hypothesis in found.hypotheses:
        assert hypothesis.text == tokenizer.decode(hypothesis.ids)
        assert hypothesis.pieces == tuple(tokenizer.piece(id) for id in hypothesis.ids)
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


@pytest.mark.parametrize("text", ["", " \n\t ", "\n\n", "\u200b"])
def test_empty_text_is_refused(text: str) -> None:
    with pytest.raises(TranslationError, match="There is nothing to translate"):
        translator().translate(text)


def test_a_sentence_that_is_too_long_is_refused_with_its_number_and_the_limit() -> None:
    assert translator().max_length == 59
    fits = " ".join(["cat"] * 200)
    while len(translator().tokenizer.encode(fits)) > 59:
        fits = fits.rpartition(" ")[0]
    translator().translate(fits)
    with pytest.raises(TranslationError, match=r"The sentence .*cat ….* has \d+ tokens, .* at most 59\. Split it"):
        translator().translate(fits + " cat cat")
    with pytest.raises(TranslationError, match="Sentence 2 of 3"):
        translator().translate_sentences(["A dog.", fits + " cat cat", "A dog."])


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


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many sentences each search was given."""
    counted: list[int] = []

    def search(model: Any, sources: Any, *rest: Any) -> Any:
        counted.append(len(sources))
        return search_module.search(model, sources, *rest)

    monkeypatch.setattr("transformer.decoding.translator.search", search)
    return counted


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many hypotheses each decoding step continued."""
    counted: list[int] = []
    original = FastTransformer.step

    def step(self: FastTransformer, tokens: torch.Tensor, state: Any) -> torch.Tensor:
        counted.append(len(tokens))
        return original(self, tokens, state)

    monkeypatch.setattr(FastTransformer, "step", step)
    return counted


SEARCHES = [DecodingConfig(method="greedy"), DecodingConfig(beam=3, n_best=2)]


@pytest.mark.parametrize("settings", SEARCHES, ids=["greedy", "beam"])
@pytest.mark.parametrize("number", [torch.nan, torch.inf])
def test_sentences_that_cannot_be_translated_have_their_errors_and_the_others_are_translated_once(
    settings: DecodingConfig, number: float, searches: list[int]
) -> None:
    """One sentence is too long, and one has a token whose embedding is not finite."""
    tokenizer = translator().tokenizer
    torch.manual_seed(0)
    model = Transformer(replace(translator().model.config, shared_embeddings=False)).double().eval()
    good = [line for line in LINES if "loud" not in line]
    damaged = set(tokenizer.encode("loud")) - {id for line in good for id in tokenizer.encode(line)}
    assert damaged
    with torch.no_grad():
        model.encoder.embedding.tokens.weight[list(damaged)] = number
    by = Translator(model, tokenizer, settings)
    alone = [by.translate_sentences([line])[0] for line in good]
    searches.clear()
    first, too_long, second, not_finite, *others = by.translate_each(
        [good[0], "cat " * 300, good[1], "It is loud!", *good[2:]]
    )
    assert isinstance(too_long, TranslationError)
    assert str(too_long).startswith("The sentence ('cat cat")
    assert isinstance(not_finite, TranslationError)
    assert "NaN" in str(not_finite)
    assert searches == [5], "four sentences that can be translated and the one whose numbers are not finite"
    for found, wanted in zip([first, second, *others], alone, strict=True):
        assert isinstance(found, Translation)
        assert found.source_ids == wanted.source_ids
        assert [one.ids for one in found.hypotheses] == [one.ids for one in wanted.hypotheses]
        assert [one.score for one in found.hypotheses] == pytest.approx([one.score for one in wanted.hypotheses])


@pytest.mark.parametrize("settings", SEARCHES, ids=["greedy", "beam"])
def test_weights_that_are_nan_are_searched_once_and_every_sentence_has_the_error(
    settings: DecodingConfig, searches: list[int], steps: list[int]
) -> None:
    broken = Transformer(translator().model.config).eval()
    torch.nn.init.constant_(broken.output.weight, torch.nan)
    by = Translator(broken, translator().tokenizer, settings)
    found = by.translate_each(["A dog."] * 8)
    assert all(isinstance(error, TranslationError) and "NaN" in str(error) for error in found)
    assert searches == [8]
    assert len(steps) <= broken.config.max_positions
    with pytest.raises(TranslationError, match="NaN"):
        by.translate_sentences(["A dog."] * 8)
    assert searches == [8, 8]


def test_the_inference_copy_is_used_on_a_cpu_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere nobody has measured that it is faster: tried on a CPU that does not say that it is one."""
    expected = first_probability(translator())
    assert isinstance(search_model(translator().model), FastTransformer)
    monkeypatch.setattr(torch.Tensor, "is_cpu", False)
    assert search_model(translator().model) is translator().model
    other = Translator(translator().model, translator().tokenizer, SETTINGS)
    assert first_probability(other) == pytest.approx(expected, abs=1e-6)


def first_probability(by: Translator) -> float:
    """The log-probability of the first token of a translation."""
    return by.translate("The cat sat.").sentences[0].hypotheses[0].log_probabilities[0]


def test_scores_that_are_nan_are_reported() -> None:
    broken = Transformer(translator().model.config).eval()
    torch.nn.init.constant_(broken.output.weight, torch.nan)
    for method in ("greedy", "beam", "sampling"):
        with pytest.raises(TranslationError, match="NaN"):
            Translator(broken, translator().tokenizer).translate("A dog.", method=method)


def test_changed_weights_are_used_in_the_next_translation() -> None:
    model = copy.deepcopy(translator().model)
    changed = Translator(model, translator().tokenizer)
    before = changed.translate("The cat sat.")
    with torch.no_grad():
        for layer in model.decoder.layers:
            layer.cross_attention.output.weight.neg_()
    expected = Translator(model, translator().tokenizer).translate("The cat sat.")
    first = copy.copy(changed).translate_ids(before.sentences[0].source_ids)
    assert first.score == expected.sentences[0].hypotheses[0].score
    after = changed.translate("The cat sat.")
    assert after.sentences[0].hypotheses[0].score == expected.sentences[0].hypotheses[0].score
    assert after.sentences[0].hypotheses[0].score != before.sentences[0].hypotheses[0].score


def test_a_checkpoint_is_loaded_with_the_settings_of_its_recipe(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    model, tokenizer = translator().model, translator().tokenizer
    save_checkpoint(path, TrainedModel(model, tokenizer, {"decoding": {"beam": 3, "alpha": 1.0}}))
    loaded = Translator.load(path)
    assert loaded.settings == DecodingConfig(beam=3, alpha=1.0)
    assert loaded.checkpoint is not None
    expected = Translator(model, tokenizer, loaded.settings).translate("The cat sat.")
    assert loaded.translate("The cat sat.").text == expected.text
    save_checkpoint(path, TrainedModel(model, tokenizer))
    assert Translator.load(path).settings == DecodingConfig()
    with pytest.raises(CheckpointError):
        Translator.load(tmp_path / "none.safetensors")


def test_a_checkpoint_may_be_loaded_in_inference_mode(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_checkpoint(path, TrainedModel(translator().model, translator().tokenizer))
    with torch.inference_mode():
        loaded = Translator.load(path)
        inside = loaded.translate("The cat sat.").text
    assert loaded.translate("The cat sat.").text == Translator.load(path).translate("The cat sat.").text == inside


@pytest.mark.parametrize("decoding", [5, 0, [1], [], "x", None, True, {"beam": "3"}, {"beem": 3}, {"alpha": [[]]}])
def test_a_checkpoint_with_invalid_decoding_settings_can_be_used(decoding: object, tmp_path: Path) -> None:
    path, model = tmp_path / "model.safetensors", translator().model
    save_checkpoint(path, TrainedModel(model, translator().tokenizer, {"decoding": decoding}))
    loaded = Translator.load(path)
    assert loaded.settings == DecodingConfig()
    assert loaded.translate("The cat sat.").text


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
    ids = {translator().tokenizer.piece(id): id for id in range(translator().tokenizer.vocab_size)}
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


def test_a_search_of_an_edited_translator_applies_the_edits_in_every_step() -> None:
    by = translator()
    silent = by.edited({"logits": lambda logits: torch.zeros_like(logits)})
    found = silent.translate("dog cat", method="greedy", n_best=1).sentences[0].hypotheses[0]
    even = -torch.tensor(float(by.model.config.vocab_size)).log().item()
    assert found.log_probabilities == pytest.approx([even] * len(found.ids), abs=0.1)
    assert by.translate("dog cat", method="greedy", n_best=1).sentences[0].hypotheses[0] != found


@pytest.mark.parametrize(
    "edit",
    [PositionsSwapped(0, 8), PositionsShuffled(3), MaskCell("cross", None, None, 1, 9, True),
     MaskCell("encoder", 0, 1, 1, 9, True)],
    ids=str,
)  # fmt: skip
def test_edits_of_positions_and_of_cells_do_not_depend_on_the_padding_of_a_batch(edit: Edit) -> None:
    by = translator()
    edited = by.edited(model_edits([edit], by.model))
    twice = edited.edited({"logits": lambda logits: logits})
    for each in (edited, twice):
        together = each.translate_sentences(LINES)
        for line, found in zip(LINES, together, strict=True):
            (alone,) = each.translate_sentences([line])
            scores = [[one.score for one in translation.hypotheses] for translation in (found, alone)]
            assert scores[0] == pytest.approx(scores[1], abs=1e-9)

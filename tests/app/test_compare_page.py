"""Compare: both translations are those of the two translators, and what is said about them is counted here again."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.compute import cached_results
from app.compute.against_torch import AgainstTorch, Stage, against_torch
from app.compute.compared import Compared
from app.compute.subject import Subject
from app.figures.axes import in_words
from app.library.checkpoints import CheckpointFile
from app.state.choices import LONGEST_SECOND
from app.views.compare import torch_side
from tests.support.drawn import components, page_text
from tests.support.small_model import small
from transformer.analysis.edits import HeadUniform, model_edits
from transformer.config import DecodingConfig
from transformer.decoding.translation import Hypothesis
from transformer.decoding.translator import Translator
from transformer.errors import TranslationError
from transformer.export.torch_model import TorchModel

Open = Callable[..., AppTest]
SENTENCE = "the cat sat on the mat"
LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def rows(app: AppTest) -> list[dict[str, Any]]:
    assert not app.exception
    (found,) = components(app, "outcome")
    return list(found["rows"])


def check(row: dict[str, Any], hypothesis: Hypothesis) -> None:
    assert [token["text"] for token in row["tokens"]] == list(hypothesis.tokens)
    notes = [float(token["note"].replace("−", "-")) for token in row["tokens"]]
    assert notes == pytest.approx(list(hypothesis.log_probabilities), abs=0.0051)


def test_another_search_is_the_one_of_the_translator(open_app: Open, folder: Path) -> None:
    app = open_app("compare", sentence=SENTENCE, side="search", compared_search="greedy")
    translator = Translator.load(folder / "en-de.safetensors")
    one, other = rows(app)
    check(one, translator.translate(SENTENCE, method="greedy", n_best=1).sentences[0].hypotheses[0])
    check(other, translator.translate(SENTENCE).sentences[0].hypotheses[0])


def test_another_sentence_and_another_checkpoint_are_translated(open_app: Open, folder: Path) -> None:
    app = open_app("compare", sentence=SENTENCE, side="sentence", compared_sentence="the dog sat")
    translator = Translator.load(folder / "en-de.safetensors")
    check(rows(app)[0], translator.translate("the dog sat").sentences[0].hypotheses[0])
    app = open_app("compare", sentence="a b c", side="checkpoint", compared_checkpoint="small")
    small = Translator.load(folder / "small.safetensors")
    check(rows(app)[0], small.translate("a b c").sentences[0].hypotheses[0])


@pytest.mark.parametrize(("other", "heads"), [("the dog sat", False), ("the mat sat on the mat", True)])
def test_where_no_heads_are_below_the_sum_is_beside_each_translation(open_app: Open, other: str, heads: bool) -> None:
    """A lesson shows no sentence of the page, but the sums are what is compared."""
    app = open_app("compare", sentence=SENTENCE, side="sentence", compared_sentence=other)
    drawn = {found.proto.component_name for found in app.get("bidi_component")}
    assert any(name.startswith("headlight_head_changes") for name in drawn) == heads
    for row in rows(app):
        total = sum(float(token["note"].replace("−", "-")) for token in row["tokens"])
        if heads:
            assert row["note"] == "log-probability"
        else:
            shown = float(row["note"].removeprefix("log-probability, sum ").replace("−", "-"))
            assert shown == pytest.approx(total, abs=0.005 * (1 + len(row["tokens"])))


def test_the_edited_model_is_beside_the_original(open_app: Open, folder: Path) -> None:
    app = open_app("compare", sentence=SENTENCE, edits="uniform=cross.2.3")
    translator = Translator.load(folder / "en-de.safetensors")
    one, other = rows(app)
    check(one, translator.translate(SENTENCE).sentences[0].hypotheses[0])
    edited = translator.edited(model_edits((HeadUniform("cross", 1, 2),), translator.model))
    check(other, edited.translate(SENTENCE).sentences[0].hypotheses[0])
    assert "changes most: " in page_text(app)


def test_the_line_of_the_edits_opens_the_comparison(open_app: Open) -> None:
    app = open_app("masks", sentence=SENTENCE, edits="off=cross.1.2")
    app.button(key="compare_edits").click().run()
    assert [row["label"] for row in rows(app)] == ["Original model", "Edited model"]


def test_it_opens_with_a_sentence_that_differs_in_one_word(open_app: Open, folder: Path) -> None:
    app = open_app("compare", sentence=SENTENCE)
    second = str(app.text_input(key="compared_sentence").value)
    assert app.text_input(key="compared_sentence").max_chars == LONGEST_SECOND
    differs = [one != other for one, other in zip(second.split(), SENTENCE.split(), strict=True)]
    assert sum(differs) == 1
    translator = Translator.load(folder / "en-de.safetensors")
    check(rows(app)[0], translator.translate(second).sentences[0].hypotheses[0])
    app.text_input(key="sentence").set_value("the cat sat").run()
    assert app.text_input(key="compared_sentence").value == "cat cat sat"


def test_it_opens_with_the_edits_and_after_undo_with_another_word(open_app: Open) -> None:
    app = open_app("compare", sentence=SENTENCE, edits="uniform=cross.2.3")
    assert rows(app)[0]["label"] == "Original model"
    app = open_app("compare", sentence=SENTENCE, edits="uniform=cross.2.3", side="edits")
    app.button(key="undo_all").click().run()
    assert rows(app)[0]["label"] == "Second sentence"


def test_where_both_sides_are_the_same_each_link_shows_a_difference(open_app: Open, folder: Path) -> None:
    def opened() -> AppTest:
        return open_app("compare", sentence=SENTENCE, side="sentence", compared_sentence=SENTENCE)

    def links(app: AppTest) -> list[str]:
        return [str(each.key) for each in app.button if str(each.key).startswith("would_differ_")]

    app = opened()
    assert "The two translations are the same." in str(components(app, "outcome"))
    found = links(app)
    assert len(found) > 1
    for key in found[:-1]:  # the last one leads to What if
        app = opened()
        app.button(key=key).click().run()
        one, other = rows(app)
        drawn = [each.proto.component_name for each in app.get("bidi_component")]
        assert "headlight_head_changes" in drawn or one["tokens"] != other["tokens"], key
    app = open_app("compare", sentence=SENTENCE, side="edits")
    assert "Nothing is edited yet." in page_text(app)
    assert links(app) == found


def test_a_search_that_is_too_long_is_not_suggested(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(config: object, parameters: int, lengths: object, settings: DecodingConfig) -> None:
        if (settings.method, settings.beam) != ("beam", 4):
            raise TranslationError("too long")

    monkeypatch.setattr(cached_results, "check_search", check)
    app = open_app("compare", sentence=SENTENCE, side="sentence", compared_sentence=SENTENCE)
    assert not app.exception
    assert "Something differs with:" in page_text(app)


def test_the_sum_of_the_visitors_translation_is_by_the_model_that_read_it(open_app: Open) -> None:
    app = open_app("compare", sentence=SENTENCE, side="search", given="the dog", alternative="given")
    assert "The second translation is your own; its sum is by the model that read it." in page_text(app)
    assert "the model that wrote it" not in page_text(app)


def test_torch_nn_writes_the_same_from_our_weights(open_app: Open, folder: Path) -> None:
    app = open_app("compare", sentence=SENTENCE, side="torch", details="true")
    translator = Translator.load(folder / "en-de.safetensors")
    hypothesis = translator.translate(SENTENCE, method="greedy", n_best=1).sentences[0].hypotheses[0]
    for row in rows(app):
        check(row, hypothesis)
    (found,) = components(app, "comparison")
    assert found["columns"] == ["Encoder's output", "Attention weights", "Logits", "Log-probabilities"]
    numbers = [[float(cell["text"].replace("×10", "e").translate(LOWERED)) for cell in row["cells"]]
               for row in found["rows"]]  # fmt: skip
    source = torch.tensor([translator.translate(SENTENCE).sentences[0].source_ids])
    with torch.no_grad():
        assert numbers[0][0] == pytest.approx(float(translator.model.encoder(source).abs().max()), rel=0.005)
    assert all(0 <= difference < 1e-4 * max(largest, 1) for largest, difference in zip(*numbers, strict=True))
    assert "rounding of float32" in page_text(app)
    assert "the same translation" in page_text(app)


def test_the_difference_to_torch_nn_is_that_of_the_numbers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = Subject(CheckpointFile.at(folder / "small.safetensors"))
    translation = subject.translator.translate("a b c").sentences[0]
    ids, decode = translation.hypotheses[0].ids, TorchModel.decode
    monkeypatch.setattr(TorchModel, "decode", lambda *given: decode(*given) + 0.5)
    stages = {stage.name: stage for stage in against_torch(subject, translation.source_ids, ids, 5).stages}
    assert stages["Logits"].difference == pytest.approx(0.5, abs=1e-4)
    assert stages["Log-probabilities"].difference < 1e-4


def test_what_is_said_of_torch_nn_follows_its_numbers() -> None:
    class Written:
        def __init__(self, tokens: str, *log_probabilities: float) -> None:
            self.tokens, self.log_probabilities = tuple(tokens), log_probabilities

    ours, its = Written("abc", -0.1, -0.69, -1), Written("axc", -0.1, -0.6901, -2)
    stages = (Stage("Logits", 10.0, 0.1), Stage("Log-probabilities", 3.0, 0.02))
    config = small(norm="post", attention_window=2)
    sentences = torch_side.says(AgainstTorch(its, stages), Compared(its, ours), config)  # type: ignore[arg-type]
    assert "at most 0.0200: that is more than rounding" in sentences[0]
    assert sentences[1].endswith("the log-probabilities are −0.6901 and −0.6900.")
    assert "left out; torch.nn gets the attention window of 2 as a mask." in sentences[2]
    shorter = Written("a", -0.1)
    (_, written, _) = torch_side.says(AgainstTorch(shorter, stages), Compared(shorter, ours), config)  # type: ignore[arg-type]
    assert written.endswith(
        "one of the two ends where the other continues with a token whose log-probability is −0.6900."
    )


def test_the_sentence_below_the_rows_calls_them_by_their_labels(open_app: Open) -> None:
    app = open_app("compare", sentence=SENTENCE, side="sentence", compared_sentence="the dog sat")
    (found,) = components(app, "outcome")
    one, other = rows(app)
    pairs = zip(one["tokens"], other["tokens"], strict=False)
    first, second = next((mine["text"], its["text"]) for mine, its in pairs if mine["text"] != its["text"])
    wanted = f"Second sentence: “{in_words(first)}”; Your sentence: “{in_words(second)}”."
    assert found["summary"].endswith(wanted)
    sums = [sum(float(token["note"].replace("−", "-")) for token in row["tokens"]) for row in (one, other)]
    match = re.search(r"Second sentence (\S+), Your sentence (\S+);", page_text(app))
    assert match
    assert [float(each.replace("−", "-")) for each in match.groups()] == pytest.approx(sums, abs=0.2)


def test_torch_nn_says_that_it_cannot_express_edits(open_app: Open) -> None:
    app = open_app("compare", sentence=SENTENCE, edits="uniform=cross.2.3", side="torch")
    sentence = "torch.nn.Transformer cannot express edits. Undo them in the line above to compare."
    assert sentence in [each.value for each in app.text]


def test_two_translations_diverge_at_the_first_token_that_differs() -> None:
    class Written:
        def __init__(self, *tokens: str) -> None:
            self.tokens = tokens

    def compared(one: str, other: str) -> Compared:
        return Compared(Written(*one.split()), Written(*other.split()))  # type: ignore[arg-type]

    found = compared("a b c d", "a x c d e")
    assert found.first_difference == 1
    assert found.changed == ((False, True, False, False), (False, True, False, False, True))
    assert compared("a b", "a b").first_difference is None
    assert compared("a b", "a b c").first_difference == 2


@pytest.mark.parametrize("sentence", ["cat", "the the the </script><img src=x onerror=alert(1)>"])
@pytest.mark.parametrize("side", ["sentence", "checkpoint", "search", "edits", "torch", "nonsense"])
def test_any_sentence_and_any_link_are_shown(open_app: Open, sentence: str, side: str) -> None:
    app = open_app("compare", sentence=sentence, side=side, compared_checkpoint="wrong", details="true")
    assert not app.exception
    assert page_text(app)

"""Each finding of the doctor in a model that was damaged for it, and no finding in the included checkpoints."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from app.library.tasks import EXAMPLES
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.small_training import MODEL, toy_recipe
from transformer.analysis.doctor import Finding, Head, diagnose, examine, examine_checkpoint
from transformer.analysis.doctor.attention_findings import flatness
from transformer.analysis.doctor.output_findings import longest_loop
from transformer.analysis.doctor.vocabulary_findings import never_learnt
from transformer.analysis.doctor.weight_findings import examine_weights
from transformer.analysis.trace import trace
from transformer.checkpoint.averaging import average_checkpoints
from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.checkpoint.length_statistics import lengths_in, lengths_of
from transformer.config import EOS, ModelConfig
from transformer.decoding.translator import Translator
from transformer.model import Transformer
from transformer.training import train

PRETRAINED = Path(__file__).resolve().parents[2] / "pretrained"
LETTERS = "h e a d l i g h t"
Ill = Callable[[Transformer], None]


@pytest.fixture
def reverse() -> Translator:
    """A healthy model of one's own, to be made ill."""
    return Translator.load(PRETRAINED / "reverse.safetensors")


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that learnt four letters, up to five in a row, and learnt its positions."""
    folder = tmp_path_factory.mktemp("runs") / "toy"
    recipe = toy_recipe(best_by="loss")
    train(replace(recipe, model=replace(MODEL, positions="learned")), folder, device="cpu")
    return folder


def named(findings: tuple[Finding, ...]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


@torch.no_grad()
def always(model: Transformer, id: int) -> None:
    """The decoder predicts this piece, whatever it reads."""
    assert model.decoder.norm is not None
    model.decoder.norm.weight.mul_(1e-3)
    model.decoder.norm.bias.copy_(100 * torch.nn.functional.normalize(model.output.weight[id], dim=0))


@pytest.mark.parametrize(
    ("name", "task"), [("en-de", "en"), ("numbers", "numbers"), ("reverse", "reverse"), ("family-base", "en")]
)
def test_the_doctor_has_no_findings_for_included_checkpoints(name: str, task: str) -> None:
    translator = Translator.load(PRETRAINED / f"{name}.safetensors")
    for sentence in EXAMPLES[task]:
        assert diagnose(translator, sentence) == ()


def test_a_decoder_without_its_source_is_found(reverse: Translator) -> None:
    for layer in reverse.model.decoder.layers:
        layer.cross_attention.output.weight.data.mul_(1e-4)
    found = named(diagnose(reverse, LETTERS))
    assert "by only 0.0%" in found["ignores_source"].says
    assert found["ignores_source"].head == Head("cross", 0, 0)


def test_flat_encoder_decoder_attention_is_found_and_measured(reverse: Translator) -> None:
    for layer in reverse.model.decoder.layers:
        layer.cross_attention.query.weight.data.mul_(0.02)
        layer.cross_attention.query.bias.data.zero_()
    found = named(diagnose(reverse, LETTERS))
    assert found["flat_attention"].says.startswith("All 4 heads")
    assert "special_head" not in found
    assert "same_head" not in found  # flat says it all
    translation = reverse.translate(LETTERS).sentences[0]
    site = "decoder.layers.0.cross_attention.weights"
    weights = trace(reverse.model, translation.source_ids, translation.hypotheses[0].ids, [site])[site].astype(float)
    by_hand = [-np.mean([np.sum(row * np.log(row)) for row in head]) / np.log(weights.shape[-1]) for head in weights]
    assert flatness(weights[None])[0] == pytest.approx(by_hand)
    assert f"{min(by_hand):.1%}" in found["flat_attention"].says


def test_a_flat_head_that_has_no_others_is_called_the_only_one(tmp_path: Path) -> None:
    translator = Translator.load(write_checkpoint(tmp_path / "small.safetensors", Size(1, 1, 1)))
    query = translator.model.decoder.layers[0].cross_attention.query
    query.weight.data.zero_()
    query.bias.data.zero_()
    found = named(diagnose(translator, "the cat sat on the mat"))
    assert found["flat_attention"].says.startswith("The only head of encoder-decoder attention attends")
    assert "its rows is at least 100.0%" in found["flat_attention"].says


def test_a_head_that_attends_to_the_end_only_is_named(reverse: Translator) -> None:
    translation = reverse.translate(LETTERS).sentences[0]
    memory = trace(reverse.model, translation.source_ids, translation.hypotheses[0].ids, ["encoder.norm_out"])
    states = torch.tensor(memory["encoder.norm_out"])  # (S, D)
    attention, width = reverse.model.decoder.layers[0].cross_attention, reverse.model.config.d_k
    with torch.no_grad():  # head 3 asks every key how much it is like that of </s>
        attention.query.weight[2 * width : 3 * width] = 0
        attention.query.bias[2 * width : 3 * width] = 20
        attention.key.weight[2 * width : 3 * width] = states[-1] - states[:-1].mean(dim=0)
    finding = named(examine(reverse, examine_checkpoint(reverse), translation, translation.hypotheses[0]))[
        "special_head"
    ]
    assert finding.head == Head("cross", 0, 2)
    assert finding.says == "Head 1.3 of encoder-decoder attention attends to </s> with 100% of its weight."


def test_a_head_with_equal_rows_is_named(reverse: Translator) -> None:
    attention, width = reverse.model.encoder.layers[1].self_attention, reverse.model.config.d_k
    with torch.no_grad():
        attention.query.weight[:width] = 0
    finding = named(diagnose(reverse, LETTERS))["same_head"]
    assert finding.head == Head("encoder", 1, 0)
    assert "Head 2.1 of encoder self-attention" in finding.says


def test_dead_units_are_counted(reverse: Translator) -> None:
    hidden = reverse.model.encoder.layers[1].feed_forward.hidden
    hidden.bias.data[: hidden.bias.numel() // 2] -= 1000
    finding = named(diagnose(reverse, LETTERS))["dead_units"]
    assert finding.says.startswith("50% of the 128 units of encoder layer 2")
    assert "1 of 3 layers" in finding.says


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_dead_units_are_zero_for_all_inputs_and_others_are_not(norm: str) -> None:
    """Against brute force: what many random vectors, normalised by the LayerNorm before them, make of each unit."""
    torch.manual_seed(0)
    size = {"encoder_layers": 1, "decoder_layers": 1, "heads": 2, "d_model": 16, "d_ff": 8}
    model = Transformer(ModelConfig(vocab_size=20, norm=norm, **size)).eval()  # type: ignore[arg-type]
    layer = model.decoder.layers[0]
    before = (layer.feed_forward_residual if norm == "pre" else layer.cross_attention_residual).norm
    with torch.no_grad():
        before.weight.uniform_(0.5, 2)
        before.bias.uniform_(-1, 1)
        layer.feed_forward.hidden.bias[:4] = -30
        fires = layer.feed_forward.hidden(before(torch.randn(10_000, 16))).amax(dim=0) > 0
    assert fires.tolist() == [False] * 4 + [True] * 4
    assert named(tuple(examine_weights(model)))["dead_units"].says.startswith("50% of the 8 units of decoder layer 1")


@pytest.mark.parametrize(
    ("ill", "name", "says"),
    [
        (lambda model: model.encoder.norm.weight[3].fill_(80.0), "large_gains", "encoder.norm reaches 80"),
        (lambda model: model.output.weight[5, 5].fill_(torch.nan), "not_finite", "1 of "),
        (lambda model: model.encoder.layers[0].self_attention.value.weight.zero_(), "zero_weights", "1 of "),
    ],
)
def test_invalid_weights_are_named(reverse: Translator, ill: Ill, name: str, says: str) -> None:
    with torch.no_grad():
        ill(reverse.model)
    finding = named(examine_checkpoint(reverse).findings)[name]
    assert says in finding.says
    translation = Translator.load(PRETRAINED / "reverse.safetensors").translate(LETTERS).sentences[0]
    found = examine(reverse, examine_checkpoint(reverse), translation, translation.hypotheses[0])
    assert named(found)[name] == finding


def test_training_without_the_causal_mask_is_reported() -> None:
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "heads": 2, "d_model": 16, "d_ff": 8}
    for causal in (True, False):
        model = Transformer(ModelConfig(vocab_size=20, causal_training=causal, **sizes))  # type: ignore[arg-type]
        assert [finding.name for finding in examine_weights(model)] == ([] if causal else ["no_causal_mask"])


def test_the_family_member_without_a_causal_mask_has_a_finding() -> None:
    found = diagnose(Translator.load(PRETRAINED / "family-no-mask.safetensors"), EXAMPLES["en"][0])
    assert found[0].name == "no_causal_mask"
    assert {"ignores_source", "loop", "cut"} <= named(found).keys()


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
    assert "unlearnt_pieces" in named(diagnose(translator, "a k b"))
    assert "unlearnt_pieces" not in named(diagnose(translator, "a b"))
    other = dict(translator.checkpoint.recipe or {}) | {"training": {"seed": 2}}  # which drew something else
    assert never_learnt(translator.model, tokenizer, other) == frozenset()


def test_bytes_that_did_not_occur_in_training_are_found_without_a_seed() -> None:
    translator = Translator.load(PRETRAINED / "en-de.safetensors")
    unlearnt = examine_checkpoint(translator).unlearnt
    ordinary = {id for sentence in EXAMPLES["en"] for id in translator.tokenizer.encode(sentence)}
    assert set(translator.tokenizer.encode("🚂")[-4:]) <= unlearnt
    assert not ordinary & unlearnt
    assert "hardly occurred in training" in named(diagnose(translator, "Where is the 🚂?"))["no_letters"].says


def test_a_checkpoint_has_the_lengths_of_its_training_sentences(toy: Path, tmp_path: Path) -> None:
    average_checkpoints(tmp_path / "mean.safetensors", sorted((toy / "recent").glob("*")))
    kept = [toy / f"{name}.safetensors" for name in ("best", "last", "average")]
    for path in (*kept, tmp_path / "mean.safetensors"):
        assert load_checkpoint(path).metrics["source_pieces_most"] == 5, path.name
    lengths = np.array([1] * 1998 + [7, 90])
    counted = lengths_of(lengths, lengths + 1)
    assert counted["source_pieces_of_999_in_1000"] == 7
    assert counted["target_pieces_of_999_in_1000"] == 8
    assert counted["source_pieces_most"] == 90
    assert counted["source_pieces_mean"] == pytest.approx(1.0, abs=0.1)


def test_a_sentence_longer_than_the_training_sentences_is_reported(toy: Path, reverse: Translator) -> None:
    toys = Translator.load(toy / "best.safetensors")
    found = named(diagnose(toys, "a b c d a b c"))
    assert "had at most 5 tokens; yours has 7." in found["too_long"].says
    assert "has 8 positions" in found["untrained_positions"].says
    assert found["untrained_positions"].stack == "encoder"
    assert not {"too_long", "untrained_positions"} & named(diagnose(toys, "a b c d a")).keys()
    # A checkpoint from before lengths were counted knows those of its toy, or the limit of its recipe.
    assert "up to 12 tokens; yours has 13." in named(diagnose(reverse, "a " * 13))["too_long"].says
    shipped = Translator.load(PRETRAINED / "en-de.safetensors")
    assert shipped.checkpoint
    for name in lengths_in(shipped.checkpoint.metrics):
        del shipped.checkpoint.metrics[name]
    assert examine_checkpoint(shipped).lengths.source == 128


def test_an_output_that_repeats_itself_is_found(reverse: Translator) -> None:
    always(reverse.model, reverse.tokenizer.encode("c")[-1])
    found = named(diagnose(reverse, LETTERS))
    assert "“c" in found["loop"].says
    assert "48 times in a row" in found["loop"].says
    assert "After 48 tokens" in found["cut"].says
    assert {"ignores_source"} <= found.keys()
    assert "loop" not in named(diagnose(reverse, "c c c c c"))  # so does the source


@pytest.mark.parametrize(
    ("source", "target", "is_found"),
    [
        ((13, 19, 14, 19, 15, 19, 16, 19), (19, 19, 19, 19, 13, 14, 15, 16), False),  # sorted
        ((13, 19, 14, 19, 15), (19, 19, 19, 19, 13, 14, 15), True),
        ((18, 18, 18), (19, 19, 19, 19, 19), True),
        ((18, 18, 18), (11, 12, 11, 12, 11, 12), False),  # the source repeats a token as often
    ],
)
def test_tokens_that_the_source_has_as_often_are_no_loop(
    reverse: Translator, source: tuple[int, ...], target: tuple[int, ...], is_found: bool
) -> None:
    translation = reverse.translate(LETTERS).sentences[0]
    hypothesis = replace(
        translation.hypotheses[0], ids=(*target, EOS), pieces=(*map(reverse.tokenizer.piece, target), "</s>")
    )
    translation = replace(translation, source_ids=(*source, EOS))
    found = examine(reverse, examine_checkpoint(reverse), translation, hypothesis)
    assert ("loop" in named(found)) is is_found


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([1, 2, 3, 4, 5, 6], (0, 0, 0)),
        ([9, 9, 9, 5], (0, 0, 0)),  # too little to be a loop
        ([1, 9, 9, 9, 9, 5], (1, 1, 4)),
        ([7, 1, 2, 1, 2, 1, 2, 3], (1, 2, 3)),
        ([1, 2, 1, 2, 3, 4], (0, 0, 0)),
    ],
)
def test_loops_are_found_with_position_and_length(ids: list[int], expected: tuple[int, int, int]) -> None:
    assert longest_loop(ids) == expected


def test_an_empty_translation_is_reported(reverse: Translator) -> None:
    always(reverse.model, EOS)
    found = named(diagnose(reverse, LETTERS))
    assert "1 token and no text" in found["empty"].says
    assert "cut" not in found


def test_a_model_with_uncertain_predictions_is_found(reverse: Translator) -> None:
    assert reverse.model.decoder.norm is not None
    for weight in (reverse.model.decoder.norm.weight, reverse.model.decoder.norm.bias):
        weight.data.mul_(0.05)
    says = named(diagnose(reverse, LETTERS))["hesitates"].says
    pieces = int(says.split("among ")[1].split(" ")[0])
    assert 0.5 * np.log(313) < np.log(pieces) <= np.log(313)

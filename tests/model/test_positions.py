"""The positional encoding against its formula, its two layouts, and every place where it is added."""

import math

import pytest
import torch

from tests.support.small_model import batch, cached_logits, everything, randomised, small
from transformer.decoding.fast.fast_transformer import FastTransformer
from transformer.errors import HeadlightError
from transformer.model import Transformer
from transformer.model.positions import FIRST_ROWS, sinusoids


def by_formula(position: int, column: int, d_model: int) -> float:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same, in Python's own arithmetic."""
    pair = column // 2
    angle = position / 10000 ** (2 * pair / d_model)
    return math.sin(angle) if column % 2 == 0 else math.cos(angle)


@pytest.mark.parametrize("d_model", [2, 6, 64])
def test_the_table_is_the_papers_formula(d_model: int) -> None:
    table = sinusoids(50, d_model)
    assert table.dtype == torch.float32
    expected = [[by_formula(p, c, d_model) for c in range(d_model)] for p in range(50)]
    torch.testing.assert_close(table.double(), torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-7)


def test_position_zero_is_zero_one_zero_one() -> None:
    assert sinusoids(3, 8)[0].tolist() == [0, 1, 0, 1, 0, 1, 0, 1]
    assert sinusoids(3, 8, "concatenated")[0].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_wavelengths_form_a_geometric_progression_from_two_pi_to_ten_thousand_times_that() -> None:
    """Section 3.5. The last wavelength falls one ratio short of 10000 * 2 pi, since 2i stops at d - 2."""
    d_model = 512
    first, second = sinusoids(2, d_model).double()
    sine, cosine = second[0::2], second[1::2]  # of the angle from one position to the next
    wavelengths = 2 * math.pi / torch.atan2(sine, cosine)  # (D/2)
    ratios = wavelengths[1:] / wavelengths[:-1]
    assert wavelengths[0].item() == pytest.approx(2 * math.pi, rel=1e-6)
    torch.testing.assert_close(ratios, torch.full_like(ratios, 10000 ** (2 / d_model)), rtol=1e-5, atol=0)
    assert wavelengths[-1].item() == pytest.approx(2 * math.pi * 10000 ** (1 - 2 / d_model), rel=1e-5)
    assert first[1::2].eq(1).all()


@pytest.mark.parametrize("k", [1, 7, 100])
def test_moving_k_positions_on_is_one_rotation_for_all_positions(k: int) -> None:
    """PE(pos + k) = R(k) PE(pos): the claim of section 3.5."""
    d_model, positions = 16, 200
    table = sinusoids(positions + k, d_model).double()
    rotation = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(0, d_model, 2):
        angle = k / 10000 ** (i / d_model)
        turn = [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
        rotation[i : i + 2, i : i + 2] = torch.tensor(turn, dtype=torch.float64)
    torch.testing.assert_close(table[k:], table[:positions] @ rotation.T, rtol=0, atol=1e-6)


def test_the_concatenated_layout_is_a_permutation_of_the_interleaved_one() -> None:
    interleaved, concatenated = sinusoids(40, 10), sinusoids(40, 10, "concatenated")
    assert torch.equal(concatenated, interleaved[:, [0, 2, 4, 6, 8, 1, 3, 5, 7, 9]])
    assert not torch.equal(concatenated, interleaved)


@pytest.mark.soak  # only for the seconds that the import takes; the Marian oracle holds it every day
def test_the_concatenated_layout_is_the_table_of_marian_mt() -> None:
    marian = pytest.importorskip("transformers.models.marian.modeling_marian", reason="needs Hugging Face transformers")
    table = marian.MarianSinusoidalPositionalEmbedding(64, 32).create_weight()
    torch.testing.assert_close(sinusoids(64, 32, "concatenated"), table.detach(), rtol=0, atol=1e-6)


def test_sinusoids_stay_exact_under_autocast_and_at_far_positions() -> None:
    far = 65_535
    with torch.autocast("cpu", dtype=torch.bfloat16):
        table = sinusoids(far + 1, 8)
        model = Transformer(small()).eval()
        records = everything(model, *batch())
    assert table.dtype == torch.float32
    expected = [by_formula(far, column, 8) for column in range(8)]
    torch.testing.assert_close(table[far].double(), torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-7)
    for stack in ("encoder", "decoder"):
        positions = records[f"{stack}.embedding.positions"]
        assert positions.dtype == torch.float32
        assert torch.equal(positions[0], sinusoids(positions.shape[1], 8))


def test_the_sinusoidal_table_is_not_part_of_the_weights_and_a_learned_one_is() -> None:
    assert not [name for name in Transformer(small()).state_dict() if "positions" in name]
    learned = Transformer(small(positions="learned"))
    assert [name for name, _ in learned.named_parameters() if "positions" in name] == [
        "encoder.embedding.positions.table",
        "decoder.embedding.positions.table",
    ]
    assert learned.encoder.embedding.positions.table.shape == (32, 8)


def test_both_stacks_share_one_sinusoidal_table_and_have_a_learned_one_each() -> None:
    for positions, shared in (("sinusoidal", True), ("none", True), ("learned", False)):
        model = Transformer(small(positions=positions))
        assert (model.encoder.embedding.positions is model.decoder.embedding.positions) == shared


def test_a_model_takes_no_memory_for_positions_that_no_sentence_has_needed() -> None:
    model = randomised(small(max_positions=65_536))
    table = model.encoder.embedding.positions.table
    assert table.shape == (FIRST_ROWS, 8)
    assert FastTransformer(model).positions.shape == (FIRST_ROWS, 8)


@torch.no_grad()
def test_the_sinusoidal_table_grows_for_a_longer_sentence_and_keeps_its_numbers() -> None:
    positions = randomised(small(max_positions=3000)).eval().encoder.embedding.positions
    before = positions.table
    with torch.inference_mode():  # a tensor made here could not be trained with
        found = positions(1, start=FIRST_ROWS)
    assert torch.equal(found, sinusoids(FIRST_ROWS + 1, 8)[-1:].to(found))
    assert positions.table.shape == (2 * FIRST_ROWS, 8)
    assert positions.table.dtype == before.dtype
    assert torch.equal(positions.table[:FIRST_ROWS], before)
    assert not positions.table.is_inference()
    assert positions(3000).shape == (3000, 8)
    assert len(positions.table) == 3000


@torch.no_grad()
def test_decoding_continues_beyond_the_first_rows_of_the_table_as_the_reference_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("transformer.model.positions.FIRST_ROWS", 4)
    monkeypatch.setattr("transformer.decoding.fast.fast_transformer.FIRST_ROWS", 4)
    model = randomised(small(max_positions=32)).float().eval()
    source, tokens = torch.full((2, 3), 5), torch.full((2,), 6)
    flat = FastTransformer(model)
    fast, reference = flat.start(source), model.start(source)
    for _ in range(20):
        torch.testing.assert_close(flat.step(tokens, fast), model.step(tokens, reference), rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_positions_are_added_once_to_each_stack_from_position_zero() -> None:
    for positions in ("sinusoidal", "learned", "none"):
        model = randomised(small(positions=positions))
        source, target = batch()
        records = everything(model, source, target)
        for stack, ids in (("encoder", source), ("decoder", target)):
            added = records[f"{stack}.embedding.positions"]
            total = records[f"{stack}.embedding.scaled"] + added
            assert torch.equal(records[f"{stack}.embedding.output"], total)
            table = (model.encoder if stack == "encoder" else model.decoder).embedding.positions.table
            expected = torch.zeros(1, 1) if positions == "none" else table[: ids.shape[1]]
            assert torch.equal(added, expected.to(added.dtype).expand_as(added))


@torch.no_grad()
def test_without_positions_the_encoder_does_not_know_order() -> None:
    source, _ = batch(padded=False)
    turned = source.flip(1)
    for positions, blind_to_order in (("none", True), ("sinusoidal", False), ("learned", False)):
        encoder = randomised(small(positions=positions)).encoder
        difference = (encoder(turned).flip(1) - encoder(source)).abs().max().item()
        assert (difference < 1e-12) == blind_to_order


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
@torch.no_grad()
def test_a_sentence_longer_than_the_table_is_refused_with_a_message(positions: str) -> None:
    model = randomised(small(positions=positions, max_positions=4))
    source = torch.full((1, 4), 5)
    assert model(source, torch.full((1, 4), 5)).shape == (1, 4, 13)
    for too_long in ((torch.full((1, 5), 5), source), (source, torch.full((1, 5), 5))):
        with pytest.raises(HeadlightError, match=r"Position 5 .* has 4 \(max_positions\)"):
            model(*too_long)
    with pytest.raises(HeadlightError, match=r"Position 5 .* has 4"):
        cached_logits(model, source, torch.full((1, 5), 5))
    endless = randomised(small(positions="none", max_positions=4))
    assert endless(torch.full((1, 9), 5), torch.full((1, 8), 5)).shape == (1, 8, 13)

"""Edits of one row of attention, against `torch.nn` with that mask and against weights that are put in by hand."""

from typing import Literal

import pytest
import torch
from torch import Tensor
from torch.nn.functional import linear

from tests.support.edited_model import edited, logits
from tests.support.small_decoding import ids, random_sources, undecided
from tests.support.small_model import batch, cached_logits, everything, probe_of, randomised, small
from transformer.analysis.edits import Edit, HeadOff, HeadUniform, MaskCell, MaskOff, Temperature, WeightsSet
from transformer.analysis.edits.mask_edits import MaskPart
from transformer.analysis.trace import trace_steps
from transformer.config import BOS, PAD, DecodingConfig
from transformer.decoding.search import search
from transformer.errors import HeadlightError
from transformer.export.torch_model import TorchModel
from transformer.model import Transformer
from transformer.model.attention_kinds import KINDS, SITES, Kind

CELL = {"encoder": (2, 4), "decoder": (3, 1), "cross": (2, 3)}  # that every mask of the small batch allows
HALVES: dict[Kind, tuple[tuple[int, int], ...]] = {
    "encoder": ((1, 50), (3, 150)),
    "decoder": ((0, 3), (2, 1)),
    "cross": ((0, 1), (4, 3)),
}


def torchs(model: Transformer, kind: str, changed: Tensor) -> Tensor:
    """The logits of `torch.nn`'s stacks, unpadded, with the mask of one kind replaced; True = must not attend."""
    twin, (source, target) = TorchModel(model), batch(padded=False)
    positions = model.encoder.embedding.positions.table  # (P, D)
    size = target.shape[1]
    own = {"encoder": None, "decoder": torch.ones(size, size, dtype=torch.bool).triu(1), "cross": None} | {
        kind: changed
    }
    scale = model.config.d_model**0.5
    with torch.no_grad():
        memory = twin.stacks.encoder(twin.output[source] * scale + positions[: source.shape[1]], mask=own["encoder"])
        read = twin.output[target] * scale + positions[:size]
        return linear(twin.stacks.decoder(read, memory, tgt_mask=own["decoder"], memory_mask=own["cross"]), twin.output)


@pytest.mark.parametrize("head", [None, 1])
@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_forbidden_cell_is_that_cell_of_torchs_mask(
    kind: Kind, head: int | None, norm: Literal["pre", "post"]
) -> None:
    model, (source, target), (query, key) = randomised(small(norm=norm)), batch(padded=False), CELL[kind]
    rows = source.shape[1] if kind == "encoder" else target.shape[1]
    keys = target.shape[1] if kind == "decoder" else source.shape[1]
    hidden = torch.zeros(len(source), model.config.heads, rows, keys, dtype=torch.bool)
    hidden[:, slice(None) if head is None else head, query, key] = True
    if kind == "decoder":
        hidden |= torch.ones(rows, keys, dtype=torch.bool).triu(1)
    found = logits(edited(model, MaskCell(kind, None, head, query, key, False)), source, target)
    torch.testing.assert_close(found, torchs(model, kind, hidden.flatten(0, 1)), rtol=0, atol=1e-10)
    assert not torch.allclose(found, logits(model, source, target))


def test_an_allowed_cell_of_the_causal_mask_is_that_cell_of_torchs_mask() -> None:
    model, (source, target) = randomised(small()), batch(padded=False)
    hidden = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)
    hidden[1, 3] = False
    found = logits(edited(model, MaskCell("decoder", None, None, 1, 3, True)), source, target)
    torch.testing.assert_close(found, torchs(model, "decoder", hidden), rtol=0, atol=1e-10)
    before = logits(model, source, target)
    assert torch.equal(found[:, 0], before[:, 0])  # only rows that attend to row 2 change
    assert not torch.allclose(found[:, 1], before[:, 1])


def test_a_cell_of_one_layer_changes_no_mask_of_another() -> None:
    model = randomised(small())
    plain = everything(model, *batch(padded=False))
    records = everything(edited(model, MaskCell("decoder", 1, 0, 2, 1, False)), *batch(padded=False))
    for layer in range(2):
        different = records[f"{SITES['decoder'].format(layer)}.mask"] ^ plain[f"{SITES['decoder'].format(layer)}.mask"]
        assert different[:, :, :, :].sum() == (3 if layer == 1 else 0)  # in each of 3 sentences
    assert not records["decoder.layers.1.self_attention.mask"][:, 0, 2, 1].any()


def test_a_query_without_any_key_has_the_weights_0() -> None:
    model = randomised(small())
    edits = [MaskCell("cross", 0, 1, 2, key, False) for key in range(7)]
    records = everything(edited(model, *edits), *batch())
    weights = records["decoder.layers.0.cross_attention.weights"]
    assert torch.equal(weights[:, 1, 2], torch.zeros_like(weights[:, 1, 2]))
    torch.testing.assert_close(weights[:, 0].sum(-1), torch.ones_like(weights[:, 0, :, 0]))
    assert records["logits"].isfinite().all()
    both = everything(edited(model, *edits, WeightsSet("cross", 0, 1, 2, ((0, 1),))), *batch())
    assert torch.equal(both["logits"], records["logits"])  # there is nothing to give a weight to


@pytest.mark.parametrize("head", [None, 1])
@pytest.mark.parametrize("kind", list(KINDS))
def test_a_row_that_is_set_is_the_pass_with_those_weights_put_in_by_hand(kind: Kind, head: int | None) -> None:
    model, (source, target), query = randomised(small()), batch(padded=False), CELL[kind][0]
    site = SITES[kind].format(0)
    whole = sum(weight for _, weight in HALVES[kind])

    def by_hand(weights: Tensor) -> Tensor:
        weights = weights.clone()
        weights[:, slice(None) if head is None else head, query] = 0.0
        for key, weight in HALVES[kind]:
            weights[:, slice(None) if head is None else head, query, key] = weight / whole
        return weights

    with torch.no_grad():
        expected = model(source, target, probe_of(model, **{f"{site.replace('.', '__')}__weights": by_hand}))
    found = edited(model, WeightsSet(kind, 0, head, query, HALVES[kind]))
    torch.testing.assert_close(logits(found, source, target), expected, rtol=0, atol=1e-10)
    assert not torch.allclose(expected, logits(model, source, target))
    records = everything(found, source, target)
    assert records[f"{site}.context"].shape[2] > query
    context = torch.stack([records[f"{site}.value"][:, 1, key] * weight / whole for key, weight in HALVES[kind]]).sum(0)
    torch.testing.assert_close(records[f"{site}.context"][:, 1, query], context, rtol=0, atol=1e-10)


def test_keys_that_are_padding_get_no_weight_and_the_others_share_it() -> None:
    """So a sentence does not depend on the others in its batch."""
    model, (source, target) = randomised(small()), batch()
    edits = [WeightsSet("cross", 0, 0, 1, ((1, 10), (3, 30), (5, 60)))]
    assert source[0, 5] == PAD
    records = everything(edited(model, *edits), source, target)
    row = records["decoder.layers.0.cross_attention.weights"][0, 0, 1]
    torch.testing.assert_close(row, torch.tensor([0, 0.25, 0, 0.75, 0, 0, 0], dtype=row.dtype), rtol=0, atol=1e-10)
    alone = logits(edited(model, *edits), source[:1, :5], target[:1])
    torch.testing.assert_close(records["logits"][:1], alone, rtol=0, atol=1e-10)


ROWS: list[tuple[Edit, ...]] = [
    (WeightsSet("cross", 0, 1, 2, ((1, 70), (3, 30))),),
    (WeightsSet("decoder", 1, None, 2, ((0, 1), (1, 2))), WeightsSet("cross", 0, None, 3, ((0, 1),))),
    (MaskCell("decoder", None, 0, 2, 1, False), MaskCell("cross", 1, None, 1, 0, False)),
    (WeightsSet("encoder", 0, 0, 1, ((3, 1),)), MaskCell("encoder", 0, None, 2, 2, False)),
    (WeightsSet("cross", 0, 1, 2, ((1, 70), (3, 30))), Temperature("cross", 0, 1, 3.0), HeadOff("cross", 1, 0)),
]


@pytest.mark.parametrize("edits", ROWS)
def test_steps_with_the_cache_equal_the_whole_pass_at_every_position(edits: tuple[Edit, ...]) -> None:
    model, (source, target) = randomised(small()), batch(padded=False)
    changed = edited(model, *edits)
    whole = logits(changed, source, target)
    with torch.no_grad():
        torch.testing.assert_close(cached_logits(changed, source, target), whole, rtol=0, atol=1e-10)
        # Three hypotheses of one sentence, which attend to it as three queries
        beams = cached_logits(changed, source[:1], target)
    expected = logits(changed, source[:1].expand(3, -1), target)
    torch.testing.assert_close(beams, expected, rtol=0, atol=1e-10)
    assert not torch.allclose(whole, logits(model, source, target))


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_a_search_has_the_log_probabilities_of_a_pass_over_what_it_found(method: Literal["greedy", "beam"]) -> None:
    model = undecided()
    changed = edited(model, WeightsSet("cross", 1, None, 1, ((0, 1),)), MaskCell("decoder", 0, 2, 2, 0, False))
    sources = random_sources(6)
    different = 0
    for source, found, before in zip(
        sources,
        *(search(each, sources, DecodingConfig(method=method, beam=3)) for each in (changed, model)),
        strict=True,
    ):
        written = ids(found)
        read = logits(changed, torch.tensor([source]), torch.tensor([[BOS, *written[:-1]]]))[0].log_softmax(-1)
        expected = read[range(len(written)), written].tolist()
        wanted = [candidate.log_probability for candidate in found.path(found.endings[0])]
        assert wanted == pytest.approx(expected, abs=1e-10)
        different += [c.log_probability for c in before.path(before.endings[0])] != wanted
    assert different


def test_a_row_is_recorded_in_the_step_of_its_position_and_in_no_other() -> None:
    model = randomised(small())
    site = "decoder.layers.0.cross_attention.weights"
    changed = edited(model, WeightsSet("cross", 0, 0, 1, ((2, 1),)))
    steps = trace_steps(changed, (5, 6, 7, 3), (8, 9, 10, 3), (site,))
    assert [step[site][0, 0].tolist() == [0, 0, 1, 0] for step in steps] == [False, True, False, False]


def test_edits_of_a_row_compose_with_others_in_any_order_where_they_commute() -> None:
    model, (source, target) = randomised(small()), batch()
    edits = (
        WeightsSet("cross", 0, 1, 2, ((1, 70), (3, 30))),
        MaskCell("decoder", None, None, 2, 1, False),
        HeadUniform("encoder", 0, 0),
        MaskOff("padding"),
    )
    found = [logits(edited(model, *each), source, target) for each in (edits, edits[::-1])]
    assert torch.equal(*found)


def test_the_last_of_two_edits_of_a_cell_holds_whether_they_name_a_layer_or_all() -> None:
    model, (source, target) = randomised(small()), batch()
    off, again = MaskCell("decoder", 0, None, 1, 3, False), MaskCell("decoder", None, None, 1, 3, True)
    for edits in ((MaskOff("causal"), off), (again, off), (off, MaskOff("causal"), off)):
        mask = everything(edited(model, *edits), source, target)["decoder.layers.0.self_attention.mask"]
        assert not mask[:, :, 1, 3].any(), edits
    assert everything(edited(model, off, again), source, target)["decoder.layers.0.self_attention.mask"][
        0, :, 1, 3
    ].all()


@pytest.mark.parametrize(
    ("kind", "part", "row", "key"),
    [
        ("decoder", "causal", 3, 3),
        ("decoder", "causal", 3, 1),
        ("encoder", "padding", 1, 2),
        ("cross", "cross", 1, 2),
    ],
)
def test_without_a_part_of_a_mask_cells_that_were_forbidden_before_stay_forbidden(
    kind: Kind, part: MaskPart, row: int, key: int
) -> None:
    model, (source, target) = randomised(small()), batch()
    cell, off = MaskCell(kind, None, None, row, key, False), MaskOff(part)
    first, last = (
        everything(edited(model, *each), source, target)[f"{SITES[kind].format(0)}.mask"]
        for each in ((cell, off), (off, cell))
    )
    assert torch.equal(first, last)
    assert not first[:, :, row, key].any()


def test_without_the_mask_towards_the_encoder_only_that_attention_reads_padding() -> None:
    model = randomised(small())
    records, plain = (everything(each, *batch()) for each in (edited(model, MaskOff("cross")), model))
    assert records["decoder.layers.1.cross_attention.mask"].all()
    assert (records["decoder.layers.0.cross_attention.weights"][0, :, :, 5:] > 0).all()
    assert torch.equal(records["encoder.layers.0.self_attention.mask"], plain["encoder.layers.0.self_attention.mask"])


@pytest.mark.parametrize(
    "edit",
    [WeightsSet("cross", 0, 0, 1, ()), WeightsSet("cross", 0, 0, 1, ((1, 0),)), WeightsSet("cross", 7, 0, 1, ((1, 1),)),
     WeightsSet("cross", 0, 0, 1, ((1, 2), (1, 3))), WeightsSet("decoder", 0, 0, 1, ((2, 1),)),
     MaskCell("cross", 2, None, 0, 0, True), MaskCell("encoder", None, 2, 0, 0, True)],
)  # fmt: skip
def test_a_row_that_does_not_fit_the_model_says_why(edit: Edit) -> None:
    with pytest.raises(HeadlightError, match=r"no layer|no head|positive numbers|cannot attend"):
        edited(randomised(small()), edit)


@pytest.mark.parametrize(
    "edit",
    [WeightsSet("cross", 0, 0, 30, ((1, 1),)), WeightsSet("cross", 0, 0, 1, ((30, 1),)),
     MaskCell("decoder", 0, 0, 30, 1, True), MaskCell("decoder", 0, 0, 1, 30, False)],
)  # fmt: skip
def test_a_sentence_that_is_too_short_stays_as_it_is(edit: Edit) -> None:
    model, (source, target) = randomised(small()), batch()
    torch.testing.assert_close(
        logits(edited(model, edit), source, target), logits(model, source, target), rtol=0, atol=1e-10
    )

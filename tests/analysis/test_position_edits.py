"""Edits of positions, against models whose table of positions is zeros or in another order."""

import pytest
import torch
from torch import Tensor

from tests.support.edited_model import edited, logits, twin
from tests.support.small_model import batch, cached_logits, randomised, small
from transformer.analysis.edits import Edit, PositionsOff, PositionsShifted, PositionsShuffled, PositionsSwapped
from transformer.model import Transformer


def test_without_positions_the_encoder_is_one_whose_table_is_zeros() -> None:
    model, zeros = randomised(small(positions="learned")), randomised(small(positions="learned"))
    source, target = batch()
    with torch.no_grad():
        assert zeros.encoder.embedding.positions.table is not zeros.decoder.embedding.positions.table
        zeros.encoder.embedding.positions.table.zero_()
        torch.testing.assert_close(edited(model, PositionsOff())(source, target), zeros(source, target))
        stepwise = cached_logits(edited(model, PositionsOff()), source, target)
        torch.testing.assert_close(stepwise, cached_logits(zeros, source, target))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_without_positions_the_encoder_takes_the_words_as_a_set(norm: str) -> None:
    model = randomised(small(norm=norm))
    source, _ = batch(padded=False)
    order = torch.tensor([3, 0, 5, 1, 2, 4, 6])

    def memory(of: Transformer, ids: Tensor) -> Tensor:
        state = of.start(ids)
        return state.layers[-1].cross_key  # (B, H, S, E): a linear function of the encoder's output

    with torch.no_grad():
        plain, shuffled = (memory(edited(model, PositionsOff()), ids) for ids in (source, source[:, order]))
        torch.testing.assert_close(shuffled, plain[:, :, order])
        assert not torch.allclose(memory(model, source[:, order]), memory(model, source)[:, :, order])


@pytest.mark.parametrize(
    ("edit", "order"),
    [
        (PositionsSwapped(1, 3), [0, 3, 2, 1, 4, 5, 6]),
        (PositionsShifted(2), [2, 3, 4, 5, 6, 7, 8]),
        (PositionsShuffled(7), torch.randperm(7, generator=torch.Generator().manual_seed(7)).tolist()),
        (PositionsSwapped(1, 30), None),  # the sentence is too short: nothing happens
    ],
)
def test_positions_are_those_of_a_table_whose_rows_are_in_that_order(edit: Edit, order: list[int] | None) -> None:
    model = randomised(small(positions="learned"))
    expected = twin(model)
    source, target = batch()
    if order:
        table = expected.encoder.embedding.positions.table
        with torch.no_grad():
            table[: len(order)] = table[order].clone()
    torch.testing.assert_close(
        logits(edited(model, edit), source, target), logits(expected, source, target), rtol=0, atol=1e-10
    )

"""Attention rollout: the product of the attention of all layers, of the encoder and of the decoder."""

import numpy as np
import pytest

from tests.support.small_attention import causal, softmax
from transformer.analysis.rollout import decoder_rollout, mixed, rollout


def test_rollout_is_the_product_through_the_layers() -> None:
    weights = softmax((3, 4, 6, 6))
    found = rollout(weights)
    layers = [0.5 * weight.astype(float).mean(axis=0) + 0.5 * np.eye(6) for weight in weights]
    assert found[0] == pytest.approx(layers[0], abs=1e-6)
    assert found[2] == pytest.approx(layers[2] @ layers[1] @ layers[0], abs=1e-6)
    assert found.sum(axis=-1) == pytest.approx(1)


def test_nothing_reaches_a_row_of_the_decoder_from_later_tokens() -> None:
    found = rollout(softmax((3, 2, 6, 6), mask=causal(6)))
    assert (found[:, ~causal(6)] == 0).all()


def test_the_rollout_of_the_decoder_is_one_large_product_over_target_and_source() -> None:
    own, cross = softmax((2, 3, 5, 5), 1, causal(5)), softmax((2, 3, 5, 4), 2)
    encoder = rollout(softmax((2, 3, 4, 4), 3))[-1]
    read, source = decoder_rollout(own, cross, encoder)
    # The same with one state of T + S positions, of which the last S are the encoder's output and do not change.
    state = np.block([[np.eye(5), np.zeros((5, 4))], [np.zeros((4, 5)), encoder]])
    for layer in range(2):
        step = np.block([[mixed(own[layer]), np.zeros((5, 4))], [np.zeros((4, 5)), np.eye(4)]])
        looked = 0.5 * cross[layer].astype(float).mean(axis=0)
        look = np.block([[0.5 * np.eye(5), looked], [np.zeros((4, 5)), np.eye(4)]])
        state = look @ step @ state
        assert read[layer] == pytest.approx(state[:5, :5], abs=1e-6)
        assert source[layer] == pytest.approx(state[:5, 5:], abs=1e-6)
        assert read[layer].sum(axis=-1) + source[layer].sum(axis=-1) == pytest.approx(1, abs=1e-6)
    assert (read[:, ~causal(5)] == 0).all()


def test_the_rollout_of_a_fully_masked_row_is_that_of_the_residual_connection() -> None:
    """Encoder-decoder attention adds nothing to the row, so the row is the same before and after it."""
    own, cross = np.tril(np.ones((2, 1, 3, 3))), np.full((2, 1, 3, 2), 0.5)
    own /= own.sum(axis=-1, keepdims=True)
    cross[1, 0, 2] = 0.0  # as if an edit forbade both keys
    read, source = decoder_rollout(own, cross, np.eye(2))
    np.testing.assert_allclose(read.sum(axis=-1) + source.sum(axis=-1), 1.0, atol=1e-12)
    np.testing.assert_allclose(read[1, 2], (mixed(own[1]) @ read[0])[2], atol=1e-12)


def test_a_row_that_one_head_masks_gets_half_of_the_mean_of_the_others() -> None:
    """In both attentions: the share of the residual connection does not grow."""
    weights = np.array([[[0.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]], np.float32)  # head 1 masks query 1
    assert mixed(weights)[0] == pytest.approx([0.5, 0.5])
    _, source = decoder_rollout(np.stack([np.stack([np.eye(2)] * 2)]), weights[None], np.eye(2))
    assert source[0][0] == pytest.approx([0.0, 0.5])

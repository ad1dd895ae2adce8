"""The arithmetic of sinusoidal positions: the paper's formula, its two layouts, wavelengths, rotations and products."""

import math

import numpy as np
import pytest

from app.figures.layouts import layout_table, same_numbers
from app.figures.sinusoids import (
    Layout,
    best_rotations,
    encoding,
    pair_dimensions,
    pair_of,
    pairs,
    permutation,
    rotation_error,
    rotations,
    turns,
    wavelengths,
)
from app.views.positions.similarity import formula_over_distance, over_distance, products
from transformer.model.positions import sinusoids

LAYOUTS: tuple[Layout, ...] = ("interleaved", "concatenated")


def paper(position: float, dimension: int, d_model: int) -> float:
    """The formula of section 3.5, by hand."""
    angle = position / 10000 ** (2 * (dimension // 2) / d_model)
    return math.sin(angle) if dimension % 2 == 0 else math.cos(angle)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_encoding_is_the_formula_of_the_paper_and_the_table_of_the_model(layout: Layout) -> None:
    found = encoding(np.arange(50), 12, layout)
    for pos in range(50):
        for i in range(6):
            sine, cosine = pair_dimensions(i, 12, layout)
            assert found[pos, sine] == pytest.approx(paper(pos, 2 * i, 12), abs=1e-12)
            assert found[pos, cosine] == pytest.approx(paper(pos, 2 * i + 1, 12), abs=1e-12)
    assert np.allclose(found, sinusoids(50, 12, layout).numpy(), atol=1e-6)


def test_the_permutation_takes_the_model_s_one_layout_to_its_other_without_changing_a_bit() -> None:
    interleaved, concatenated = (sinusoids(40, 24, layout).numpy() for layout in LAYOUTS)
    assert np.array_equal(interleaved[:, permutation(24)], concatenated)
    assert not np.array_equal(interleaved, concatenated)
    assert same_numbers(24) == 0
    assert list(layout_table(8)["the paper's"]) == [0, 2, 4, 6, 1, 3, 5, 7]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_dimension_is_one_of_the_two_of_its_pair(layout: Layout) -> None:
    for dimension in range(16):
        pair, cosine = pair_of(dimension, 16, layout)
        assert pair_dimensions(pair, 16, layout)[cosine] == dimension


def test_a_wave_repeats_after_its_wavelength() -> None:
    for i, length in enumerate(wavelengths(16)):
        start, later = encoding(np.array([3.0, 3.0 + length]), 16)[:, 2 * i : 2 * i + 2]
        assert np.allclose(start, later, atol=1e-9)
        assert length == pytest.approx(2 * math.pi * 10000 ** (2 * i / 16))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shift", [0, 1, 7, 100])
def test_the_rotation_takes_each_position_of_the_model_s_table_to_the_one_k_further(layout: Layout, shift: int) -> None:
    points = pairs(sinusoids(300, 32, layout).numpy(), layout)
    largest, share = rotation_error(points, rotations(shift, 32), shift)
    assert largest < 1e-6
    assert share < 1e-6
    for matrix in rotations(shift, 32):
        assert np.allclose(matrix @ matrix.T, np.eye(2))
        assert np.linalg.det(matrix) == pytest.approx(1)


def test_positions_with_a_wrong_offset_or_layout_are_not_rotations_of_each_other() -> None:
    table = sinusoids(60, 32, "interleaved").numpy()
    assert rotation_error(pairs(table, "interleaved"), rotations(4, 32), 5)[0] > 0.1
    assert rotation_error(pairs(table, "concatenated"), rotations(5, 32), 5)[0] > 0.1


def test_the_best_rotation_of_sinusoids_is_that_of_the_formula_and_noise_has_no_good_one() -> None:
    points = pairs(encoding(np.arange(80), 16), "interleaved")
    assert np.allclose(best_rotations(points, 3), rotations(3, 16), atol=1e-9)
    noise = np.random.default_rng(0).normal(size=(80, 8, 2))
    assert rotation_error(noise, best_rotations(noise, 3), 3)[1] > 0.5
    best = best_rotations(noise, 3)
    for angle in (-0.1, 0.1):  # no neighbour is better
        assert rotation_error(noise, turns(np.full(8, angle)) @ best, 3)[1] > rotation_error(noise, best, 3)[1]


def test_products_of_sinusoids_depend_on_the_distance_alone_and_those_of_noise_do_not() -> None:
    table = encoding(np.arange(40), 20)
    found = over_distance(table)
    assert found.spread < 1e-9
    assert np.allclose(found.mean, formula_over_distance(np.arange(40), 20))
    assert found.mean[0] == pytest.approx(10)  # d_model / 2
    assert products(table)[3, 9] == pytest.approx(float(table[3] @ table[9]))
    assert over_distance(np.random.default_rng(0).normal(size=(40, 20))).spread > 1

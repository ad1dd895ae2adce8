"""The lines and the matrix of attention weights, and colours of heads that everybody can distinguish."""

import base64

import numpy as np
import pytest

from app.figures.attention_lines import attention_lines
from app.figures.matrix import attention_matrix
from app.figures.theme import BACKGROUND, head_color, head_is_dashed, resolved
from tests.support.drawn import checked
from tests.support.small_attention import SOURCE, TARGET, softmax


def test_lines_of_several_heads_carry_every_weight_of_the_layer() -> None:
    weights = softmax((10, 7, 10))
    data = attention_lines(weights, TARGET, SOURCE, title="t", alt="a", head=2, row=3)
    sent = np.frombuffer(base64.b64decode(data["weights"]), "<f4").reshape(data["shape"])
    assert np.array_equal(sent, weights)
    assert (data["chosen"], data["row"], len(data["heads"])) == (2, 3, 10)
    assert [head["dashed"] for head in data["heads"]] == [False] * 8 + [True] * 2
    with pytest.raises(ValueError, match="7 queries"):
        attention_lines(weights, TARGET, SOURCE, title="t", alt="a")


def test_the_isolated_row_is_framed_in_the_matrix() -> None:
    frame = checked(attention_matrix(softmax((7, 10)), TARGET, SOURCE, title="t", row=4)).layout.shapes[0]
    assert (frame.y0, frame.y1, frame.x0, frame.x1) == (3.5, 4.5, -0.5, 9.5)


# Machado, Oliveira and Fernandes (2009), full deficiency; linear RGB.
DEFICIENCIES = {
    "none": np.eye(3),
    "protan": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "deutan": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "tritan": np.array([[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
}


def linear(color: str) -> np.ndarray:
    rgb = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.asarray(np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4))


def lab(rgb: np.ndarray) -> np.ndarray:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ np.clip(rgb, 0, 1) / np.array([0.9505, 1, 1.089])
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_head_colours_are_distinguishable_with_colour_deficiencies(deficiency: str, dark: bool) -> None:
    colors = [linear(resolved(head_color(head), dark)) for head in range(8)]
    seen = [lab(DEFICIENCIES[deficiency] @ color) for color in colors]
    for i, one in enumerate(seen):
        for other in seen[:i]:
            assert np.linalg.norm(one - other) > 20  # ten times what the eye can tell side by side
    assert head_color(8) == head_color(0)
    assert head_is_dashed(8)
    assert not head_is_dashed(7)
    if deficiency == "none":
        luminance = [float(color @ [0.2126, 0.7152, 0.0722]) for color in colors]
        page = float(linear(resolved(BACKGROUND, dark)) @ [0.2126, 0.7152, 0.0722])
        for light in luminance:
            assert (max(light, page) + 0.05) / (min(light, page) + 0.05) >= 3

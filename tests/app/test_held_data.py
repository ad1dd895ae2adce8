"""The data that are sent in a message of their own: every number arrives, and equal arrays are sent once."""

import json
import zlib
from pathlib import Path

import numpy as np
import pytest

from app.components.held_data import packed
from tests.support.drawn import held_by, open_view

ROOT = Path(__file__).resolve().parents[2]


def test_equal_arrays_are_sent_once() -> None:
    tensor = np.random.default_rng(1).normal(size=(100, 100)).astype(np.float32)
    once, twice = packed({"a": tensor}), packed({"a": tensor, "b": tensor.copy(), "c": tensor.reshape(10, 1000)})
    assert len(twice) < len(once) + 100
    assert len(packed({"a": tensor, "b": tensor + 1})) > 1.9 * len(once)


def test_arrays_of_different_types_follow_each_other() -> None:
    masks, tensor = np.array([1, 0, 1], np.uint8), np.array([[0.1, -np.inf]], np.float32).T
    message = zlib.decompress(packed({"masks": masks, "tensor": tensor, "text": "▁ä", "missing": float("nan")}))
    start = 4 + int.from_bytes(message[:4], "little")
    assert json.loads(message[4:start]) == {
        "masks": {"dtype": "u1", "at": 0, "shape": [3]},
        "tensor": {"dtype": "f4", "at": 3, "shape": [2, 1]},
        "text": "▁ä",
        "missing": None,
    }
    assert message[start:] == masks.tobytes() + tensor.tobytes()


@pytest.mark.parametrize("page", ["steps", "residual"])
def test_the_numbers_of_twelve_words_take_at_most_180_kb(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(ROOT / "pretrained"))
    app = open_view(page, sentence="The old man who lives here has never seen such a garden.", details="false")
    assert held_by(app)["scene"]
    (sent,) = (each.proto for each in app.get("bidi_component") if "held_data" in each.proto.component_name)
    assert len(sent.bytes) < 180e3

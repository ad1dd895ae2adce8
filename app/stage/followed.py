"""The token that one follows through the model: which one a page opens with, and where the decoder attends to it."""

import numpy as np

from app.figures.head_sharpness import is_sink
from app.stage.heads import clearest_of
from app.stage.scene import Scene


def attending_steps(scene: Scene) -> list[int]:
    """For each token of the source, the step of the decoder, from 0, that attends to it most, in the clearest head."""
    return [int(step) for step in _weights(scene).argmax(axis=0)]


def opening_token(scene: Scene) -> int:
    """The longest word of the source, from 0, that gets at least half of the attention of a step: there is most to see
    of it. Where no token gets as much, the one that gets most."""
    strongest = _weights(scene).max(axis=0)  # (S,)
    sure = min(0.5, float(strongest.max()))
    letters = [
        0 if is_sink(token) or weight < sure else sum(letter.isalpha() for letter in token)
        for token, weight in zip(scene.source.tokens, strongest, strict=True)
    ]
    return int(np.argmax(letters))


def _weights(scene: Scene) -> np.ndarray:
    """(T, S) of the clearest head of encoder-decoder attention."""
    layer, head = clearest_of(scene, "cross")
    found: np.ndarray = scene.attention("cross").weights[layer, head]
    return found

"""The source token that the pages follow at first, and for each source token the step that attends to it most."""

import numpy as np

from app.figures.head_sharpness import carries_no_word
from app.stage.heads import clearest_of
from app.stage.scene import Scene

SURE = 0.5  # the least weight with which a step clearly attends to a token


def attending_steps(scene: Scene) -> list[int]:
    """For each token of the source, the step of the decoder, from 0, that attends to it most, in the clearest head."""
    return [int(step) for step in _weights(scene).argmax(axis=0)]


def is_attended(scene: Scene, source: int) -> bool:
    """Whether any step attends to this token of the source, in the clearest head: an edit may forbid it to all."""
    return bool(_weights(scene)[:, source].any())


def opening_token(scene: Scene) -> int:
    """The token of the source, from 0, with the most letters among those to which some step attends with a weight of at
    least 0.5. If none of these has a letter, the token with the largest weight of all. Punctuation and control tokens
    are chosen only if there are no others."""
    tokens, strongest = scene.source.tokens, _weights(scene).max(axis=0)  # (S,)
    sinks = np.array([carries_no_word(token) for token in tokens])
    letters = np.array([sum(letter.isalpha() for letter in token) for token in tokens])
    clear = np.where((strongest >= SURE) & ~sinks, letters, 0)
    return int(np.argmax(clear if clear.any() else strongest - sinks))


def _weights(scene: Scene) -> np.ndarray:
    """(T, S) of the clearest head of encoder-decoder attention."""
    layer, head = clearest_of(scene, "cross")
    found: np.ndarray = scene.attention("cross").weights[layer, head]
    return found

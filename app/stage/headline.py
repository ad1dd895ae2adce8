"""The translation, which is what the pictures below it are about: one line of tokens, the same on every page."""

import math

from app import components
from app.figures.axes import visible
from app.figures.theme import role_color
from app.stage.scene import Scene
from app.state.choices import SHOWN_SENTENCE, show_sentence


def headline(scene: Scene, *, written: bool) -> None:
    """Draws the translation that is shown; of several sentences, also which of them.

    Args:
        written: whether the canvas of the page writes it, token by token.
    """
    hypothesis = scene.hypothesis
    number = SHOWN_SENTENCE.value if SHOWN_SENTENCE.value < len(scene.sentences) else 0
    components.translation_line(
        components.Line(
            [
                {"text": visible(token), "probability": math.exp(value)}
                for token, value in zip(hypothesis.pieces, hypothesis.log_probabilities, strict=True)
            ],
            hypothesis.text or "(nothing)",
            scene.task.target_code,
            written,
        ),
        components.Sentences(tuple(each.source for each in scene.sentences), number, show_sentence),
        mark=_mark(scene),
        color=role_color("decoder"),
        key="translation_line",
    )


def _mark(scene: Scene) -> components.Mark:
    """Says whose translation it is, or what the model read instead of what was typed."""
    if scene.is_given:
        return components.Mark("your translation", "The decoder reads your words instead of its own (teacher forcing).")
    if scene.translation.typed:
        why = "The model was trained on text with normal capitals, so they are restored before it reads the sentence."
        return components.Mark(f"read as: {scene.translation.source}", why)
    return components.Mark()

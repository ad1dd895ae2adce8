"""The translation as one line of tokens, above the pictures, the same on every page."""

import math
from collections.abc import Sequence
from functools import partial

from app import components
from app.compute.typed_text import reader
from app.figures.axes import visible
from app.figures.theme import role_color
from app.languages import _
from app.stage.scene import Scene
from app.state.choices import ALTERNATIVE, AS_TYPED, GIVEN_SHOWN, SHOWN_SENTENCE
from app.state.events import read_as_typed, show_sentence
from app.state.given_translation import is_of_search, show_found
from transformer.text.spelling import changed_words


def headline(scene: Scene, *, written: bool) -> None:
    """Draws the translation that is shown; of several sentences, also which of them.

    Args:
        written: whether the canvas of the page writes it, token by token.
    """
    hypothesis = scene.hypothesis
    components.translation_line(
        components.Line(
            [
                {"text": visible(token), "probability": math.exp(value)}
                for token, value in zip(hypothesis.tokens, hypothesis.log_probabilities, strict=True)
            ],
            hypothesis.text or _("(nothing)"),
            scene.task.target_code,
            written,
        ),
        _sentences(scene),
        mark=_mark(scene),
        color=role_color("decoder"),
        key="translation_line",
    )


def heading_note(scene: Scene) -> None:
    """Beside the heading of a page without the translation: whose translation it is, or what the model read instead of
    what was typed, and of several sentences, which is shown. Without any of these there is no note."""
    mark, sentences = _mark(scene), _sentences(scene)
    if mark.words or len(sentences.texts) > 1:
        nothing = components.Line([], "", "", written=False)
        components.translation_line(nothing, sentences, mark=mark, color="", key="heading_note")


def _sentences(scene: Scene) -> components.Sentences:
    number = SHOWN_SENTENCE.value if SHOWN_SENTENCE.value < len(scene.sentences) else 0
    return components.Sentences(tuple(each.source for each in scene.sentences), number, show_sentence)


def _mark(scene: Scene) -> components.Mark:
    """Says whose translation it is, or what the model read instead of what was typed."""
    if scene.problem and ALTERNATIVE.value == GIVEN_SHOWN:
        return components.Mark(_("your translation cannot be shown"), scene.problem, show_found)
    if scene.is_given and is_of_search():
        why = _(
            "The search found this translation, too; the decoder reads it in place of the best one (teacher forcing). "
            "Click: the best translation."
        )
        return components.Mark(_("another translation"), why, show_found)
    if scene.is_given:
        why = _(
            "The decoder reads your words instead of its own (teacher forcing). Click: the model's own translation."
        )
        return components.Mark(_("your translation"), why, show_found)
    return _reading(scene)


def _reading(scene: Scene) -> components.Mark:
    """Says how what was typed is read, if it is not read as it is."""
    typed, read = scene.translation.typed or scene.translation.source, scene.translation.source
    if corrected := changed_words(typed, read):
        why = _(
            "The model reads “{sentence}”: a word that is not in its training text becomes the most similar one that "
            "is. Click to read what was typed instead.",
            sentence=read,
        )
        return components.Mark(_listed(corrected), why, partial(read_as_typed, True))
    if AS_TYPED.value:
        translator = reader(scene.subject)
        if corrected := changed_words(typed, translator.sources.read(typed, translator.settings).source):
            why = _("Click to read {words} instead.", words=_listed(corrected))
            return components.Mark(_("as typed"), why, partial(read_as_typed, False))
    if typed != read:
        why = _("The model reads words in the letter case in which they are usual in its training text.")
        return components.Mark(_("read as: {sentence}", sentence=read), why)
    return components.Mark()


def _listed(changed: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{typed} → {read}" for typed, read in changed)

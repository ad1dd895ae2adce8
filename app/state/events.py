"""What changes several choices at once: a new sentence, another checkpoint, another search, another head."""

from app.state.choice import Event
from app.state.choices import (
    ALTERNATIVE,
    AS_TYPED,
    CHECKPOINT,
    CHOICES,
    GIVEN_SHOWN,
    HEAD,
    LAYER,
    SENTENCE,
    SHOWN_SENTENCE,
)


def happened(event: Event) -> None:
    """Resets what the event resets."""
    for choice in CHOICES:
        if event in choice.reset_by:
            choice.forget()


def search_changed() -> None:
    """After another search: shows the best translation, unless the visitor's own translation is shown."""
    happened("search")
    if ALTERNATIVE.value != GIVEN_SHOWN:
        ALTERNATIVE.forget()


def show_sentence(index: int) -> None:
    """Chooses one of several sentences (from 0). Choices that belong to the sentence before are forgotten."""
    happened("sentence")
    SHOWN_SENTENCE.choose(index)


def read_as_typed(is_so: bool) -> None:
    """Chooses whether the text is read as it was typed, or with corrected spelling; each gives other tokens."""
    show_sentence(SHOWN_SENTENCE.value)
    AS_TYPED.choose(is_so)


def text_changed() -> None:
    """After another text is in the box."""
    happened("text")
    happened("sentence")


def take_sentence(value: str) -> None:
    """Puts a sentence into the box, as if the visitor had typed it."""
    text_changed()
    SENTENCE.choose(value)


def open_checkpoint(name: str) -> None:
    """Opens a checkpoint with the sentence in the box. Resets the choices that belong to the previous model."""
    CHECKPOINT.choose(name)
    happened("checkpoint")


def choose_head(layer: int, head: int) -> None:
    """Chooses a head, from 0."""
    LAYER.choose(layer + 1)
    HEAD.choose(head + 1)

"""What a class sees, as plain values, and the JSON of it that phones get."""

import hashlib
import json
from collections.abc import Container, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from app.languages import Language, _, language

NOTHING_PINNED = (-1, -1)


@dataclass(frozen=True)
class Asked:
    """A question without its right answer, which the phones do not get before it is revealed."""

    prompt: str
    answers: tuple[str, ...]

    @property
    def id(self) -> str:
        return hashlib.blake2s(repr((self.prompt, self.answers)).encode(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class Revealed:
    """Which answer is right, why, and how many followers gave each."""

    right: int
    why: str
    totals: tuple[int, ...]


@dataclass(frozen=True)
class ShownHead:
    """What the canvas shows: head, form, and the query and key that are pinned (-1: none). Numbers count from 0."""

    kind: str
    layer: int
    head: int
    form: str
    pinned: tuple[int, int] = NOTHING_PINNED


@dataclass(frozen=True)
class ClassScene:
    """One scene.

    Attributes:
        link: address in the app, for a page that a phone cannot draw; else "".
        picture: message of the canvas, packed by gzip; b"" where the page has no canvas.
        shown: what the canvas shows of it.
        model: what translates a follower's own sentence, (subject, settings of the search).
        language: the language of the lecturer's interface; the phones have the same.
    """

    title: str
    text: str = ""
    link: str = ""
    picture: bytes = b""
    shown: ShownHead | None = None
    question: Asked | None = None
    model: tuple[Any, Any] | None = field(default=None, repr=False)
    language: Language = field(default_factory=language)

    @property
    def picture_id(self) -> str:
        return hashlib.blake2s(self.picture, digest_size=8).hexdigest() if self.picture else ""

    @property
    def model_id(self) -> str:
        return hashlib.blake2s(repr(self.model).encode(), digest_size=8).hexdigest() if self.model else ""

    def hides(self, revealed: Container[str]) -> bool:
        """Whether picture, link and pinned words are not sent yet: the answer could be read from them."""
        return self.question is not None and self.question.id not in revealed


def first_scene() -> ClassScene:
    """What a class sees before anything is shown."""
    return ClassScene(_("The class has begun"), _("What your lecturer shows will appear here."))


def news_of(version: int, scene: ClassScene, revealed: Mapping[str, Revealed], asked_again: Mapping[str, int]) -> bytes:
    """What all phones of a class get when the class sees something else."""
    asked, shown, hides = scene.question, scene.shown, scene.hides(revealed)
    if shown and hides:  # the head is sent: the phones draw their own sentences with it
        shown = replace(shown, pinned=NOTHING_PINNED)
    question: dict[str, object] | None = None
    if asked:
        question = {
            "id": asked.id,
            "time": asked_again.get(asked.id, 0),
            "prompt": asked.prompt,
            "answers": asked.answers,
        }
    described = {
        "version": version,
        "language": scene.language,
        "title": scene.title,
        "text": scene.text,
        "link": "" if hides else scene.link,
        "picture": "" if hides else scene.picture_id,
        "shown": asdict(shown) if shown else None,
        "model": scene.model_id if scene.picture else "",
        "question": question,
        "revealed": asdict(revealed[asked.id]) if asked and asked.id in revealed else None,
    }
    return json.dumps(described, separators=(",", ":"), allow_nan=False).encode()

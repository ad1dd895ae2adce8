"""Turns a scene of a lesson into what the class gets: draws its page, and keeps its pictures and numbers."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.components.canvas import Head
from app.components.recording import Drawn
from app.figures.head_names import head_name
from app.figures.matrix import matrix_alt, matrix_table
from app.figures.tables import Table
from app.languages import _
from app.lessons.lesson_file import LessonScene, sentence_of
from app.library.checkpoints import CheckpointFile
from app.pages import info
from app.stage.scene import Scene
from app.take_home.exact_numbers import ALONE, EXACT, exact_numbers
from app.take_home.hand_out import HandedScene
from app.take_home.packed_pictures import Picture
from app.take_home.visit import Seen, see
from transformer.model.attention_kinds import SITES

# Left out: components that choose what is shown, and those that need the app
LEFT_OUT = ("translation_line", "switches", "frames", "chart", "meter")


@dataclass(frozen=True)
class Handed:
    """A scene as the class gets it, and the translation that it shows."""

    scene: HandedScene
    of: Scene | None


def handed_scenes(scenes: Sequence[LessonScene], uploads: Mapping[str, CheckpointFile]) -> Iterator[Handed]:
    """Yields one scene after the other, because drawing a page can take seconds."""
    for number, scene in enumerate(scenes):
        sentence = sentence_of(scenes, number)
        link = scene.link | ({"sentence": sentence} if sentence else {})
        yield _handed(scene, see(scene.page, link, uploads))


def sources(handed: Iterable[Handed], *, of_data: bool = True) -> list[tuple[str, str]]:
    """Each checkpoint with the licence of its weights, as its card states it; with `of_data` also that of its data."""
    found: dict[str, str] = {}
    for one in handed:
        if one.of:
            found.setdefault(one.of.subject.file.name, licence(one.of.subject.file.card or "", of_data=of_data))
    return list(found.items())


def licence(card: str, *, of_data: bool = True) -> str:
    """The lines of a model card about licences, as text."""
    rows = re.findall(r"^\| *(Licence[^|]*?) *\| *(.*?) *\|$", card, re.MULTILINE)
    weights = [text for name, text in rows if name != "Licence of the data"]
    data = [_("Data: {licence}", licence=text) for name, text in rows if name == "Licence of the data" and of_data]
    found = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", ". ".join([*weights, *data]))
    return found or _("Its card does not name a licence.")


def exact_head(scene: Scene, head: Head) -> dict[str, Any]:
    """All numbers of one head, see `exact_numbers`."""
    site = SITES[head.kind].format(head.layer)
    found = dict(scene.record(*(f"{site}.{name}" for name in EXACT)))
    # The weights of the canvas and of the table, because a pass that records other sites rounds differently
    found[f"{site}.weights"] = scene.attention(head.kind).weights[head.layer]
    return exact_numbers(found, head)


def _handed(scene: LessonScene, seen: Seen | None) -> Handed:
    page = info(scene.page)
    question = _(page.question)
    if seen is None:
        return Handed(HandedScene(scene.title, scene.text, question, (), "", (), None), None)
    shown = seen.scene
    about: list[tuple[str, str]] = []
    if shown and page.needs_scene:
        subject, target = shown.subject, shown.task.target
        about = [
            (shown.task.source, shown.translation.source),
            (_("{language}, given", language=target) if shown.given_steps else target, shown.hypothesis.text),
            (_("Model"), _("{name}, changed", name=subject.file.name) if subject.edits else subject.file.name),
        ]
    head = _canvas_head(seen)
    drawn = tuple(_alone(each) for each in seen.drawn if each.name not in LEFT_OUT)
    tables: list[tuple[str, Table]] = [each[1:] for each in seen.tables]
    alt, exact = f"{question} {seen.text_below}".strip(), None
    if shown and head:
        weights = shown.attention(head.kind).weights[head.layer, head.head]
        name = head_name(head.kind, head.layer, head.head)
        alt, exact = matrix_alt(weights, *shown.axes(head.kind), name), exact_head(shown, head)
        tables = [(name, matrix_table(weights, *shown.axes(head.kind)))]
    picture = Picture(drawn, exact, alt) if drawn else None
    return Handed(HandedScene(scene.title, scene.text, question, about, seen.text_below, tables, picture), shown)


def _canvas_head(seen: Seen) -> Head | None:
    """The head that the canvas of a page shows; None: it has no canvas."""
    channels = [each.data["chosen"] for each in seen.drawn if each.name == "canvas_channel"]
    return Head(**channels[0]) if channels else None


def _alone(drawn: Drawn) -> Drawn:
    """The component as it works without a server."""
    return replace(drawn, data={**drawn.data, **ALONE}) if drawn.name == "canvas_channel" else drawn

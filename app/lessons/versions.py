"""A version of a lesson in another language has the same scenes: only its words differ.

app/lessons/masks.md is in English, app/lessons/de/masks.md is its version in German.
"""

from collections.abc import Iterator
from pathlib import Path

from app.languages import LANGUAGES
from app.languages.catalogues import ENGLISH
from app.lessons.lesson_file import Lesson

OTHERS = tuple(each for each in LANGUAGES if each != ENGLISH)


def versions(path: Path) -> list[Path]:
    """The files with the versions of an English lesson in other languages."""
    return [found for spoken in OTHERS if (found := path.parent / spoken / path.name).is_file()]


def english(path: Path) -> Path | None:
    """The English file of which `path` is a version; None if it is not a version, or if there is no English file."""
    found = path.parent.parent / path.name
    return found if path.parent.name in OTHERS and found.is_file() else None


def differences(lesson: Lesson, version: Lesson, spoken: str) -> Iterator[str]:
    """What is not the same in a lesson and in its version in another language."""
    if version.language != spoken:
        yield f"Its language is {version.language}, and the folder that it is in is {spoken}."
    if len(lesson.scenes) != len(version.scenes):
        yield f"It has {len(version.scenes)} scenes; in English there are {len(lesson.scenes)}."
    for number, (scene, other) in enumerate(zip(lesson.scenes, version.scenes, strict=False), 1):
        for name in ("page", "link", "question", "minutes"):
            wanted, found = getattr(scene, name), getattr(other, name)
            if wanted != found:
                yield f"Scene {number}, line {other.line}: its {name} is {found}; in English it is {wanted}."

"""The lessons that can be opened: those that ship, those in the folder HEADLIGHT_LESSONS, and uploaded ones.

Each folder may have a sub-folder for a language. For example, de/masks.md is the German version of masks.md, which
German visitors see in its place.

A file with mistakes is listed with them. An uploaded file is kept in memory under a name that is computed from its
bytes: nobody finds it without the file or its link, and a reload of the page finds it again.
"""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Literal

from app.languages import Language, _, language, speaking
from app.languages.catalogues import ENGLISH
from app.lessons.lesson_file import MOST_BYTES, Lesson, read_lesson
from app.lessons.lines import Mistake
from app.library.checkpoints import checkpoints, has_unicode_name

MOST_LESSONS = 50  # of the folder
MOST_UPLOADS = 20  # on this server at once; the oldest is forgotten first
SHIPPED = Path(__file__).resolve().parents[1] / "lessons"
README = "README"
_uploads: dict[str, bytes] = {}  # the newest last
_lock = Lock()

Origin = Literal["included", "your folder", "uploaded"]


@dataclass(frozen=True)
class ListedLesson:
    """The file of a lesson. `name` is its name in the address; `file` its path in its folder, such as "masks.md" or
    "de/masks.md"; `lesson` is None if a mistake prevents it."""

    name: str
    file: str
    origin: Origin
    content: bytes
    lesson: Lesson | None
    mistakes: tuple[Mistake, ...]

    @property
    def title(self) -> str:
        return self.lesson.title if self.lesson else self.file


def lessons() -> dict[str, ListedLesson]:
    """Lessons of the folder and those that ship, by name, in the visitor's language if there is such a version, the
    shortest first. A lesson of the folder replaces a shipped one of the same name. Those with mistakes come last."""
    spoken, known = language(), tuple(checkpoints())
    included = _in_folder(SHIPPED, "included", spoken, known)
    own = _in_folder(_own_folder(), "your folder", spoken, known)
    found = {each.name: each for each in (*included, *own)}
    in_order = sorted(found.values(), key=lambda each: (each.lesson is None, _minutes(each), each.title))
    return {each.name: each for each in in_order}


def lesson_named(name: str) -> ListedLesson | None:
    """The lesson of this name, also an uploaded one; None if there is none."""
    with _lock:
        content = _uploads.get(name)
    if content is None:
        return lessons().get(name)
    return _listed(name, f"{name}.md", "uploaded", content, tuple(checkpoints()))


def store_upload(content: bytes) -> ListedLesson:
    """Keeps an uploaded lesson until the server ends or newer ones take its place."""
    content = content[: MOST_BYTES + 1]  # of a larger file, read_lesson reports the size
    name = f"own-{hashlib.sha256(content).hexdigest()[:16]}"
    with _lock:
        _uploads.pop(name, None)
        _uploads[name] = content
        while len(_uploads) > MOST_UPLOADS:
            del _uploads[next(iter(_uploads))]
    return _listed(name, f"{name}.md", "uploaded", content, tuple(checkpoints()))


def _own_folder() -> Path | None:
    named = os.environ.get("HEADLIGHT_LESSONS")
    return Path(named) if named else None


def lesson_files(folder: Path, spoken: Language = ENGLISH) -> list[Path]:
    """The files of lessons in a folder, or the versions that it has in a language."""
    place = folder if spoken == ENGLISH else folder / spoken
    paths = sorted(path for path in place.glob("*.md") if path.is_file() and path.stem != README)
    return [path for path in paths if has_unicode_name(path)][:MOST_LESSONS]


def _in_folder(folder: Path | None, origin: Origin, spoken: Language, known: tuple[str, ...]) -> Iterator[ListedLesson]:
    """The lessons in English, then those in the other language `spoken`. `known`: the names of all checkpoints."""
    if folder is None:
        return
    if not folder.is_dir():
        problem = _("HEADLIGHT_LESSONS names a folder that does not exist.")
        mistake = Mistake(1, problem, _("Correct the path and start Headlight again."))
        yield ListedLesson(folder.name, folder.name, origin, b"", None, (mistake,))
        return
    try:
        paths = [path for each in dict.fromkeys((ENGLISH, spoken)) for path in lesson_files(folder, each)]
    except OSError:
        return
    for path in paths:
        file = path.relative_to(folder).as_posix()
        try:
            with path.open("rb") as opened:
                content = opened.read(MOST_BYTES + 1)
        except OSError as error:
            mistake = Mistake(1, f"{error.strerror}.", _("Check the file."))
            yield ListedLesson(path.stem, file, origin, b"", None, (mistake,))
        else:
            yield _listed(path.stem, file, origin, content, known)


def _listed(name: str, file: str, origin: Origin, content: bytes, known: tuple[str, ...]) -> ListedLesson:
    given = name, file, origin, content, known, language()
    found = _read(*given)
    # A note says that a checkpoint is missing. It may be that of a run, which is not among `checkpoints()`.
    return found if all(mistake.stops for mistake in found.mistakes) else _read.__wrapped__(*given)


@lru_cache(maxsize=128)
def _read(
    name: str, file: str, origin: Origin, content: bytes, known: tuple[str, ...], spoken: Language
) -> ListedLesson:
    """`spoken`: the language in which mistakes are reported."""
    with speaking(spoken):
        found = read_lesson(content, known)
    return ListedLesson(name, file, origin, content, found.lesson, found.mistakes)


def _minutes(listed: ListedLesson) -> float:
    return listed.lesson.minutes if listed.lesson else 0.0

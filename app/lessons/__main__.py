"""`python -m app.lessons check FILE ...` prints all mistakes of lesson files.

The exit code is 1 if a file cannot be opened as a lesson, or if a version in another language, such as de/FILE, differs
from the file in English. A note, for example on a missing checkpoint, does not change it. Without a file, all lessons
that are included are checked.
"""

import argparse
import sys
from pathlib import Path

from app.lessons.lesson_file import MOST_BYTES, Lesson, read_lesson
from app.lessons.versions import differences, english, versions
from app.library.checkpoints import checkpoints
from app.library.lessons import SHIPPED, lesson_files


def main(arguments: list[str] | None = None) -> int:
    """Prints what is wrong. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m app.lessons", description="Checks lesson files.")
    check = parser.add_subparsers(required=True).add_parser("check", help="print all mistakes of lesson files")
    check.add_argument("files", nargs="*", type=Path, metavar="FILE", help="all that are included if none is named")
    given = parser.parse_args(arguments).files or lesson_files(SHIPPED)
    files = dict.fromkeys(file for path in given for file in (path, *versions(path)))
    return max(_check(path) for path in files)


def _check(path: Path) -> int:
    try:
        lesson, mistakes = _read(path)
    except OSError as error:
        print(f"{path}: {error.strerror}")
        return 1
    original = english(path)
    compared = _read(original)[0] if original else None
    wrong = list(differences(compared, lesson, path.parent.name)) if compared and lesson else []
    for mistake in (*mistakes, *wrong):
        print(f"{path}: {mistake}")
    if lesson is None:
        return 1
    print(f"{path}: {len(lesson.scenes)} scenes, {lesson.minutes:g} minutes")
    return 1 if wrong else 0


def _read(path: Path) -> tuple[Lesson | None, list[str]]:
    """A lesson, and all that is wrong with its file. Raises OSError."""
    with path.open("rb") as file:
        found = read_lesson(file.read(MOST_BYTES + 1), checkpoints())
    return found.lesson, list(map(str, found.mistakes))


if __name__ == "__main__":
    sys.exit(main())

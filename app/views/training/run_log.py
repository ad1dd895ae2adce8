"""The log of a run that was started in the browser: what its trainer does now, and why it ended.

A log begins each command with a line of its own (`command_of`), so that only what the newest one has written is read.
"""

import os
import re
from pathlib import Path

from app.languages import _

LOG = "log.txt"
RECIPE = "started.toml"  # what the visitor asked for; the trainer adds what it chose, and writes recipe.toml
LOG_TAIL = 20_000  # bytes of the end of a log

# Where the message begins with which a trainer ends. The log also has sentences of the text, in indented lines.
LAST_WORDS = re.compile(r"^(?:Error: |(?=Stopped by ))", re.MULTILINE)


def command_of(folder: Path) -> str:
    """The line of the log with which a command begins, without `--resume` and the like."""
    return f"$ python -m transformer train {folder / RECIPE} --run-dir {folder}"


def last_words(folder: Path) -> str:
    """The message of a trainer that ended with an error or was stopped; "" if there is none. Paths are left out."""
    text = _end_of_log(folder)
    if re.search(r"^Traceback \(most recent call last\)", text, re.MULTILINE):
        return ended_unexpectedly()
    found = LAST_WORDS.search(text)
    return _without_paths(text[found.end() :].strip(), folder)[:2000] if found else ""


def ended_unexpectedly() -> str:
    """What is said of a trainer that ended without a message for the visitor."""
    return _("The training ended unexpectedly. Its output is in {file} in its folder.", file=LOG)


def newest_words(folder: Path) -> str:
    """The newest line of a running trainer, which says what it does before its first update; "" if there is none. A
    list, for example of skipped lines, is left out together with the line above it."""
    log = LAST_WORDS.split(_end_of_log(folder))[0]
    lines = [line for line in log.splitlines() if line.strip() and not line.startswith(" ") and line[-1] != ":"]
    return _without_paths(lines[-1], folder)[:300] if lines else ""


def _end_of_log(folder: Path) -> str:
    """The end of the log, from the newest command on."""
    try:
        with (folder / LOG).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - LOG_TAIL))
            text = file.read(LOG_TAIL).decode(errors="replace")
    except OSError:
        return ""
    _unused, command, output = text.rpartition(command_of(folder))
    return output.partition("\n")[2] if command else output


def _without_paths(text: str, folder: Path) -> str:
    return text.replace(f"{folder}{os.sep}", "").replace(str(folder), folder.name)

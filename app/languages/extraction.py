"""Finds the texts in the code, and brings the catalogues up to date with them.

Babel reads the marks of app/languages/__init__.py in Python and in JavaScript. The texts of the stations of the page
Step by step are in a table without marks. Each part of the app has its own catalogue, so that its translator sees what
belongs together.
"""

import io
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.pofile import write_po

from app.languages.catalogues import HERE, PLURAL_FORMS, Language, empty, read

APP = HERE.parent
KEYWORDS = {"_": None, "ngettext": (1, 2), "pgettext": ((1, "c"), 2), "gettext_noop": None}
METHODS = {".py": "python", ".js": "javascript"}
STATIONS = APP / "views" / "steps" / "stations.toml"
TEXTS_OF_A_STATION = ("title", "section", "text", "training")
LARGE_FOLDERS = ("views", "components")  # each folder inside has a catalogue of its own
WIDTH = 120
HEADER = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: {plural_forms}\\n"

"""


def part_of(path: Path) -> str:
    """The name of the catalogue for a file; `path` is relative to the folder `app`."""
    parts = path.parent.parts
    return ".".join(parts[: 2 if parts and parts[0] in LARGE_FOLDERS else 1]) or "app"


def found_in(path: Path) -> Iterator[tuple[int, str | tuple[str, ...], str | None]]:
    """The texts of a file: (line, text or its singular and plural, context)."""
    if path == STATIONS:
        yield from ((1, text, None) for text in _station_texts())
        return
    for line, text, _comments, context in extract_from_file(METHODS[path.suffix], path, keywords=KEYWORDS):
        yield line, text, context


def _station_texts() -> Iterator[str]:
    """The texts of the stations, except those that consist of one $word."""
    for stations in tomllib.loads(STATIONS.read_text(encoding="utf-8")).values():
        for station in stations.values():
            found = [station[key] for key in TEXTS_OF_A_STATION if key in station]
            yield from (text for text in found if not re.fullmatch(r"\$\w+", text))


def extract() -> dict[str, Catalog]:
    """The texts in the code, by catalogue."""
    made: dict[str, Catalog] = defaultdict(Catalog)
    marked = (each for each in APP.rglob("*") if each.suffix in METHODS and "static" not in each.parts)
    for path in sorted([*marked, STATIONS]):
        name = path.relative_to(APP)
        for _line, text, context in found_in(path):
            made[part_of(name)].add(text, locations=[(f"app/{name.as_posix()}", 0)], context=context)
    return made


def update(language: Language) -> None:
    """Writes new texts into the catalogues of a language, without a translation, and takes out those that are gone."""
    wanted = extract()
    folder = HERE / language
    for path in folder.glob("*.po"):
        if path.stem not in wanted:
            path.unlink()
    for part, template in wanted.items():
        path = folder / f"{part}.po"
        path.parent.mkdir(exist_ok=True)
        before = read(path, language) if path.exists() else Catalog()
        made = empty(language)
        for message in template:
            if message.id:
                old = before.get(message.id, message.context)
                made.add(
                    message.id,
                    old.string if old else "",
                    locations=message.locations,
                    context=message.context,
                )
        path.write_bytes(header(language) + _body(made))


def header(language: Language) -> bytes:
    """The beginning of each catalogue, with the rule of plurals of the language."""
    return HEADER.format(plural_forms=PLURAL_FORMS[language]).encode()


def _body(catalogue: Catalog) -> bytes:
    """The texts of a catalogue as a .po file has them, sorted by the file of the code."""
    written = io.BytesIO()
    write_po(written, catalogue, width=WIDTH, omit_header=True, include_lineno=False, sort_by_file=True)
    return written.getvalue()


def messages(catalogue: Catalog) -> list[Message]:
    """The texts of a catalogue, without its header."""
    return [message for message in catalogue if message.id]

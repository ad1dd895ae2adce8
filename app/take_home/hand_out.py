"""Scenes -> one HTML file that works from a disk, without a network: interactive pictures, tables, texts.

The file depends only on the given values and on the language of the interface. What a visitor typed is written as text.
The file states a Content-Security-Policy that allows the scripts that this module put there, by their hashes, and no
connection to anywhere.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from pathlib import Path

import numpy as np
from babel.dates import format_date

from app.figures.tables import Table
from app.languages import _, language, pgettext
from app.languages.numbers import localised
from app.take_home.html_table import html_table
from app.take_home.packed_pictures import Picture, packed

HERE = Path(__file__).parent
MOST_CELLS = 1600  # of a table; a larger one is in the app


@dataclass(frozen=True)
class HandedScene:
    """A scene as the class gets it.

    Attributes:
        title, text: of the lesson; text may be empty.
        question: of the page.
        about: name and text: sentence, translation, model.
        text_below: the sentences below the picture.
        tables: the numbers of the picture, by name.
        picture: None: the page has none that works without the app.
    """

    title: str
    text: str
    question: str
    about: Sequence[tuple[str, str]]
    text_below: str
    tables: Sequence[tuple[str, Table]]
    picture: Picture | None


@dataclass(frozen=True)
class HandOut:
    """A title page, and the scenes.

    Attributes:
        about: what it is, in words.
        language: of the texts of the lesson; "": that of the interface, in which all other texts are.
        sources: for each checkpoint its name and the licence of its weights.
    """

    title: str
    about: str
    made: date
    sources: Sequence[tuple[str, str]]
    scenes: Sequence[HandedScene]
    language: str = ""


def hand_out(given: HandOut) -> str:
    """The whole file."""
    pictures = [scene.picture for scene in given.scenes if scene.picture]
    values = packed(pictures)
    script = (HERE / "hand_out.js").read_text(encoding="utf-8")
    data = base64.b64encode(zlib.compress(json.dumps(values, separators=(",", ":")).encode(), 9)).decode()
    numbers = iter(range(len(pictures)))
    scenes = "\n".join(
        _scene(number, scene, next(numbers) if scene.picture else None, _lang(given.language))
        for number, scene in enumerate(given.scenes, start=1)
    )
    return page(
        given.title,
        f"{_title_page(given)}\n<main>\n{scenes}\n</main>\n"
        f'<script type="text/plain" id="packed">{data}</script>\n<script>{script}</script>',
        (HERE / "hand_out.css").read_text(encoding="utf-8"),
        [script, *values["scripts"].values(), values["frame"]["script"]],
    )


def page(title: str, body: str, style: str, scripts: Iterable[str]) -> str:
    """A page in the language of the interface, which loads nothing and runs only these scripts."""
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{each}'" for each in hashes) or "'none'"
    policy = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
    return (
        f'<!doctype html>\n<html lang="{language()}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def date_text(day: date) -> str:
    """The day as the language of the interface writes it: "27 November 2026"."""
    return format_date(day, pgettext("format of a date, see Babel", "dd MMMM y"), locale=language())


def table_html(columns: Table) -> str:
    """A table with all digits of its numbers."""
    return f'<div class="scrolls" tabindex="0">{html_table(columns, cell_text)}</div>'


def cell_text(value: object) -> str:
    """The shortest text from which the same number is read back; for a float32 it has only the digits that distinguish
    float32 numbers. Its signs are those of the language."""
    if isinstance(value, np.floating | float):
        found = value if isinstance(value, np.floating) else np.float64(value)
        return localised(
            np.format_float_positional(found, trim="-") if 1e-6 <= abs(found) < 1e9 or not found else str(found)
        )
    return "" if value is None else str(value)


def _title_page(given: HandOut) -> str:
    listed = "".join(
        f'<li><a href="#scene-{number}">{escape(scene.title)}</a></li>'
        for number, scene in enumerate(given.scenes, start=1)
    )
    named = [(_("Made"), _("{date}, with Headlight", date=date_text(given.made)))]
    named += [(_("Model {name}", name=name), licence) for name, licence in given.sources]
    described = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in named)
    dark, light, contents, lang = escape(_("Dark")), escape(_("Light")), escape(_("Scenes")), _lang(given.language)
    hint = _(
        "All numbers are those of the model. The pictures react to pointing and clicking. This file works without a "
        "network; other sentences, and what has to be computed again, need the app."
    )
    return (
        f'<button id="scheme" type="button" data-dark="{dark}" data-light="{light}" hidden>{dark}</button>\n'
        f'<header>\n<h1{lang}>{escape(given.title)}</h1>\n<p class="lead"{lang}>{escape(given.about)}</p>\n'
        f"<dl>{described}</dl>\n"
        f'<p class="hint">{escape(hint)}</p>\n'
        f'<nav aria-label="{contents}"><ol{lang}>{listed}</ol></nav>\n</header>'
    )


def _lang(given: str) -> str:
    """The attribute for texts in another language than that of the page."""
    return f' lang="{escape(given)}"' if given not in ("", language()) else ""


def _scene(number: int, scene: HandedScene, picture: int | None, lang: str) -> str:
    """`lang`: the attribute for the texts of the lesson."""
    about = "".join(
        f"<span><i>{escape(name)}</i>{escape(text)}</span>"
        for name, text in ((_("Page"), scene.question), *scene.about)
    )
    without = _("This page has no picture that works without the app.")
    shown = f'<p class="hint">{escape(without)}</p>'
    if scene.picture and picture is not None:
        alt = escape(scene.picture.alt)
        shown = f'<figure data-picture="{picture}" aria-label="{alt}"><p class="instead">{alt}</p></figure>'
    tables = "".join(_numbers(name, columns) for name, columns in scene.tables)
    return (
        f'<section id="scene-{number}">\n<h2{lang}><span class="number">{number}</span>{escape(scene.title)}</h2>\n'
        + (f'<p class="lead"{lang}>{escape(scene.text)}</p>\n' if scene.text else "")
        + f'<p class="about">{about}</p>\n{shown}\n'
        + (f"<p>{escape(scene.text_below)}</p>\n" if scene.text_below else "")
        + f"{tables}</section>"
    )


def _numbers(name: str, columns: Table) -> str:
    rows = max((len(column) for column in columns.values()), default=0)
    if not 0 < rows * len(columns) <= MOST_CELLS:
        return ""
    summary = _("Numbers: {name}", name=name)
    return f"<details><summary>{escape(summary)}</summary>{table_html(columns)}</details>\n"

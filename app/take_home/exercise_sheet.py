"""Exercises as pages to print: tasks first, with room to write, and the answers on pages of their own."""

import html
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from app.figures.tables import Table
from app.languages import _, with_label
from app.take_home.exercises import Exercise
from app.take_home.hand_out import date_text, page

STYLE = Path(__file__).with_name("exercise_sheet.css")


def exercise_sheet(title: str, made: date, sources: Sequence[tuple[str, str]], found: Sequence[Exercise]) -> str:
    """The whole file: one HTML page without scripts. `sources`: each model with the licence of its weights."""
    tasks = "".join(_task(number, each) for number, each in enumerate(found, start=1))
    answers = "".join(_answer(number, each) for number, each in enumerate(found, start=1))
    models = "; ".join(with_label(name, licence) for name, licence in sources)
    heading, of_answers = _("{title}: exercises", title=title), _("{title}: answers", title=title)
    about = _(
        "{date}. All numbers are from the tensors of the model. Weights: {models}",
        date=date_text(made),
        models=models,
    )
    body = (
        f"<h1>{_text(heading)}</h1>\n"
        f'<p class="small">{_text(about)}</p>\n'
        f"<main>{tasks}</main>\n"
        f'<main class="answers"><h1>{_text(of_answers)}</h1>{answers}</main>'
    )
    return page(heading, body, STYLE.read_text(encoding="utf-8"), [])


def _task(number: int, given: Exercise) -> str:
    return (
        f"<section><h2>{number}. {_text(given.title)}</h2><p>{_text(given.task)}</p>{_table(given.given)}"
        '<div class="room" aria-hidden="true"></div></section>\n'
    )


def _answer(number: int, given: Exercise) -> str:
    heading = f"{number}. {_text(given.title)}"
    return f"<section><h2>{heading}</h2>{_table(given.solution)}<p>{_text(given.answer)}</p></section>\n"


def _table(columns: Table) -> str:
    if not columns:
        return ""
    names = "".join(f'<th scope="col">{_text(name)}</th>' for name in columns)
    rows = zip(*columns.values(), strict=True)
    cells = "".join("<tr>" + "".join(f"<td>{_text(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{names}</tr></thead><tbody>{cells}</tbody></table>"


def _text(text: str) -> str:
    return html.escape(text)

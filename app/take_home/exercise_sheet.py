"""Exercises as pages to print: tasks first, with room to write, and the answers on pages of their own."""

from collections.abc import Sequence
from datetime import date
from html import escape
from pathlib import Path

from app.languages import _, with_label
from app.take_home.exercises import Exercise
from app.take_home.hand_out import date_text, page
from app.take_home.html_table import html_table

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
        f"<h1>{escape(heading)}</h1>\n"
        f'<p class="small">{escape(about)}</p>\n'
        f"<main>{tasks}</main>\n"
        f'<main class="answers"><h1>{escape(of_answers)}</h1>{answers}</main>'
    )
    return page(heading, body, STYLE.read_text(encoding="utf-8"), [])


def _task(number: int, given: Exercise) -> str:
    return (
        f"<section><h2>{number}. {escape(given.title)}</h2><p>{escape(given.task)}</p>{html_table(given.given)}"
        '<div class="room" aria-hidden="true"></div></section>\n'
    )


def _answer(number: int, given: Exercise) -> str:
    heading = f"{number}. {escape(given.title)}"
    return f"<section><h2>{heading}</h2>{html_table(given.solution)}<p>{escape(given.answer)}</p></section>\n"

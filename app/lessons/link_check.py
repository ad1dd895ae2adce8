"""Checks what a lesson file says about a state of the app: `show: PAGE?key=value&key=value` and `question: KIND`.

The keys and their values are those of the address, so they are read by the table of choices in `app.state.choices`.
"""

from urllib.parse import parse_qsl

from app.languages import _
from app.lessons.lines import did_you_mean
from app.pages import PAGES, info
from app.state.address_texts import expected, from_one
from app.state.choice import Choice
from app.state.choices import CHECKPOINT, CHOICES, FIGURE, HEAD, KIND, LAYER, SENTENCE

PRIVATE_LINES = (CHECKPOINT, SENTENCE)  # each has a line of its own in a scene
QUESTIONS = {  # the keys that each kind of question uses
    "most-attended": (KIND.key, LAYER.key, HEAD.key, "row"),
    "shape": (),
    "masked-cells": (KIND.key, LAYER.key, HEAD.key),
    "next-word": ("row",),
    "above-half": (KIND.key, LAYER.key, HEAD.key, "row", "column"),
    "head-off": (KIND.key, LAYER.key),
}
_PLACES = {KIND.key: KIND.read, LAYER.key: from_one, HEAD.key: from_one, "row": from_one, "column": from_one}

Problem = tuple[str, str]  # what is wrong, what to write instead


def check_link(link: str) -> tuple[str, dict[str, str], list[Problem]]:
    """(page, texts by key, what is wrong) of a link such as "attention?layer=4&head=6"."""
    page, _mark, query = link.partition("?")
    names = [page.name for page in PAGES]
    problems: list[Problem] = []
    if "/" in page:
        rest = (page.rpartition("/")[2] or "translate") + (f"?{query}" if query else "")
        instead = _("Write only the page and its choices: {choices}.", choices=rest)
        problems.append((_("This is a whole address."), instead))
        return "", {}, problems
    if page not in names:
        problem = _("There is no page “{page}”.", page=page)
        problems.append((problem, did_you_mean(page, names, _("The pages are"))))
    texts, wrong = _pairs(query)
    problems += wrong
    choices = {choice.key: choice for choice in CHOICES if choice.written != "session"}
    for key, text in texts.items():
        problems += _check_choice(choices, key, text, page if page in names else None)
    return page, texts, problems


def check_question(question: str) -> list[Problem]:
    """What is wrong with a question such as "most-attended?layer=4&head=4&row=3"."""
    kind, _mark, query = question.partition("?")
    problems: list[Problem] = []
    if kind not in QUESTIONS:
        problem = _("There is no kind of question “{kind}”.", kind=kind)
        problems.append((problem, did_you_mean(kind, QUESTIONS, _("The kinds are"))))
    texts, wrong = _pairs(query)
    keys = QUESTIONS.get(kind, tuple(_PLACES))
    for key, text in texts.items():
        if key not in keys:
            problem = _("“{key}” is not a key of the question {kind}.", key=key, kind=kind)
            wrong.append((problem, did_you_mean(key, keys, _("The keys are")) if keys else _("Remove it.")))
        else:
            wrong += _check_value(key, text, _PLACES[key])
    return problems + wrong


def _pairs(query: str) -> tuple[dict[str, str], list[Problem]]:
    problems: list[Problem] = []
    texts: dict[str, str] = {}
    for part in query.split("&") if query else []:
        found = parse_qsl(part, keep_blank_values=True)
        if "=" not in part or not found:
            problem = _("“{part}” is not a key with a value.", part=part)
            problems.append((problem, _("Write key=value, with & between two of them.")))
            continue
        ((key, text),) = found
        if key in texts:
            problems.append((_("“{key}” is there twice.", key=key), _("Remove one of the two.")))
        texts[key] = text
    return texts, problems


def _check_choice(choices: dict[str, Choice], key: str, text: str, page: str | None) -> list[Problem]:
    if key not in choices:
        usable = [each.key for each in choices.values() if each.page in (None, page) and each not in PRIVATE_LINES]
        instead = did_you_mean(key, usable, _("Copy a link in the menu of the app"))
        return [(_("“{key}” is not a key of a link.", key=key), instead)]
    choice = choices[key]
    if choice in PRIVATE_LINES:
        instead = _("Write a line {key}: {text}", key=key, text=text or "…")
        return [(_("“{key}” is not part of show.", key=key), instead)]
    if page and choice.page not in (None, page):
        problem = _("“{key}” belongs to the page {owner}, not to {page}.", key=key, owner=choice.page, page=page)
        return [(problem, _("Remove it, or show that page."))]
    if page and choice is FIGURE and text not in (figures := info(page).figures):
        problem = _("The page {page} has no figure “{figure}” for a lecture.", page=page, figure=text)
        return [(problem, did_you_mean(text, figures, _("It has")) if figures else _("Remove it."))]
    return _check_value(key, text, choice.read)


def _check_value(key: str, text: str, read: object) -> list[Problem]:
    assert callable(read)
    wanted = expected(read)
    try:
        value = read(text)
    except (ValueError, KeyError, IndexError):
        instead = _("Write {wanted}.", wanted=wanted) if wanted else _("Copy a link from the app.")
        return [(_("“{text}” is not a value of {key}.", text=text, key=key), instead)]
    if isinstance(value, str) and value != text:
        problem = _("The text of {key} has {count} characters.", key=key, count=len(text))
        return [(problem, _("Write at most {most}.", most=len(value)))]
    return []

"""Runs commands of `python -m transformer` in the process of a test."""

from typing import Any

from typer.testing import CliRunner

from transformer.cli import app


def run(*arguments: object, input: str | bytes | None = None) -> Any:
    """The result of a command, with these lines on its standard input."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=input)


def one_line(text: str) -> str:
    """The text without its line breaks."""
    return " ".join(text.split("\n"))

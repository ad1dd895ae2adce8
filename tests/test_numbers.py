"""Numbers are written as the language writes them, from one module in Python and one in JavaScript."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app.components.bundles import bundle
from app.figures.shares import probability_text, weight_text
from app.figures.theme import fixed, number
from app.languages import _, catalogues, ngettext, speaking
from app.languages.numbers import formatted, in_latex, localised, signs
from tests.support.english_numbers import english_numbers

APP = Path(__file__).parents[1] / "app"
NO_BREAK_SPACE, NARROW_SPACE = "\u00a0", "\u202f"


def test_english_numbers_are_those_of_python() -> None:
    assert signs("en") == {}
    assert localised("12,345.6%") == "12,345.6%"
    assert formatted(0.983, ".1%") == "98.3%"
    assert in_latex("76,213.5") == "76{,}213.5"
    assert _("loss {loss:.3f}, {share:.0%}", loss=0.5, share=0.25) == "loss 0.500, 25%"


def test_german_numbers_have_a_comma_and_a_space_before_the_per_cent_sign() -> None:
    with speaking("de"):
        assert localised("12,345.6") == "12.345,6"
        assert formatted(0.983, ".1%") == f"98,3{NO_BREAK_SPACE}%"
        assert in_latex("76,213.5") == "76.213{,}5"
        assert [fixed(-0.421, 2), number(2.2e6), weight_text(0.07)] == ["−0,42", "2,20×10⁶", ",07"]
        assert probability_text(0.0001) == f"<0,1{NO_BREAK_SPACE}%"


def test_french_numbers_have_a_comma_and_narrow_spaces() -> None:
    with speaking("fr"):
        assert localised("12,345.6") == f"12{NARROW_SPACE}345,6"
        assert formatted(0.983, ".1%") == f"98,3{NO_BREAK_SPACE}%"
        assert in_latex("76,213.5") == r"76\,213{,}5"


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), np.float64(0.5)])
def test_the_numbers_in_a_text_are_written_in_its_language(value: float) -> None:
    with speaking("de"):
        assert _("{value:.2f} {value} {value:.0%} {name}", value=value, name="0.5") == (
            f"0,50 0,5 50{NO_BREAK_SPACE}% 0.5"
        )
        assert ngettext("{count:,} of them", "{count:,} of them", 12345) == "12.345 of them"


def test_the_scripts_of_components_have_the_same_signs() -> None:
    for name in sorted(path.parent.name for path in APP.glob("components/*/*.js") if path.stem == path.parent.name):
        declared = re.findall(r"const SIGNS = (.*?);", bundle(name, "de"))
        assert [json.loads(each) for each in declared] in ([], [signs("de")])
        assert "const SIGNS = {};" in bundle(name) or not declared


# Numbers that no reader sees: names of files and columns, code, colours, lines of a drawing
FORMATS_OF_PROGRAMS = {"axes.py", "numbers.py", "make_first_picture.py", "__main__.py", "station.py"}
WRITTEN_LATER = {"mantissa_exponent", "_text", "_percent", "_decimal"}  # functions that make a number of parts
WRITTEN = {"_", "ngettext", "pgettext", "localised", "formatted", "in_latex"}


def test_no_number_is_formatted_past_the_module() -> None:
    found = [
        f"{path.relative_to(APP)}:{line} {text}"
        for path in sorted(APP.rglob("*.py"))
        if path.name not in FORMATS_OF_PROGRAMS
        for line, text in _formatted_past(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


def _formatted_past(tree: ast.AST, inside: bool = False) -> Iterator[tuple[int, str]]:
    """Values of f-strings with a format of numbers that are not in a call of one of WRITTEN."""
    for node in ast.iter_child_nodes(tree):
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WRITTEN
        is_call |= isinstance(node, ast.FunctionDef) and node.name in WRITTEN_LATER
        if isinstance(node, ast.FormattedValue) and node.format_spec and not inside and not is_call:
            form = ast.unparse(node.format_spec)
            if re.search(r"[,.%]|[efg]'$", form):
                yield node.lineno, ast.unparse(node)
        yield from _formatted_past(node, inside or is_call)


DRAWN = re.compile(
    r"style|stroke-|return `M|width: \(|localised\(|end = Number\("
)  # numbers of a drawing, or of a number


def test_no_component_formats_a_number_past_the_module() -> None:
    found = [
        f"{path.relative_to(APP)}: {line.strip()[:120]}"
        for path in sorted(APP.glob("components/**/*.js"))
        if path != APP / "components" / "shared" / "numbers.js"
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"toFixed|toPrecision|toLocaleString|toExponential|NumberFormat", line) and not DRAWN.search(line)
    ]
    assert found == []


TYPED = ("a number, such as", "layer and head, such as", "layers and heads, such as", "Write a number above 0")


@pytest.mark.parametrize("given", [each for each in catalogues.LANGUAGES if each != "en"])
def test_no_translation_has_an_english_number(given: catalogues.Language) -> None:
    found = [
        text
        for message in catalogues.whole(given)
        if message.id and not any(str(message.id).startswith(each) for each in TYPED)
        for text in (message.string if isinstance(message.string, tuple) else (message.string,))
        if english_numbers(re.sub(r"\{\w*:[^}]*\}", "0", str(text)))
    ]
    assert found == []

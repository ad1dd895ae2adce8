"""The findings of the doctor are written in the language of the visitor."""

import ast
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

import transformer.analysis.doctor as doctor
from app.languages import speaking
from app.stage.finding_texts import FORMS, form_of, in_words

SENTENCES = 3  # of a finding, after its name
# What a name in a sentence stands for, where it is more than a value
STANDS_FOR = {
    "rest": ("", " The same is true of 1.2 and 1.3."),
    "entropy": (
        "All 8 heads of encoder-decoder attention attend almost evenly to the whole source: the entropy of their rows",
        "The only head of encoder-decoder attention attends almost evenly to the whole source: the entropy of its rows",
    ),
    "side": ("source", "translation"),
    "trained": ("Trained on sentences of up to 7 tokens", "Of 1,000 training sentences 999 had at most 7 tokens"),
    "instead": ("<unk> instead, the same token for each", "1 byte instead", "2 bytes instead"),
    "untouched": ("", ", of which 2 hardly occurred in training"),
    "worst": ("1.2", "encoder layer 3", "decoder layer 3"),
    "what": (
        "The vocabulary has none of the letters of this sentence",
        "The vocabulary lacks letters of this sentence",
    ),
    "KINDS[kind].lower()": ("encoder self-attention",),
    "'s' if len(hypothesis.ids) > 1 else ''": ("", "s"),
}


def written(node: ast.expr) -> Iterator[str]:
    """What an expression of the doctor may write."""
    if isinstance(node, ast.Constant):
        yield str(node.value)
    elif isinstance(node, ast.Name):
        yield from STANDS_FOR[node.id]
    elif isinstance(node, ast.JoinedStr):
        yield from map("".join, itertools.product(*(list(written(part)) for part in node.values)))
    elif isinstance(node, ast.FormattedValue):
        yield from STANDS_FOR.get(ast.unparse(node.value), ("7",))
    else:
        raise AssertionError(ast.unparse(node))


def sentences() -> list[str]:
    found = []
    for path in sorted(Path(doctor.__file__).parent.glob("*_findings.py")):
        calls = (each for each in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(each, ast.Call))
        for call in calls:
            if isinstance(call.func, ast.Name) and call.func.id == "Finding":
                found += [text for given in call.args[1 : 1 + SENTENCES] for text in written(given)]
    return found


def test_every_sentence_of_the_doctor_has_its_form() -> None:
    found = [text for text in sentences() if "units of 1.2" not in text]  # such units are of a layer, not of a head
    assert [text for text in found if form_of(text) is None] == []
    assert [in_words(text) for text in found] == found
    assert [form for form in FORMS if form not in map(form_of, found)] == []


@pytest.mark.parametrize(
    ("text", "german"),
    [
        ("Heads that attend almost only to </s>", "Köpfe, die fast nur </s> beachten"),
        ("Heads that attend almost only to </s> and <s>", "Köpfe, die fast nur </s> und <s> beachten"),
        (
            "With another source of the same length, the predictions change by only 0.4%.",
            "Mit einer anderen Quelle derselben Länge ändern sich die Vorhersagen nur um 0,4\u00a0%.",
        ),
        ("Another sentence.", "Another sentence."),
    ],
)
def test_a_sentence_is_written_with_its_values(text: str, german: str) -> None:
    assert in_words(text) == text
    with speaking("de"):
        assert in_words(text) == german

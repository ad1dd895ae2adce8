"""The languages of the interface: texts are found, translated, filled with values, and do not mix between visitors."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from app.components.bundles import bundle, marked_texts
from app.languages import (
    _,
    catalogue_check,
    catalogues,
    extraction,
    gettext_noop,
    language,
    ngettext,
    pgettext,
    speaking,
    with_label,
)
from app.languages.__main__ import main

APP = Path(__file__).parents[1] / "app"
SMALL = """
msgid ""
msgstr "Content-Type: text/plain; charset=utf-8\\nPlural-Forms: nplurals=2; plural=(n != 1);\\n"

msgid "Layer {layer}"
msgstr "Schicht {layer}"

msgid "{count} token"
msgid_plural "{count} tokens"
msgstr[0] "{count} Token"
msgstr[1] "{count} Tokens"

msgctxt "of a boat"
msgid "Row"
msgstr "Rudern"
"""


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of catalogues with one file, in place of those of the app."""
    (tmp_path / "de").mkdir()
    (tmp_path / "de" / "app.po").write_text(SMALL.lstrip(), encoding="utf-8")
    for module in (catalogues, catalogue_check, extraction):
        monkeypatch.setattr(module, "HERE", tmp_path)
    catalogues.translations.cache_clear()
    yield tmp_path / "de"
    catalogues.translations.cache_clear()


@pytest.mark.usefixtures("small")
def test_a_text_is_translated_and_gets_its_values() -> None:
    with speaking("de"):
        assert language() == "de"
        assert _("Layer {layer}", layer="{count}") == "Schicht {count}"
        counted = [ngettext("{count} token", "{count} tokens", count) for count in (0, 1, 2)]
        assert counted == ["0 Tokens", "1 Token", "2 Tokens"]
        assert (pgettext("of a boat", "Row"), _("Row"), _("100 % of {x}")) == ("Rudern", "Row", "100 % of {x}")
        assert (gettext_noop("Layer {layer}"), _("")) == ("Layer {layer}", "")
    assert (language(), _("Layer {layer}", layer=2)) == ("en", "Layer 2")


def test_in_french_the_singular_is_for_none_too(small: Path) -> None:
    (small.parent / "fr").mkdir()
    text = SMALL.replace("plural=(n != 1)", "plural=(n > 1)").replace('"{count} Token"', '"{count} jeton"')
    (small.parent / "fr" / "app.po").write_text(text.lstrip(), encoding="utf-8")
    with speaking("fr"):
        counted = [ngettext("{count} token", "{count} tokens", count) for count in (0, 1, 2, 1_000_000)]
    assert [each.partition(" ")[2] for each in counted] == ["jeton", "jeton", "Tokens", "Tokens"]
    assert 'const LANGUAGE = "fr";' in bundle("canvas", "fr")


def used_names(tree: ast.Module, function: str) -> list[ast.Call]:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == function]


def modules() -> list[tuple[str, ast.Module]]:
    """The modules of the app but for the languages themselves: (path, its tree)."""
    paths = (path for path in sorted(APP.rglob("*.py")) if path.parent.name != "languages")
    return [(path.relative_to(APP).as_posix(), ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def test_the_marks_are_used_as_babel_can_read_them() -> None:
    """Babel finds only whole strings."""
    wrong = []
    for path, tree in modules():
        for function, texts in {"_": 1, "ngettext": 2, "pgettext": 2, "gettext_noop": 1}.items():
            for call in used_names(tree, function):
                constant = all(isinstance(given, ast.Constant) for given in call.args[:texts])
                variable = function == "_" and not isinstance(call.args[0], ast.JoinedStr)
                if not (constant or variable) or len(call.args) != texts + (function == "ngettext"):
                    wrong.append(f"{path}, line {call.lineno}")
    assert not wrong


def test_no_module_uses_the_name_of_the_function_that_translates_for_something_else() -> None:
    """It would hide the function inside of that scope."""
    wrong = []
    for path, tree in modules():
        nodes = list(ast.walk(tree))
        if any(isinstance(node, ast.ImportFrom) and "_" in [name.name for name in node.names] for node in nodes):
            stored = (node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
            wrong += [f"{path}, line {node.lineno}" for node in stored if node.id == "_"]
            wrong += [f"{path}, line {node.lineno}" for node in nodes if isinstance(node, ast.arg) and node.arg == "_"]
    assert not wrong


def test_babel_finds_every_mark() -> None:
    """It does not see those inside of an f-string."""
    missed = []
    for path, tree in modules():
        marked = [call.args[0] for function in ("_", "ngettext", "gettext_noop") for call in used_names(tree, function)]
        marked += [call.args[1] for call in used_names(tree, "pgettext")]
        babel = {text if isinstance(text, str) else text[0] for _line, text, _ in extraction.found_in(APP / path)}
        constants = [str(each.value) for each in marked if isinstance(each, ast.Constant)]
        missed += [f"{path}: {text}" for text in constants if text not in babel]
    assert not missed


def components() -> list[str]:
    return sorted(path.stem for path in (APP / "components").glob("*/*.js") if path.stem == path.parent.name)


SCRIPTS = sorted(path for path in APP.rglob("*.js") if "static" not in path.parts)
HIDDEN = re.compile(r"\([^()]*\b_\b[^()]*\) =>|\b_ =>")  # a parameter that is named like the function


def test_no_parameter_of_a_script_that_is_translated_hides_the_function() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in SCRIPTS}
    assert not [name for name, text in texts.items() if re.search(r"(?<![\w.])_\(", text) and HIDDEN.search(text)]


def test_what_is_marked_in_a_script_is_what_babel_finds() -> None:
    named: dict[str, set[str]] = {name: set(marked_texts(bundle(name))) for name in components()}
    assert len(named) > 40
    for path in sorted((APP / "components").rglob("*.js")):
        found = set(marked_texts(path.read_text(encoding="utf-8")))
        if path.name != "language.js":
            babel = [text for _line, text, _context in extraction.found_in(path)]
            assert found == {one for text in babel for one in ([text] if isinstance(text, str) else text)}, path
            assert path.parent.name == "shared" or found <= named[path.parent.name]


def test_no_sentence_of_a_script_is_unmarked() -> None:
    literal = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`')
    sentence = re.compile(r"(^|\W)[A-Z][a-z]+ [a-z]+ [a-z]+")
    found = []
    for path in sorted((APP / "components").rglob("*.js")):
        script = path.read_text(encoding="utf-8")
        marked = set(marked_texts(script))
        code = re.sub(r"(^|\s)//.*$", "", script, flags=re.MULTILINE)
        for plain, template in literal.findall(code):
            if sentence.search(plain or template) and plain not in marked:
                found.append(f"{path.name}: {plain or template}")
    assert not found


def test_a_label_and_its_text_have_a_space_before_the_colon_in_french() -> None:
    with speaking("fr"):
        assert with_label("dk", 0.5) == "dk\u00a0: 0,5"
    assert with_label("dk", 0.5) == "dk: 0.5"


def test_no_label_is_put_together_without_the_colon_of_the_language() -> None:
    in_script = re.compile(r"`[^`]*\$\{[^`]*\}: \$\{")
    found = [
        f"{path.name}: {line.strip()}"
        for path in SCRIPTS
        for line in path.read_text(encoding="utf-8").splitlines()
        if in_script.search(line) and "style: `" not in line
    ]
    is_code = ("make_first_picture.py", "numpy_snippet.py", "packed_pictures.py")
    shown = ("compute", "figures", "stage", "take_home", "views")
    for path in sorted(each for folder in shown for each in (APP / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr) and path.name not in is_code:
                pairs = zip(node.values, node.values[1:], strict=False)
                found += [
                    f"{path.name}: {ast.unparse(node)}"
                    for one, after in pairs
                    if isinstance(one, ast.FormattedValue) and isinstance(after, ast.Constant) and after.value == ": "
                ]
    assert not found


def test_a_script_has_the_texts_of_its_language() -> None:
    for name in components():
        texts, written = marked_texts(bundle(name)), re.search("const TEXTS = (.*);", bundle(name, "de"))
        assert not texts or (written and json.loads(written[1]).keys() == set(texts)), name
        assert bundle(name) == bundle(name, "en")


@pytest.mark.parametrize("text", ["Un mot : deux", "Quoi ?", "« mot", "mot »", "**mot** : deux", "5 %", "{share} %"])
def test_a_plain_space_before_a_mark_is_found_in_french(text: str) -> None:
    assert catalogue_check.PLAIN_SPACE["fr"].search(text)
    assert not catalogue_check.PLAIN_SPACE["fr"].search(text.replace(" ", "\N{NARROW NO-BREAK SPACE}"))


@pytest.mark.parametrize("text", ["poids %{x}", "**Headlight** :material/menu:", "sans / \\ : * ? < >", "exactes, %"])
def test_what_is_no_text_may_have_plain_spaces(text: str) -> None:
    assert not any(pattern.search(text) for pattern in catalogue_check.PLAIN_SPACE.values())


@pytest.mark.parametrize("given", [each for each in catalogues.LANGUAGES if each != "en"])
def test_no_text_is_missing(given: catalogues.Language) -> None:
    assert catalogue_check.problems(given) == []


def test_missing_and_wrong_translations_are_reported(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    template = Catalog()
    template.add("Layer {layer}")
    template.add("Head {head}")
    template.add("A <b>head</b>")
    template.add(("{count} token", "{count} tokens"))
    for module in (catalogue_check, extraction):
        monkeypatch.setattr(module, "extract", lambda: {"app": template})
    (small / "gone.po").write_text(SMALL.lstrip(), encoding="utf-8")
    assert main(["check", "de"]) == 1
    printed = capsys.readouterr().out
    assert "app.po: 'Head {head}' is not translated" in printed
    assert "app.po: 'Row' (of a boat) is not in the code" in printed
    assert "gone.po: no file of the app belongs to it" in printed
    assert main(["update"]) == 0
    assert not (small / "gone.po").exists()
    with (small / "app.po").open("rb") as file:
        updated = read_po(file)
    assert {message.id: message.string for message in updated if message.id} == {
        "A <b>head</b>": "",
        "Head {head}": "",
        "Layer {layer}": "Schicht {layer}",
        ("{count} token", "{count} tokens"): ("{count} Token", "{count} Tokens"),
    }
    text = (small / "app.po").read_text(encoding="utf-8")
    (small / "app.po").write_text(re.sub(r'"Head \{head\}"\nmsgstr ""', r'"Head {head}"\nmsgstr "Kopf {kopf}"', text))
    assert main(["check"]) == 1
    assert "'Kopf {kopf}' does not have the values of 'Head {head}'" in capsys.readouterr().out
    spaced = text.replace('msgstr "Schicht {layer}"', 'msgstr "Schicht {layer} %"')
    (small / "app.po").write_text(spaced, encoding="utf-8")
    assert main(["check"]) == 1
    assert "a plain space in ' %' of 'Schicht {layer} %'" in capsys.readouterr().out
    assert main(["translate"]) == 2

"""What a JavaScript module imports is exported by the other module and used; nothing is exported for nobody."""

import re
from pathlib import Path

import app

HERE = Path(app.__file__).parent
IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:const|let|function|class) .*)", re.MULTILINE)
COMMENT = re.compile(r"(?:^|\s)//.*")
MODULES = {path: path.read_text(encoding="utf-8") for path in HERE.rglob("*.js") if "static" not in path.parts}
IMPORTS = [
    (path, (path.parent / found[2]).resolve(), name.partition(" as ")[0].strip(), name.rpartition(" as ")[2].strip())
    for path, text in MODULES.items()
    for found in IMPORT.finditer(text)
    for name in found[1].split(",")
]


def exported(text: str) -> list[str]:
    """The names that a module exports; `const` may declare several: const A = 1, B = 2;"""
    found = []
    for line in EXPORT.findall(text):
        several = line.startswith("const") and "(" not in line
        found += re.findall(r"(?:const|,) (\w+) = " if several else r"^(?:async )?\w+ (\w+)", line)
    return found


def test_all_imports_and_exports_have_a_form_that_is_read_here() -> None:
    for path, text in MODULES.items():
        lines = [line for line in text.splitlines() if line.startswith(("import ", "export "))]
        read = len(IMPORT.findall(text)) + len(EXPORT.findall(text))
        assert len(lines) == read + sum(line.startswith("export default") for line in lines), path.name


def test_what_is_imported_is_exported_by_the_module_it_comes_from() -> None:
    assert len(IMPORTS) > 100
    assert [
        f"{path.name}: {name} of {source.name}"
        for path, source, name, _ in IMPORTS
        if source not in MODULES or name not in exported(MODULES[source])
    ] == []


def test_what_is_imported_is_used() -> None:
    assert [
        f"{path.name}: {local}"
        for path, _, _, local in IMPORTS
        if not re.search(rf"(?<![\w$]){re.escape(local)}(?![\w$])", COMMENT.sub("", IMPORT.sub("", MODULES[path])))
    ] == []


def test_what_is_exported_is_imported_somewhere() -> None:
    imported = {(source, name) for _, source, name, _ in IMPORTS}
    assert [
        f"{path.name}: {name}"
        for path, text in MODULES.items()
        for name in exported(text)
        if (path, name) not in imported
    ] == []

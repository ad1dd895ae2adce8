"""How a component is registered with Streamlit: a folder with its Python, JavaScript and CSS.

NAME/NAME.js is an ES module that imports others by relative paths. Streamlit gives the script of a component an address
of its own, from which a relative path leads nowhere, so `bundle` joins a module with what it imports.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

HERE = Path(__file__).parent
IMPORT = re.compile(r'^import \{[^}]*\} from "([^"]+)";\n', re.MULTILINE)


def bundle(name: str) -> str:
    """The script of a component: the modules that it imports, each once and before whoever imports it, and its own."""
    modules: dict[Path, str] = {}

    def add(path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        for found in IMPORT.finditer(text):
            imported = (path.parent / found[1]).resolve()
            if imported not in modules:
                add(imported)
        modules[path] = IMPORT.sub("", text)

    add((HERE / name / f"{name}.js").resolve())
    *imported, entry = modules.values()
    return "\n".join([*(re.sub("^export ", "", text, flags=re.MULTILINE) for text in imported), entry])


def component(
    name: str, *, styles: Sequence[str] = (), html: str = "<div class='root'></div>", isolated: bool = True
) -> Any:
    """Registers the component of the folder NAME, once in a process.

    Args:
        styles: style sheets of the folder `shared` that it has beside its own.
        isolated: whether its styles are kept from the rest of the page; without, it has no style sheet.
    """
    sheets = [HERE / "shared" / f"{sheet}.css" for sheet in ("base", *styles)] + [HERE / name / f"{name}.css"]
    css = "".join(sheet.read_text(encoding="utf-8") for sheet in sheets if sheet.exists()) if isolated else None
    return st.components.v2.component(f"headlight_{name}", html=html, css=css, js=bundle(name), isolate_styles=isolated)

"""Registers components with Streamlit. A component is a folder with its Python, JavaScript and CSS.

NAME/NAME.js is an ES module that imports others by relative paths. Streamlit serves the script of a component
under an address where relative imports do not work, so `bundle` joins a module with what it imports.

Each language of the interface has a bundle of its own, with the translations of the texts that its modules mark.
"""

import functools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from app.components import recording
from app.components.recording import Drawn, NoResult
from app.languages import Language, language, numbers
from app.languages.catalogues import ENGLISH, translations

HERE = Path(__file__).parent
IMPORT = re.compile(r'^import \{[^}]*\} from "([^"]+)";\n', re.MULTILINE)
STRING = r'"(?:[^"\\]|\\.)*"'
MARKED = re.compile(rf"(?<![\w.])(?:_\(\s*({STRING})|ngettext\(\s*({STRING}),\s*({STRING}))")
IN_ENGLISH = 'const LANGUAGE = "en";'  # in shared/language.js
NO_TEXTS = "const TEXTS = {};"
NO_SIGNS = "const SIGNS = {};"  # in shared/numbers.js


@functools.cache
def bundle(name: str, spoken: Language = ENGLISH) -> str:
    """The script of a component: all modules that it imports, each once and before the modules that import it, then its
    own module. Its texts and numbers are in the language `spoken`."""
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
    script = "\n".join([*(re.sub("^export ", "", text, flags=re.MULTILINE) for text in imported), entry])
    if spoken == ENGLISH:
        return script
    for declared, values in ((NO_TEXTS, _translated(script, spoken)), (NO_SIGNS, numbers.signs(spoken))):
        script = script.replace(declared, declared.replace("{}", json.dumps(values, ensure_ascii=False)))
    return script.replace(IN_ENGLISH, IN_ENGLISH.replace(ENGLISH, spoken))


def marked_texts(script: str) -> list[str]:
    """The texts that are marked for translation in a script; singular and plural are separate texts."""
    return [json.loads(text) for found in MARKED.finditer(script) for text in found.groups() if text]


def _translated(script: str, spoken: Language) -> dict[str, str]:
    """English text -> its translation."""
    catalogue, made = translations(spoken), {}
    for found in MARKED.finditer(script):
        alone, one, many = (text and json.loads(text) for text in found.groups())
        if alone:
            made[alone] = catalogue.gettext(alone)
        else:
            made |= {one: catalogue.ngettext(one, many, 1), many: catalogue.ngettext(one, many, 2)}
    return made


def style_sheets(name: str, styles: Sequence[str]) -> str:
    """The CSS of a component: base.css and the sheets `styles` of the folder `shared`, and its own sheet."""
    sheets = [HERE / "shared" / f"{sheet}.css" for sheet in ("base", *styles)] + [HERE / name / f"{name}.css"]
    return "".join(sheet.read_text(encoding="utf-8") for sheet in sheets if sheet.exists())


def sent(key: str, name: str) -> Any:
    """What the browser sent under this name for the component; None before it sent anything.

    Trap: a message that is sent just before another page opens arrives after that page has opened. The component no
    longer exists then, but its callback is still called (test_a_message_for_a_component_that_is_gone_is_ignored).
    """
    return getattr(st.session_state.get(key), name, None)


def component(
    name: str, *, styles: Sequence[str] = (), html: str = "<div class='root'></div>", isolated: bool = True
) -> Any:
    """Returns the function that draws the component of the folder NAME. The component is registered once per process
    and language.

    Args:
        styles: style sheets of the folder `shared` that it uses in addition to its own.
        isolated: whether it is in a shadow root, so that its styles do not affect the page; otherwise it has no styles.
    """
    css = style_sheets(name, styles) if isolated else None

    @functools.cache
    def mount(spoken: Language) -> Any:
        registered = f"headlight_{name}" + (f"_{spoken}" if spoken != ENGLISH else "")
        return st.components.v2.component(
            registered, html=html, css=css, js=bundle(name, spoken), isolate_styles=isolated
        )

    mount(ENGLISH)

    def draw(**given: Any) -> Any:
        record = recording.current()
        if record is None:
            return mount(language())(**given)
        record.drawn.append(Drawn(name, given["key"], html, css, given["data"]))
        return NoResult()

    return draw

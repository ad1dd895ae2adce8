"""The scripts and style sheets of the components. NAME/NAME.js is an ES module and NAME/NAME.css a style sheet; both
import others by relative paths.

`bundle` joins a module with what it imports, and `style_bundle` a style sheet: the browser makes one request instead of
ten, and a file without a server can contain them (app/take_home). Each language of the interface has a script of its
own, with the translations of the texts that its modules mark.
"""

import functools
import json
import re
from pathlib import Path

from app.languages import Language, numbers
from app.languages.catalogues import ENGLISH, translations

HERE = Path(__file__).parent
IMPORT = re.compile(r'^import \{[^}]*\} from "([^"]+)";\n', re.MULTILINE)
STYLE_IMPORT = re.compile(r'^@import "([^"]+)";\n', re.MULTILINE)
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


@functools.cache
def style_bundle(name: str) -> str:
    """The style sheet of a component: shared/base.css, the sheets that its own sheet imports, and its own sheet."""
    path = HERE / name / f"{name}.css"
    own = path.read_text(encoding="utf-8") if path.exists() else ""
    sheets = ["../shared/base.css", *STYLE_IMPORT.findall(own)]
    imported = [(HERE / name / sheet).resolve().read_text(encoding="utf-8") for sheet in sheets]
    made = "".join([*imported, STYLE_IMPORT.sub("", own)])
    if "@import" in made:
        raise ValueError(f'{path}: only this sheet may import others, each by a line @import "../shared/NAME.css";')
    return made


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

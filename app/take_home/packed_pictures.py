"""The pictures of a file without a server: components, their scripts and data as JSON.

The script of each component is wrapped so that its entry is the function `window.headlightComponents.NAME`, which the
frame of a picture calls. Bytes are written in base64. Equal data are stored once.
"""

import base64
import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit

from app.components.bundles import bundle
from app.components.recording import Drawn
from app.languages import _, language

HERE = Path(__file__).parent
CONFIG = HERE.parent / ".streamlit" / "config.toml"
ENTRY = "export default function ("


@dataclass(frozen=True)
class Picture:
    """A picture in a hand-out: components of a page.

    Attributes:
        drawn: the components, in the order in which they are drawn.
        exact: the numbers of one head, in base64, with which the questions of the canvas are answered; see
            `exact_head`.
        alt: what it shows, in words.
    """

    drawn: tuple[Drawn, ...]
    exact: dict[str, Any] | None
    alt: str


def component_script(name: str) -> str:
    """The script of a component as a function of `window.headlightComponents`."""
    code = bundle(name, language())
    if code.count(ENTRY) != 1:
        raise ValueError(f"The script of {name} should have one `{ENTRY}…`.")
    code = code.replace(ENTRY, "const headlightEntry = function (")
    return f"(window.headlightComponents ??= {{}}).{name} = (() => {{\n{code}\nreturn headlightEntry;\n}})();"


@cache
def frame_style() -> str:
    """The style sheet of a frame: the colours of the app's two themes, by the attribute `data-scheme`."""
    themes = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["theme"]
    sheets = [":root { --st-font: 'Source Sans', system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; }"]
    for scheme in ("light", "dark"):
        colors = {re.sub("([A-Z])", r"-\1", name).lower(): value for name, value in themes[scheme].items()}
        declared = "".join(f" --st-{name}: {value};" for name, value in colors.items())
        sheets.append(f':root[data-scheme="{scheme}"] {{{declared} }}')
    return "\n".join([*sheets, (HERE / "frame.css").read_text(encoding="utf-8")])


@cache
def frame_script() -> str:
    """The script of a frame."""
    return (HERE / "frame.js").read_text(encoding="utf-8")


@cache
def font() -> str:
    """The font of the app in base64: a file of Streamlit (Source Sans, SIL Open Font License); "" if it is missing."""
    found = Path(streamlit.__file__).parent.glob("static/static/media/SourceSansVF-Upright*.woff2")
    return "".join(base64.b64encode(path.read_bytes()).decode() for path in list(found)[:1])


def packed(pictures: Sequence[Picture]) -> dict[str, Any]:
    """All pictures as JSON values: {scripts, styles, data, pictures, font, frame}."""
    names: dict[str, Drawn] = {}
    places: dict[str, int] = {}
    listed = []
    for picture in pictures:
        components = []
        for drawn in picture.drawn:
            names.setdefault(drawn.name, drawn)
            text = json.dumps(_data(drawn.data), sort_keys=True, allow_nan=False)
            components.append({"name": drawn.name, "at": places.setdefault(text, len(places))})
        listed.append({"components": components, "exact": picture.exact, "texts": _texts(picture.exact)})
    return {
        "scripts": {name: component_script(name) for name in names if name != "canvas_channel"},
        "styles": {name: {"html": drawn.html, "css": drawn.css} for name, drawn in names.items()},
        "data": [json.loads(text) for text in places],
        "pictures": listed,
        "font": font(),
        "frame": {"css": frame_style(), "script": frame_script()},
    }


def _texts(exact: dict[str, Any] | None) -> dict[str, str]:
    """What the frame of a picture says where the app would compute something."""
    one_head = exact and _(
        "This file has the calculation of one head only: layer {layer}, head {head}.",
        layer=exact["layer"] + 1,
        head=exact["head"] + 1,
    )
    return {
        "oneHead": one_head or "",
        "needsApp": _("This needs the app, because the model has to compute it."),
    }


def _data(value: Any) -> dict[str, Any]:
    return {"bytes": base64.b64encode(value).decode()} if isinstance(value, bytes) else {"data": value}

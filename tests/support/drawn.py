"""Opens a page as a visitor does, and reads the numbers that it draws."""

import base64
import json
import re
import zlib
from collections.abc import Sequence
from fnmatch import fnmatch
from typing import Any

import numpy as np
import plotly.graph_objects as go
from streamlit.testing.v1 import AppTest

from app.figures.charts import Figure
from app.figures.theme import resolved
from app.languages import LANGUAGES
from tests.support.pages import MAIN, switch_page
from tests.support.patience import PATIENCE
from transformer.analysis.doctor import SITES
from transformer.analysis.trace import trace
from transformer.model import Transformer


def attention_weights(
    model: Transformer, source_ids: Sequence[int], target_ids: Sequence[int], pattern: str
) -> np.ndarray:
    """The weights at the sites of a pattern, (L, H, Q, K), computed beside the app. As there, all attention is probed
    in one pass: other paths round differently."""
    arrays = trace(model, source_ids, target_ids, SITES).arrays
    return np.stack([array for site, array in arrays.items() if fnmatch(site, pattern)])


def open_view(name: str, **address: str) -> AppTest:
    """The page `app/views/NAME/page.py` with these query parameters in the address, its details open; fails the test
    if it raises."""
    app = AppTest.from_file(str(MAIN), default_timeout=PATIENCE)
    switch_page(app, name)
    for key, value in ({"details": "true"} | address).items():
        app.query_params[key] = value
    app.run()
    assert not app.exception, app.exception[0].message
    return app


def sent(app: AppTest) -> list[bytes]:
    """What goes to the browser for each chart of the page, from top to bottom."""
    components = [found.proto for found in app.get("bidi_component")]
    return [proto.bytes for proto in components if proto.component_name == "headlight_chart"]


def charts(app: AppTest) -> list[dict[str, Any]]:
    """The figures of the page, as Plotly gets them, from top to bottom; each one passes Plotly's own checks."""
    figures = [json.loads(data)["figure"] for data in sent(app)]
    for figure in figures:
        go.Figure(in_theme(figure))
    return figures


def checked(figure: Figure) -> go.Figure:
    """The same as Plotly's own figure, which raises for a value that no chart can have; in the light theme."""
    return go.Figure(in_theme(figure.data), in_theme(figure.layout))


def in_theme(value: Any, dark: bool = False) -> Any:
    """The value with the colours of one theme, as the browser resolves them."""
    if isinstance(value, str):
        return resolved(value, dark)
    if isinstance(value, dict):
        return {name: in_theme(each, dark) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [in_theme(each, dark) for each in value]
    if isinstance(value, np.ndarray) and value.dtype == object:
        return np.array([in_theme(each, dark) for each in value.ravel()], object).reshape(value.shape)
    return value


def title(figure: dict[str, Any]) -> str:
    """The title of a figure; "" if it has none."""
    return str(figure["layout"].get("title", {}).get("text", ""))


def chart(app: AppTest, words: str) -> dict[str, Any]:
    """The first figure with these words in its title."""
    found = charts(app)
    for figure in found:
        if words in title(figure):
            return figure
    raise AssertionError(f"no chart {words!r} among {[title(figure) for figure in found]}")


def written(text: str) -> float:
    """The number that the page shows as `app.figures.theme.number` writes it."""
    mantissa, _, exponent = text.replace(",", "").replace("−", "-").partition("×10")
    return float(mantissa) * 10 ** int(exponent.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")) or 0)


def array(value: Any) -> np.ndarray:
    """Numbers of a chart as they are sent: a list, or bytes with their type."""
    if not isinstance(value, dict):
        return np.array(value)
    found = np.frombuffer(base64.b64decode(value["bdata"]), np.dtype(value["dtype"]))
    return found.reshape([int(n) for n in value["shape"].split(",")]) if "shape" in value else found


def components(app: AppTest, name: str) -> list[dict[str, Any]]:
    """What goes to the browser for each component of this name, in any language, from top to bottom."""
    found = [each.proto for each in app.get("bidi_component")]
    names = {f"headlight_{name}", *(f"headlight_{name}_{spoken}" for spoken in LANGUAGES)}
    return [dict(json.loads(each.json)) for each in found if each.component_name in names]


def page_text(app: AppTest) -> str:
    """All words of the page but those in its pictures, buttons and tables."""
    assert not app.exception, app.exception[0].message
    kinds = (
        app.header,
        app.subheader,
        app.text,
        app.markdown,
        app.caption,
        app.latex,
        app.info,
        app.warning,
        app.error,
    )
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def copied_link(app: AppTest) -> dict[str, str]:
    """What a copied link opens: the choices of the address, and the texts that are not in it."""
    assert not app.exception
    return dict(app.query_params) | components(app, "copy_link")[0]["texts"]


def held_by(app: AppTest) -> dict[str, Any]:
    """What `held_data` sends to the browser, as `held_data.js` reads it; arrays of numbers as arrays."""
    found = [each.proto for each in app.get("bidi_component")]
    (sent,) = (each.bytes for each in found if each.component_name.startswith("headlight_held_data"))
    message = zlib.decompress(sent)
    start = 4 + int.from_bytes(message[:4], "little")

    def array_at(value: dict[str, Any]) -> Any:
        if "dtype" not in value:
            return value
        count = int(np.prod(value["shape"]))
        return np.frombuffer(message, value["dtype"], count, start + value["at"]).reshape(value["shape"])

    return dict(json.loads(message[4:start], object_hook=array_at))


def unpacked(page: str, name: str) -> str:
    """What a page of `app.views.attention.bertviz_html` carries packed in the script of this id: "data" or "code"."""
    (found,) = re.findall(rf'<script type="text/plain" id="{name}">([A-Za-z0-9+/=]+)</script>', page)
    return zlib.decompress(base64.b64decode(found)).decode()


def switches(app: AppTest) -> list[dict[str, Any]]:
    """What can be chosen in the first line of the bar, from left to right."""
    (found,) = components(app, "switches")
    return list(found["choices"])


def unpacked_canvas(message: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray], dict[str, np.ndarray]]:
    """(header, weights by kind (L, H, Q, K) as bytes, masks by kind) of a message to the canvas. A mask is (Q, K), or
    (L, H, Q, K) if the heads have masks of their own."""
    at = 4 + int.from_bytes(message[:4], "little")
    header, weights, masks = json.loads(message[4:at]), {}, {}
    for kind in header["kinds"]:
        size = int(np.prod(kind["shape"]))
        weights[kind["name"]] = np.frombuffer(message, np.uint8, size, at).reshape(kind["shape"])
        at += size
    for kind in header["kinds"]:
        shape = kind["shape"] if kind.get("ownMasks") else kind["shape"][2:]
        size = int(np.prod(shape))
        masks[kind["name"]] = np.frombuffer(message, np.uint8, size, at).reshape(shape).astype(bool)
        at += size
    assert at == len(message)
    return header, weights, masks

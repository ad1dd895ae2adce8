"""BertViz (Vig, 2019): its head view, model view and neuron view of our tensors, as one HTML page each.

The drawing code is BertViz's own, read from the installed package. The page around it is ours. BertViz's page fetches
its libraries from a CDN (without a network, nothing is drawn), embeds the data twice, and counts from 0. It puts tokens
into a script unescaped: tokens are what a user typed, and a token `</script>` runs whatever follows it. In our page

- D3 and jQuery come from this machine: from `app/static`, or written into the page (for a file to download);
- data and code are compressed (deflate) and written in base64. This takes a third of the bytes, and an HTML parser
  reads none of the characters as markup. The browser unpacks both, and the page's policy forbids it to load anything
  from elsewhere;
- the page has the colours of the theme; BertViz's text is black on every background.

`import bertviz` is not needed: it takes a second, and only three JavaScript files are used. Every change to their code
is checked, so with another release of BertViz an error is raised here, before the browser draws something wrong
(test_the_data_is_what_bertviz_itself_would_draw).
"""

import base64
import html
import importlib.util
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from app.figures.axes import TokenAxis
from app.figures.tables import Table
from app.figures.theme import BACKGROUND, INK, resolved
from app.languages import _, language

View = Literal["head", "model", "neuron"]
STATIC = Path(__file__).resolve().parents[2] / "static"
LIBRARIES = ("jquery.min.js", "d3.min.js")  # D3 before version 6: BertViz's handlers expect (datum, index)
ALL_LAYERS_UP_TO: dict[View, int] = {"head": 60, "model": 30, "neuron": 0}  # tokens; for more, one layer is drawn
MOST_TOKENS = 160  # enough for a page's longest sentence (100) and a translation that has 50 more, as in the paper
PARTS = 1000  # numbers are sent as whole thousandths (half the characters); the browser divides them by this

_SHIM = "window.requirejs = (names, start) => start(window.jQuery, window.d3);"
_START = f"""const unpacked = (id) => {{
  const letters = atob(document.getElementById(id).textContent);
  const bytes = new Blob([Uint8Array.from(letters, (letter) => letter.charCodeAt(0))]);
  return new Response(bytes.stream().pipeThrough(new DecompressionStream("deflate"))).text();
}};
const divided = (x) => Array.isArray(x) ? x.map(divided) : x / {PARTS};
Promise.all([unpacked("data"), unpacked("code")]).then(([data, code]) => {{
  window.bertviz_params = JSON.parse(data);
  for (const one of window.bertviz_params.attention) {{
    for (const name of ["attn", "queries", "keys"]) if (one[name]) one[name] = divided(one[name]);
  }}
  const script = document.createElement("script");
  script.textContent = code;
  document.body.append(script);
}});"""
_WIDTH = 1010  # px that the views need; a narrower frame shows them smaller instead of cutting them off


def _style(dark: bool) -> str:
    """Text and ground in the colours of the theme, in place of BertViz's black and white."""
    back, text = resolved(BACKGROUND, dark), resolved(INK, dark)
    return (
        f"html{{color-scheme:{'dark' if dark else 'light'}}}"
        f"body{{background:{back};color:{text};margin:0;padding:8px;box-sizing:border-box;min-width:{_WIDTH}px;"
        "font-family:'Helvetica Neue',Helvetica,Arial,sans-serif}"
        f"#bertviz{{background:{back} !important}}"
        f"text:not([fill]),text[fill='black']{{fill:{text}}}"
        f"rect[fill='black'],rect[fill='white']{{fill:{back}}}"
        f"rect[fill='lightgray']{{fill:color-mix(in srgb,{text} 25%,{back})}}"
    )


_FIT = (
    f"const fit = () => {{ document.body.style.zoom = Math.min(1, window.innerWidth / {_WIDTH}); }};\n"
    'fit();\nwindow.addEventListener("resize", fit);'
)


def is_installed() -> bool:
    """Whether the package is installed; it is large, so some users leave it out."""
    return importlib.util.find_spec("bertviz") is not None


@dataclass(frozen=True)
class ShownAttention:
    """What a view shows.

    Attributes:
        weights: (L, H, Q, K) of the layers that are included.
        left, right: the Q and K tokens: queries and keys.
        layers: the numbers of the L layers, from 0; they are shown from 1.
        layer, head: which is shown first, from 0. The model view shows all.
        vectors: queries (L, H, Q, E) and keys (L, H, K, E), for the neuron view.
        causal: whether the mask hides later tokens, for the neuron view.
    """

    weights: np.ndarray
    left: Sequence[str]
    right: Sequence[str]
    layers: Sequence[int]
    layer: int = 0
    head: int = 0
    vectors: tuple[np.ndarray, np.ndarray] | None = None
    causal: bool = False


def bertviz_html(view: View, shown: ShownAttention, title: str, *, inline: bool = False, dark: bool = False) -> str:
    """One view of one kind of attention, as a page.

    Args:
        title: of the page; never a user's text.
        inline: whether D3 and jQuery are written into the page, instead of loaded from `app/static`.
        dark: whether the page has the colours of the dark theme.
    """
    attention: dict[str, Any] = {
        "name": title,
        "attn": _thousandths(shown.weights),
        "left_text": list(shown.left),
        "right_text": list(shown.right),
    }
    params: dict[str, Any] = {
        "root_div_id": "bertviz",
        "default_filter": "0",
        "display_mode": "dark" if dark else "light",
    }
    numbers = [number + 1 for number in shown.layers]
    if view == "neuron":
        if shown.vectors is None:
            raise ValueError("The neuron view needs queries and keys.")
        attention |= dict(zip(("queries", "keys"), map(_thousandths, shown.vectors), strict=True))
        first = list(shown.layers).index(shown.layer)
        params |= {"layer": first, "head": shown.head, "bidirectional": not shown.causal, "numbers": numbers}
    elif view == "head":
        params |= {"layer": shown.layer + 1, "heads": None, "include_layers": numbers}
    else:
        heads = shown.weights.shape[1]
        names = list(range(1, heads + 1))
        params |= {"include_layers": numbers, "include_heads": names, "total_heads": max(heads, 4)}
    data = json.dumps(params | {"attention": [attention]}, separators=(",", ":"), ensure_ascii=False)
    return _page(view, title, data, inline, dark)


def vectors_table(queries: np.ndarray, keys: np.ndarray, left: TokenAxis, right: TokenAxis) -> Table:
    """The vectors of the neuron view with all their digits: one line per query or key of each head, one column per
    dimension.

    Args:
        queries, keys: (H, Q, E) and (H, K, E) of one layer.
        left, right: the Q and K tokens.
    """
    vectors = np.concatenate([queries, keys], axis=1)  # (H, Q + K, E)
    heads, tokens, size = vectors.shape
    lines = vectors.reshape(-1, size)  # (H * (Q + K), E)
    return {
        _("head"): np.repeat(np.arange(1, heads + 1), tokens),
        _("vector"): (["q"] * len(left) + ["k"] * len(right)) * heads,
        _("token"): [*left.names, *right.names] * heads,
        **{_("dimension {number}", number=i): lines[:, i] for i in range(size)},
    }


def _thousandths(values: np.ndarray) -> Any:
    return np.round(values.astype(np.float64) * PARTS).astype(int).tolist()


def _page(view: View, title: str, data: str, inline: bool, dark: bool) -> str:
    source = "'unsafe-inline'" if inline else "'self' 'unsafe-inline'"
    policy = f"default-src 'none'; script-src {source}; style-src 'unsafe-inline'"
    libraries = "".join(
        f"<script>{_read(STATIC / name)}</script>\n" if inline else f'<script src="app/static/{name}"></script>\n'
        for name in LIBRARIES
    )
    return (
        f'<!doctype html>\n<html lang="{language()}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><title>{html.escape(title)}</title>'
        f'<style>{_style(dark)}</style></head>\n<body><div id="bertviz">{_controls(view)}<div id="vis"></div></div>\n'
        f'<script type="text/plain" id="data">{_packed(data)}</script>\n'
        f'<script type="text/plain" id="code">{_packed_code(view)}</script>\n{libraries}'
        f"<script>{_SHIM}\n{_START}\n{_FIT}</script></body></html>\n"
    )


def _controls(view: View) -> str:
    layer, head = html.escape(_("Layer:")), html.escape(_("Head:"))
    if view == "model":
        return ""
    if view == "head":
        return f'<label>{layer} <select id="layer"></select></label>'
    both = ((layer, "layer"), (head, "att_head"))
    return " ".join(f'<label class="dropdown-label">{label} <select id="{id}"></select></label>' for label, id in both)


def _packed(text: str) -> str:
    """The text compressed, in base64; `unpacked` in the browser undoes it."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


@cache
def _packed_code(view: View) -> str:
    return _packed(drawing_code(view))


@cache
def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def drawing_code(view: View) -> str:
    """BertViz's own JavaScript, with the few changes that it needs here.

    Raises:
        RuntimeError: BertViz is not installed, or its code differs from that of the tested release.
    """
    spec = importlib.util.find_spec("bertviz")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("BertViz is not installed.")
    code = _read(Path(spec.submodule_search_locations[0]) / f"{view}_view.js")
    code, found = re.subn(r"require\.config\(\{.*?\n\}\);", "", code, flags=re.DOTALL)  # this names the CDN
    if found != 1:
        raise RuntimeError("This release of BertViz configures RequireJS in another way.")
    if view == "neuron":
        maximum = "Math.max(attentionFilter.left_text.length, attentionFilter.right_text.length)"
        code = _changed(code, "attentionFilter.right_text.length;", f"{maximum};")  # else a long left side is cut off
        code = _changed(
            code, 'layerSelect.append($("<option />").val(i).text(i))', _option("layerSelect", "params.numbers[i]")
        )
        code = _changed(code, 'headSelect.append($("<option />").val(i).text(i))', _option("headSelect", "i + 1"))
        return _changed(
            code,
            "config.expanded = false;\n            config.bidirectional",
            "config.expanded = true;\n            config.bidirectional",
        )
    return _changed(code, "const params = PYTHON_PARAMS;", "const params = window.bertviz_params;")


def _option(select: str, text: str) -> str:
    return f'{select}.append($("<option />").val(i).text({text}))'


def _changed(code: str, old: str, new: str) -> str:
    if code.count(old) != 1:
        raise RuntimeError(
            f"This release of BertViz is another than the one that was tested: {old!r} is not in it once."
        )
    return code.replace(old, new)

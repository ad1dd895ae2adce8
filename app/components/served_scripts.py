"""The scripts and style sheets of the components, as files that browsers fetch once and keep.

Streamlit sends the script and the styles of a component again with each change of its data. So it gets no styles and
only a loader of a few lines, which imports a module from the server of the app (app/server/component_scripts.py): the
script, with the style sheet as the text `css`. The name of a file contains a hash of its content, so after an upgrade
browsers fetch the new one.
"""

import json
from functools import cache
from hashlib import blake2s

from app.component_address import FOLDER
from app.components.bundles import HERE, bundle, style_bundle
from app.languages import LANGUAGES, Language

# The import is tried twice, the second time from another address: a browser may not import again from an address that
# has failed. The component may have left the page before its script arrives. Streamlit calls the script again after
# each change of the data, but when the component leaves the page, it ends only what the last call has begun. So each
# call ends what the one before has begun. What follows a picture is shown when the picture has a height (app/page.css).
_LOADER = f"""\
const at = (query) => import(new URL("{FOLDER}/FILE" + query, location.href));
const later = () => new Promise((done) => {{ setTimeout(done, 1000); }});
const loaded = at("").catch(() => later().then(() => at("?again"))).then(async (module) => ({{
  draw: module.default,
  sheet: await new CSSStyleSheet().replace(module.css),
}}));
export default async (mounted) => {{
  const {{ draw, sheet }} = await loaded;
  if (!mounted.parentElement.isConnected) return;
  const root = mounted.parentElement.getRootNode(), {{ host }} = root;
  if (host && root.adoptedStyleSheets[0] !== sheet) root.adoptedStyleSheets = [sheet];
  const place = mounted.parentElement, endBefore = place.headlightEnd, unmount = draw(mounted);
  let isOver = false;
  const end = place.headlightEnd = () => {{
    if (!isOver) unmount?.();
    isOver = true;
  }};
  endBefore?.();
  window.headlightDrawn = (window.headlightDrawn ?? 0) + 1;  // how often a component was drawn, for tab_memory
  const picture = host?.closest("[class*=st-key-picture_]");
  if (!picture) host?.setAttribute("data-drawn", "");
  else if (!host.hasAttribute("data-drawn")) new ResizeObserver((_, observer) => {{
    if (!picture.offsetHeight) return;  // its data are still on the way
    host.setAttribute("data-drawn", "");
    observer.disconnect();
  }}).observe(picture);
  return end;
}};
"""


@cache
def served_module(name: str, spoken: Language) -> str:
    """The module of a component in a language: its script, and its style sheet."""
    return f"{bundle(name, spoken)}\nexport const css = {json.dumps(style_bundle(name), ensure_ascii=False)};\n"


def file_of(name: str, spoken: Language) -> str:
    """The name of the file with the module of a component in a language: NAME.LANGUAGE.HASH.js."""
    return f"{name}.{spoken}.{blake2s(served_module(name, spoken).encode(), digest_size=8).hexdigest()}.js"


def loader(name: str, spoken: Language) -> str:
    """The module that Streamlit gets for a component."""
    return _LOADER.replace("FILE", file_of(name, spoken))


def module_in(file: str) -> str | None:
    """The module in the file with this name; None if there is no such file."""
    for spoken in LANGUAGES:
        name = file.partition(f".{spoken}.")[0]
        if name.isidentifier() and (HERE / name / f"{name}.js").exists() and file == file_of(name, spoken):
            return served_module(name, spoken)
    return None

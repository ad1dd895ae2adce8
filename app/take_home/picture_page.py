"""One picture as a whole HTML page, for example in the output of a notebook: no server, no network."""

import html
import json

from app.take_home.hand_out import HERE, page
from app.take_home.packed_pictures import Picture, frame_script, frame_style, packed


def picture_page(picture: Picture, title: str) -> str:
    """The page. Its data are JSON in which no text can end the script element."""
    values = packed([picture])
    (listed,) = values["pictures"]
    components = [
        {"name": each["name"], **values["styles"][each["name"]], **values["data"][each["at"]]}
        for each in listed["components"]
    ]
    whole = {"components": components, "exact": picture.exact, "texts": listed["texts"]}
    data = json.dumps(whole).replace("<", "\\u003c")
    scripts = [*values["scripts"].values(), frame_script(), (HERE / "picture_page.js").read_text(encoding="utf-8")]
    if any("</script" in script.lower() or "<!--" in script for script in scripts):
        raise ValueError("A script has a text that would end its element.")
    body = (
        f'<p hidden>{html.escape(picture.alt)}</p><div id="pictures"></div>\n'
        f'<script type="application/json" id="picture">{data}</script>\n'
        + "\n".join(f"<script>{script}</script>" for script in scripts)
    )
    return page(title, body, frame_style(), scripts)

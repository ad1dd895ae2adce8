"""The style sheets of the page: those of all pages, that of the common top, and that of each page's own folder."""

from functools import cache
from pathlib import Path

APP = Path(__file__).resolve().parent.parent


@cache
def style_sheet() -> str:
    """All style sheets as one, in this order: a later rule overrides an earlier one that is as specific.

    The sheets of all pages are always there, because the document has elements of two pages while another page opens.
    """
    sheets = [APP / "page.css", APP / "code.css", APP / "stage" / "stage.css", *sorted(APP.glob("views/*/*.css"))]
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)

"""A state of the app -> the text of a scene, as a lesson file has it. `lesson_file.py` reads it back."""

from collections.abc import Mapping
from urllib.parse import quote

from app.languages import _

_AS_THEY_ARE = ",;:.=/"  # characters of a value that need no percent sign


def scene_text(title: str, page: str, link: Mapping[str, str], checkpoint: str, sentence: str) -> str:
    """The scene that shows this page.

    Args:
        link: all texts of a link to it; checkpoint and sentence have lines of their own.
    """
    named = {key: text for key, text in link.items() if key not in ("checkpoint", "sentence")}
    query = "&".join(f"{key}={quote(text, safe=_AS_THEY_ARE)}" for key, text in named.items())
    lines = [
        f"## {title}",
        "minutes: 1",
        f"show: {page}{'?' if query else ''}{query}",
        *([f"checkpoint: {checkpoint}"] if checkpoint else []),
        *([f"sentence: {' '.join(sentence.split())}"] if sentence.strip() else []),
        "",
        _("What the class reads, in at most two sentences."),
        "",
        "> " + _("Notes for the presenter."),
    ]
    return "\n".join(lines) + "\n"

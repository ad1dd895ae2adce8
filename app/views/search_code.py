"""Where the code of each search chooses the next piece, and which search a translation had."""

from transformer.decoding.translation import Translation

CHOICE = {
    "beam": ("decoding/beam.py", "Beam.advance"),
    "greedy": ("decoding/rows.py", "Rows.advance"),
    "sampling": ("decoding/sampling.py", "draw"),
}


def method_of(translation: Translation) -> str:
    """How the translation was searched for; a beam of one is greedy."""
    settings = translation.settings
    return "greedy" if settings.method == "beam" and settings.beam == 1 else settings.method

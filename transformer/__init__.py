"""The Transformer of "Attention Is All You Need", written to be read. See README.md for where to start.

from transformer import Translator
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformer.decoding.translator import Translator

__all__ = ["Translator"]


def __getattr__(name: str) -> object:
    """`Translator` is imported when first asked for, so that `python -m transformer --help` need not load torch."""
    if name == "Translator":
        from transformer.decoding.translator import Translator

        return Translator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

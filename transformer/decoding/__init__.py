"""Searching for translations: greedy decoding, beam search and sampling over one step function."""

from transformer.decoding.translation import Hypothesis, SearchNode, TranslatedText, Translation
from transformer.decoding.translator import Translator

__all__ = ["Hypothesis", "SearchNode", "TranslatedText", "Translation", "Translator"]

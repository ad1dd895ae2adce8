"""Fixtures that the tests of text and of data share."""

from tests.support.bilingual_text import bpe, in_new_process, lines, pairs, tokenizer, unigram

__all__ = ["bpe", "in_new_process", "lines", "pairs", "tokenizer", "unigram"]

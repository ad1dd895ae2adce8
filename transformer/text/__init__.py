"""Sentences <-> ids: normalisation, sentence splitting, the tokenizer, subword sampling."""

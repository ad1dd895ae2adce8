"""Sentences <-> ids: normalising, the tokenizer, corpora from files, toy corpora, batches by tokens."""

"""Sentences <-> ids. In the order in which to read:

normalisation sentence_splitting       what every text goes through
recasing spelling                      what a sentence is read as, if it is typed in another way
tokenizer subword_sampling             sentences -> tokens -> ids, and back
pair_tokenizer vocabulary_lines        two vocabularies in one; the lines of a vocabulary file
"""

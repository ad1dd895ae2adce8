"""Encoder-decoder attention as word alignment, scored against gold alignments.

`measure_heads.measure` makes a map: the alignment error rate of each decoder layer and head, in both shifts
(word_attention.py).
"""

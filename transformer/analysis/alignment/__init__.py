"""Which head aligns? Encoder-decoder attention read as word alignment and scored against what people have aligned.

    gold file -> gold.py -> pairs -> words.py -> attention between words -> error_rate.py -> measure.py -> map.py

`measure` makes the map: the alignment error rate of each decoder layer and head, for both of its readings.
"""

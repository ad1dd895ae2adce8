"""Searching for translations: greedy decoding, beam search and sampling over one step function. To be read in this
order:

    translator changed_settings request               text in, text out
    search decoding_method greedy_and_sampling beam   the loop, and the two ways to choose tokens in it
    log_probabilities sampling length_penalty repetition
    search_record hypotheses tree translation         what a search leaves
    teacher_forcing reranking                         with a given translation
    finished_search finished_sampling                 after a search
    translate_lines language_pair                     files, line by line; the languages of a model
    fast                                              the same step with fewer operations
"""

from transformer.decoding.translation import Hypothesis, SearchNode, TranslatedText, Translation
from transformer.decoding.translator import Translator

__all__ = ["Hypothesis", "SearchNode", "TranslatedText", "Translation", "Translator"]

"""The words of the source text, which checkpoints keep to correct spelling (`transformer/text/spelling.py`)."""

import logging
from collections.abc import Sequence

from transformer.data.corpus import Pair
from transformer.data.prepared_text import TrainingText
from transformer.text.spelling import WordList, word_list

MOST_PAIRS = 500_000  # that are read; of a larger corpus, blocks evenly spread over it
FEWEST_WORDS = 20_000  # a smaller list does not know words that many people type
MOST_VALID = 2000  # validation pairs on which a list is tested
MOST_CHANGED = 0.05  # of them: a list that changes more does not know enough of the text's words
log = logging.getLogger(__name__)


def source_words(text: TrainingText, valid: Sequence[Pair]) -> WordList | None:
    """The words of the sources for training that no model wrote, or None if they would not serve to correct spelling.

    They do not serve if they are too few, or if many new sentences have unknown words that are similar to known ones,
    as in a language with many forms of each word, or in a text that is not natural language.

    Args:
        valid: the pairs for validation, whose sources are taken to be spelt correctly.
    """
    real = [block for block in range(text.blocks) if text.part(block).is_real]
    chosen = real[:: -(-sum(map(text.size, real)) // MOST_PAIRS) or 1]
    words = word_list(source for block in chosen for source, _ in text.pairs(block))
    if words is None or len(words.counts) < FEWEST_WORDS:
        return None
    sources = [source for source, _ in valid[:MOST_VALID]]
    changed = sum(words.corrected(source) != source for source in sources) / max(len(sources), 1)
    if changed > MOST_CHANGED:
        log.info(
            "The checkpoints of this run do not correct spelling: with the words of the text, they would change %.0f%% "
            "of the validation sentences.",
            100 * changed,
        )
        return None
    return words

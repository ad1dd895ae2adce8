"""Translation line by line: line n of the output is always the translation of line n of the input.

Many lines are translated together, because a batch is faster than single sentences. A line of several sentences is
translated sentence by sentence. An empty line, or one that cannot be translated, gives an empty line.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from transformer.config import DecodingConfig
from transformer.data.text_files import LONGEST_LINE, in_portions
from transformer.decoding.reranking import Reranker
from transformer.decoding.translator import Translator
from transformer.errors import TranslationError
from transformer.text.sentence_splitting import split_sentences


@dataclass(frozen=True)
class TranslatedLine:
    """The result for one line."""

    number: int  # counted from 1
    text: str
    problem: str | None = None  # why the text is empty although the line was not


def translate_lines(
    translator: Translator | Reranker, lines: Iterable[bytes], settings: DecodingConfig, at_once: int
) -> Iterator[TranslatedLine]:
    """Translates a stream of UTF-8 lines, `at_once` of them together, fewer if they are very long.

    Args:
        lines: as `transformer.data.text_files.bounded` gives them.
    """
    for chunk in in_portions(enumerate(lines, start=1), at_once, lambda some: sum(len(line) for _, line in some)):
        texts: list[str | TranslationError] = [_decode(line) for _, line in chunk]
        sentences = [split_sentences(text) if isinstance(text, str) else [] for text in texts]
        translated = iter(translator.translate_each([one for line in sentences for one in line], settings))
        for (number, _), text, line in zip(chunk, texts, sentences, strict=True):
            parts = list(islice(translated, len(line)))
            problem = next((part for part in (text, *parts) if isinstance(part, TranslationError)), None)
            if problem is None:
                yield TranslatedLine(
                    number, " ".join(as_one_line(part.text) for part in parts if not isinstance(part, TranslationError))
                )
            else:
                yield TranslatedLine(number, "", str(problem))


def _decode(line: bytes) -> str | TranslationError:
    if len(line) > LONGEST_LINE:
        return TranslationError(f"The line has more than {LONGEST_LINE:,} bytes. Split it into shorter lines.")
    try:
        return line.decode().removeprefix("\ufeff").rstrip("\r\n")
    except UnicodeDecodeError as error:
        return TranslationError(f"The line is not UTF-8: {error.reason} at byte {error.start + 1}.")


def as_one_line(text: str) -> str:
    """A translation as one line. Trap: byte tokens can write a line break, which would shift all lines after it
    (test_a_translation_with_a_line_break_stays_one_line, in test_translate.py and in test_evaluate.py)."""
    return re.sub(r"[\r\n]+", " ", text)

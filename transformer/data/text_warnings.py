"""What is probably wrong with training text, found before hours of training: warnings, never errors.

    source and target are the same text in many pairs        a column given twice, or text that was not translated
    one side has no letters, the other has sentences         a column of row numbers, ids or scores
    one text fills most of a column                          a column of labels or language codes
    the two languages are exchanged                          found by frequent words of a few languages
    most words become bytes or single letters                the vocabulary was learnt from other text
    more pairs for validation than for training              data.valid_size is too high for this text

A sample of each part of the text is examined. The thresholds are far from the values of good text, which the comment at
each threshold states. They were measured on 36 corpora of English, German and French (speech, news, captions,
phrasebooks, lists of names).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from transformer.config import UNK
from transformer.data.corpus import Pair
from transformer.data.data_options import DataConfig
from transformer.data.hugging_face_address import is_data_set
from transformer.data.prepared_text import TrainingText, UsedPart
from transformer.data.train_valid_overlap import usual_valid_size
from transformer.text.normalisation import normalise
from transformer.text.tokenizer import Tokenizer

BLOCKS, PAIRS_PER_BLOCK = 4, 1000  # in the sample of a part; the blocks are spread over the whole part
LEAST_PAIRS, LEAST_CHARACTERS = 100, 1000  # a smaller sample is not examined
LEAST_WORDS = 4  # in a sentence; a shorter one may be the same in another language
SIDES = ("sources", "targets")
CHOOSE = "Choose other columns (data.source_column and data.target_column) or other files."
# Frequent words; no word is in two of these lists. (Some also exist in another language, as "is" in Dutch.)
FREQUENT = {
    "de": {"der", "ist", "und", "nicht", "das", "ich", "ein", "zu", "sie", "mit"},
    "en": {"the", "is", "and", "of", "you", "to", "that", "was", "have", "this"},
    "es": {"el", "los", "pero", "está", "muy", "yo", "y", "las", "del", "qué"},
    "fr": {"le", "est", "et", "les", "pas", "je", "vous", "dans", "une", "nous"},
    "it": {"il", "che", "è", "sono", "della", "gli", "questo", "ho", "anche", "perché"},
    "nl": {"het", "een", "niet", "ik", "van", "zijn", "dat", "voor", "ze", "maar"},
    "pt": {"não", "uma", "você", "são", "ele", "muito", "os", "eu", "isso", "ela"},
}


def text_warnings(text: TrainingText, config: DataConfig, given: Tokenizer | None = None) -> list[str]:
    """Warnings that name the part, the share of its pairs, and what to do; an empty list for text that looks right.

    Args:
        given: the vocabulary, if it was not learnt from this text.
    """
    found = list[str]()
    validation, learnt = text.counts.validation, text.counts.learnt - text.counts.repeats
    if validation > learnt:
        found.append(
            f"{validation:,} pairs are set aside for validation, and only {learnt:,} are left for training. "
            + _more_to_learn_from(validation, learnt, config)
        )
    for part, pairs in _samples(text):
        if len(pairs) >= LEAST_PAIRS:
            columns = _same_sides(pairs) or _no_letters(pairs) or _one_text(pairs)
            warnings = [columns or _exchanged(part, pairs, config), given and _misfit(pairs, given)]
            found += [f"{part.name}: {warning}" for warning in warnings if warning]
    return found


def _more_to_learn_from(validation: int, learnt: int, config: DataConfig) -> str:
    """The advice. Pairs with the same source sentence are set aside together. So if a sentence has many pairs, a lower
    valid_size may set aside just as many."""
    fewer = usual_valid_size(validation + learnt)
    if fewer < config.valid_size and validation < 2 * config.valid_size:
        return f"Lower data.valid_size = {config.valid_size}, for example to {fewer}."
    return (
        "Pairs of the same source stay together, so a lower data.valid_size may not help: give separate "
        "validation text (data.valid)."
    )


def _samples(text: TrainingText) -> Iterator[tuple[UsedPart, list[Pair]]]:
    """For each part some of its training pairs."""
    for _, group in groupby(range(text.blocks), key=lambda block: id(text.part(block))):
        blocks = list(group)
        chosen = sorted({blocks[len(blocks) * place // BLOCKS] for place in range(BLOCKS)})
        yield text.part(blocks[0]), [pair for block in chosen for pair in text.pairs(block)[:PAIRS_PER_BLOCK]]


def _same_sides(pairs: Sequence[Pair]) -> str | None:
    long = [pair for pair in pairs if len(pair[0].split()) >= LEAST_WORDS]  # names may be the same in both languages
    share = sum(source == normalise(target) for source, target in long) / max(len(long), 1)
    if len(long) < LEAST_PAIRS // 2 or share < 0.1:  # below 0.01 in good text
        return None
    return (
        f"source and target are the same text in {share:.0%} of the pairs of {LEAST_WORDS} words or more, from which a "
        f"model learns to copy. {CHOOSE} If the columns are right, data.drop_copies = true leaves such pairs out."
    )


def _no_letters(pairs: Sequence[Pair]) -> str | None:
    """Warns of numbers beside sentences. Numbers beside number words are a translation task of their own."""
    for side, name in enumerate(SIDES):
        share = sum(not any(map(str.isalpha, pair[side])) for pair in pairs) / len(pairs)
        others = [re.findall(r"[^\W\d_]+", pair[1 - side]) for pair in pairs]
        different = len({word for words in others for word in words})
        # Number words consist of fewer than 100 different words, or are written as one word. The share is below 0.02 in
        # good text.
        if share > 0.8 and different >= 200 and sum(map(len, others)) >= 2 * len(pairs):
            example = next(pair[side] for pair in pairs if not any(map(str.isalpha, pair[side])))
            return (
                f"{share:.0%} of the {name} have no letters (for example {example[:40]!r}), so they are numbers and "
                f"not sentences. {CHOOSE}"
            )
    return None


def _one_text(pairs: Sequence[Pair]) -> str | None:
    for side, name in enumerate(SIDES):
        text, count = Counter(pair[side] for pair in pairs).most_common(1)[0]
        if count > 0.5 * len(pairs):  # below 0.02 in good text
            return (
                f"{count / len(pairs):.0%} of the {name} are the same text ({text[:40]!r}), so this is a column of "
                f"labels and not of sentences. {CHOOSE}"
            )
    return None


def _exchanged(part: UsedPart, pairs: Sequence[Pair], config: DataConfig) -> str | None:
    first, second = config.source_language[:2].lower(), config.target_language[:2].lower()
    if first == second or not {first, second} <= FREQUENT.keys():
        return None
    words = [Counter(re.findall(r"\w+", " ".join(pair[side] for pair in pairs).casefold())) for side in (0, 1)]

    def clearly(side: int, language: str, other: str) -> bool:
        mine, theirs = (sum(words[side][word] for word in FREQUENT[name]) for name in (language, other))
        return mine > LEAST_PAIRS // 2 and mine > 5 * theirs

    if not (clearly(0, second, first) and clearly(1, first, second)):
        return None
    return (
        f"its sources are in {second} and its targets in {first}, but the recipe has data.source_language = "
        f'"{config.source_language}" and data.target_language = "{config.target_language}". '
        + _how_to_exchange(part, first, second, config)
    )


def _how_to_exchange(part: UsedPart, first: str, second: str, config: DataConfig) -> str:
    """The advice for one part, whose sources are in `second`. If there are other parts, they are probably right, so
    only this part should be changed."""
    if config.mix:
        return "Set swapped = true for this part of data.mix, or remove it there."
    if is_data_set(part.name):
        return (
            "So the columns of the data set have each other's language: choose other columns (data.source_language and "
            "data.target_language) or another data set."
        )
    if len(config.train) > 1:
        return "Exchange its sources and its targets."
    exchange = "exchange data.train and data.train_target"
    if not config.train_target:
        exchange = f"--set data.source_column={config.target_column} --set data.target_column={config.source_column}"
    return (
        f"To train {second} -> {first}: {_languages(second, first)}. "
        f"To train {first} -> {second}: {_languages(first, second)}, and {exchange}."
    )


def _languages(source: str, target: str) -> str:
    """Options that state the languages, whatever the names of the files say."""
    return f"--set data.source_language={source} --set data.target_language={target}"


def _misfit(pairs: Sequence[Pair], given: Tokenizer) -> str | None:
    """Warns of a vocabulary that lacks the characters or the words of the text."""
    for side, name in enumerate(SIDES):
        tokenizer = given.target if side else given
        sentences = [pair[side] for pair in pairs[:PAIRS_PER_BLOCK]]
        # Names often become single letters, in any vocabulary: so only words without capitals are examined.
        words = [" ".join(filter(str.islower, sentence.split())) for sentence in sentences]
        missing = _share(tokenizer, sentences, _begins_missing)
        letters = _share(tokenizer, words, _is_letter)
        if missing > 0.02:  # at most 0.005 for text in the languages of the vocabulary
            what = f"{missing:.0%} of the characters of the {name} are not in the vocabulary"
        # At most 0.15 for text in the languages of the vocabulary, at least 0.21 for other text. A small vocabulary has
        # few words of any text.
        elif letters > (0.18 if given.vocab_size >= 4000 else 0.5):
            what = f"{letters:.0%} of the letters of the {name} become tokens of one letter in the vocabulary"
        else:
            continue
        return (
            f"{what}, which was learnt from other text. Let the run learn its own: leave tokenizer.model out, or set "
            'it to "none"; with --init-from (training.init_from) add --own-vocabulary.'
        )
    return None


def _share(tokenizer: Tokenizer, texts: Sequence[str], counts: Callable[[Tokenizer, int], bool]) -> float:
    """The number of tokens for which `counts` is true, divided by the number of characters that are not white space;
    0 for too little text."""
    characters = sum(len("".join(text.split())) for text in texts)
    if characters < LEAST_CHARACTERS:
        return 0.0
    found = Counter(token for ids in tokenizer.encode_batch(texts) for token in ids)
    return sum(count for token, count in found.items() if counts(tokenizer, token)) / characters


def _begins_missing(tokenizer: Tokenizer, token_id: int) -> bool:
    """Whether a token is an unknown character, or the first byte of a character that is spelled in bytes."""
    if token_id == UNK:
        return True
    return tokenizer.kind(token_id) == "byte" and not 0x80 <= int(tokenizer.token(token_id)[1:-1], 16) < 0xC0


def _is_letter(tokenizer: Tokenizer, token_id: int) -> bool:
    """Whether a token is one letter of an alphabet with capitals: in other scripts one letter may be a word."""
    letter = tokenizer.token(token_id).removeprefix("▁")
    return len(letter) == 1 and (letter.islower() or letter.isupper())

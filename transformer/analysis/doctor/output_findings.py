"""Findings in the translation of one sentence, and whether it depends on the source.

The decoder reads the same translation a second time, with another source: as many tokens, drawn at random from the
vocabulary. Half the sum of absolute differences of the two distributions over the next token, averaged over the rows,
says how much of the prediction depends on the source: 0 nothing, 1 all of it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from transformer.analysis.doctor.finding import Finding, Head
from transformer.analysis.trace import Trace
from transformer.config import EOS
from transformer.decoding.repetition import LONGEST_RUN
from transformer.decoding.translation import Hypothesis, Translation
from transformer.text.tokenizer import Tokenizer

# Predictions of the included checkpoints change by 0.6 to 1.0 for their examples, those of a decoder that ignores the
# source by 0.
LEAST_CHANGE = 0.05
# Entropy of the next token divided by log V. Label smoothing of 0.1 adds about 0.1; en-de has 0.1 to 0.25, an untrained
# model 0.9, and a model that has learnt only the frequencies of tokens 0.6 to 0.7.
UNCERTAIN = 0.5
REPEATS, LONGEST_REPEATED = 3, 8  # a loop repeats up to 8 tokens at least 3 times,
FEWEST_REPEATED = 4  # in all at least 4 tokens: "no, no, no" and "..." are not loops


def other_source(source_ids: Sequence[int], tokenizer: Tokenizer) -> list[int]:
    """Another source with as many tokens, and </s> at its end; always the same for the same source."""
    own = set(source_ids)
    others = [id for id in tokenizer.ordinary_ids if id not in own]
    drawn = np.random.default_rng(0).choice(others or [EOS], len(source_ids) - 1)
    return [*drawn.tolist(), EOS]


def examine_output(translation: Translation, hypothesis: Hypothesis, found: Trace, other: Trace) -> list[Finding]:
    """Findings in a translation; both traces have the logits, `other` those for `other_source`."""
    logits = [torch.tensor(each["logits"], dtype=torch.float64) for each in (found, other)]  # (T, V)
    own, with_other = (each.softmax(dim=-1).numpy() for each in logits)  # (T, V)
    return [
        *_ignored(own, with_other),
        *_ended(hypothesis),
        *_loop(translation, hypothesis),
        *_uncertainty(own),
    ]


def _ignored(own: np.ndarray, with_other: np.ndarray) -> Iterator[Finding]:
    change = float(np.abs(own - with_other).sum(axis=-1).mean() / 2)
    if change < LEAST_CHANGE:
        yield Finding(
            "ignores_source",
            "The decoder ignores the source",
            f"With another source of the same length, the predictions change by only {change:.1%}.",
            "The model has not learned to translate. Train longer, and check whether encoder-decoder attention is "
            "flat.",
            Head("cross", 0, 0),
        )


def _ended(hypothesis: Hypothesis) -> Iterator[Finding]:
    if not hypothesis.text.strip():
        yield Finding(
            "empty",
            "The translation is empty",
            f"It has {len(hypothesis.ids)} token{'s' if len(hypothesis.ids) > 1 else ''} and no text.",
            "The model was not trained on such sentences, or ends too early: see the probability of </s> at step 1.",
        )
    if hypothesis.is_loop:
        yield Finding(
            "cut",
            "The translation was stopped",
            f"After {len(hypothesis.ids)} tokens: the decoder repeated one token {LONGEST_RUN} times or more.",
            "The model was not trained on such sentences. Type another, or train on such sentences.",
        )
    elif hypothesis.at_limit:
        yield Finding(
            "cut",
            "The translation is cut off",
            f"The decoder reached the length limit of {len(hypothesis.ids)} tokens without predicting </s>.",
            "The model was trained too little, or on other sentences than this.",
        )


def _loop(translation: Translation, hypothesis: Hypothesis) -> Iterator[Finding]:
    begin, length, times = longest_loop([id for id in hypothesis.ids if id != EOS])
    if times and not _is_from_source(hypothesis.ids[begin : begin + length], times, translation.source_ids):
        repeated = "".join(hypothesis.tokens[begin : begin + length]).replace("▁", " ").strip()
        yield Finding(
            "loop",
            "The translation repeats itself",
            f"“{repeated}” occurs {times} times in a row, and nothing in the source is repeated as often.",
            "The decoder attends to its own output. A beam search often avoids this; longer training helps most.",
        )


def _is_from_source(repeated: Sequence[int], times: int, source_ids: Sequence[int]) -> bool:
    """Whether the source has a loop too, repeats some tokens as often, or has these as often in any order."""
    source, counts = [id for id in source_ids if id != EOS], Counter(source_ids)
    as_often = longest_loop(source, fewest=1)[2] >= times or all(counts[id] >= times for id in repeated)
    return as_often or longest_loop(source)[2] > 0


def longest_loop(ids: Sequence[int], fewest: int = FEWEST_REPEATED) -> tuple[int, int, int]:
    """(begin, number of tokens, number of times) of the tokens that are repeated most often in a row, in all at least
    `fewest` tokens; 0 times: none."""
    best = (0, 0, 0)
    for length in range(1, LONGEST_REPEATED + 1):
        begin = 0
        while begin + length * REPEATS <= len(ids):
            times = 1
            while ids[begin + times * length : begin + (times + 1) * length] == ids[begin : begin + length]:
                times += 1
            if times >= REPEATS and times * length >= fewest and times > best[2]:
                best = (begin, length, times)
            begin += 1
    return best


def _uncertainty(own: np.ndarray) -> Iterator[Finding]:
    logs = np.log(own, where=own > 0, out=np.zeros_like(own))
    entropy = float(-(own * logs).sum(axis=-1).mean())
    if entropy > UNCERTAIN * np.log(own.shape[-1]):
        yield Finding(
            "hesitates",
            "The predictions are uncertain",
            f"Each step is as uncertain as a choice among {np.exp(entropy):,.0f} equally probable tokens of "
            f"{own.shape[-1]:,}.",
            "The model was trained too little, or on other sentences than this.",
        )

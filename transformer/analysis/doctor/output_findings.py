"""What can be seen in the translation of one sentence, and whether the source had any part in it.

The direct test: the decoder reads the same translation once more, beside another source of as many pieces, drawn at
random from the vocabulary. Half the sum of absolute differences of the two distributions over the next piece, mean over
the rows, says how much of the prediction hangs on the source: 0 nothing, 1 all of it.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from transformer.analysis.doctor.finding import Finding, Head
from transformer.analysis.trace import Trace
from transformer.config import EOS
from transformer.decoding.repetition import LONGEST_RUN
from transformer.decoding.translation import Hypothesis, Translation
from transformer.text.tokenizer import Tokenizer

# The checkpoints that ship change by 0.6 to 1.0 for their examples; a decoder that is cut off from its source by 0.
IGNORES = 0.05
# Entropy of the next piece over log V. Label smoothing of 0.1 costs about 0.1; en-de has 0.1 to 0.25, an untrained
# model 0.9, and one that knows only how frequent pieces are 0.6 to 0.7.
HESITATES = 0.5
REPEATS, LONGEST_REPEATED = 3, 8  # the same pieces so many times running, up to so many of them,
FEWEST_REPEATED = 4  # in all so many: "no, no, no" and "..." are no loops


def other_source(source_ids: Sequence[int], tokenizer: Tokenizer) -> list[int]:
    """Another source with as many pieces, the same one each time; </s> stays where it was."""
    own = set(source_ids)
    pieces = [id for id in tokenizer.ordinary_ids if id not in own]
    drawn = np.random.default_rng(0).choice(pieces or [EOS], len(source_ids) - 1)
    return [*drawn.tolist(), EOS]


def examine_output(translation: Translation, hypothesis: Hypothesis, found: Trace, other: Trace) -> list[Finding]:
    """Findings in a translation; both traces hold the logits, `other` beside `other_source`."""
    logits = [torch.tensor(each["logits"], dtype=torch.float64) for each in (found, other)]  # (T, V)
    own, beside = (each.softmax(dim=-1).numpy() for each in logits)  # (T, V)
    return [
        *_ignored(own, beside),
        *_ended(hypothesis),
        *_loop(translation, hypothesis),
        *_hesitation(own),
    ]


def _ignored(own: np.ndarray, beside: np.ndarray) -> Iterator[Finding]:
    change = float(np.abs(own - beside).sum(axis=-1).mean() / 2)
    if change < IGNORES:
        yield Finding(
            "ignores_source",
            "The decoder ignores the source",
            f"Beside another source of as many pieces, the predictions change by {change:.1%} only: the decoder writes "
            "what it would write anyway.",
            "It is a language model, not a translator. Train longer; then see whether encoder-decoder attention is "
            "still flat.",
            Head("cross", 0, 0),
        )


def _ended(hypothesis: Hypothesis) -> Iterator[Finding]:
    if not hypothesis.text.strip():
        yield Finding(
            "empty",
            "The translation is empty",
            f"It has {len(hypothesis.ids)} piece{'s' if len(hypothesis.ids) > 1 else ''} and no text.",
            "See how probable </s> is at the first step: it does not know such sentences, or learnt to end too soon.",
        )
    if hypothesis.is_loop:
        yield Finding(
            "cut",
            "The translation was stopped",
            f"After {len(hypothesis.ids)} pieces: the decoder repeated one token {LONGEST_RUN} times or more.",
            "The sentence is unlike what the model was trained on. Type another, or train on such sentences.",
        )
    elif not hypothesis.finished:
        yield Finding(
            "cut",
            "The translation is cut off",
            f"After {len(hypothesis.ids)} pieces, at the length limit, the decoder had not written its end sign.",
            "It does not know where to end: trained too little, or on other sentences than this.",
        )


def _loop(translation: Translation, hypothesis: Hypothesis) -> Iterator[Finding]:
    begin, length, times = longest_loop([id for id in hypothesis.ids if id != EOS])
    if times and not longest_loop([id for id in translation.source_ids if id != EOS])[2]:
        repeated = "".join(hypothesis.pieces[begin : begin + length]).replace("▁", " ").strip()
        yield Finding(
            "loop",
            "The translation goes round in circles",
            f"“{repeated}” stands in it {times} times running, and the source repeats nothing.",
            "The decoder attends to what it wrote and says it again. A beam often escapes; longer training helps most.",
        )


def longest_loop(ids: Sequence[int]) -> tuple[int, int, int]:
    """(where it begins, how many pieces are repeated, how many times) of what is repeated most; times 0: nothing is."""
    best = (0, 0, 0)
    for length in range(1, LONGEST_REPEATED + 1):
        begin = 0
        while begin + length * REPEATS <= len(ids):
            times = 1
            while ids[begin + times * length : begin + (times + 1) * length] == ids[begin : begin + length]:
                times += 1
            if times >= REPEATS and times * length >= FEWEST_REPEATED and times > best[2]:
                best = (begin, length, times)
            begin += 1
    return best


def _hesitation(own: np.ndarray) -> Iterator[Finding]:
    logs = np.log(own, where=own > 0, out=np.zeros_like(own))
    entropy = float(-(own * logs).sum(axis=-1).mean())
    if entropy > HESITATES * np.log(own.shape[-1]):
        yield Finding(
            "hesitates",
            "The decoder hardly knows what comes next",
            f"At each step it hesitates as if among {np.exp(entropy):,.0f} equally probable pieces of "
            f"{own.shape[-1]:,}.",
            "The model was trained too little, or this is nothing like what it was trained on.",
        )

"""Measures how well each cross-attention head of a checkpoint aligns words, against a gold alignment.

The decoder reads the gold translation (teacher forcing), so every head is measured on the words that people have
aligned. In both shifts, each head of each layer links every word of the target to the word of the source that has the
largest weight (word_attention.py).

A rate is valid only for the text on which it was measured. To show how far this text is from the training text, words
per sentence, tokens per word (more in an unusual text) and the loss are measured, too. If a text like that of training
is given (`home`), they are also measured on it.
"""

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from transformer.analysis.alignment.alignment_error_rate import Counts, chance, diagonal, strongest
from transformer.analysis.alignment.alignment_map import (
    AlignmentMap,
    Gold,
    Head,
    ShiftRates,
    TextMeasures,
    weights_checksum,
)
from transformer.analysis.alignment.gold_alignments import GoldPair, GoldText
from transformer.analysis.alignment.word_attention import SHIFTS, Sentence, Shift, sentence, word_weights, written
from transformer.analysis.trace import trace_batch
from transformer.checkpoint.checkpoint_file import Checkpoint
from transformer.config import EOS
from transformer.data.batches import collate
from transformer.errors import CorpusError
from transformer.files.checksum import sha256_of
from transformer.files.untrusted_values import finite_number
from transformer.model import Transformer
from transformer.model.attention_kinds import SITES
from transformer.text.normalisation import normalise
from transformer.text.tokenizer import Tokenizer
from transformer.training.loss import mean_loss

AT_ONCE = 16  # pairs in one pass; not more, because the weights of all heads of all layers are kept
TOGETHER = 6  # the means of the best 1, 2, ... up to this many heads are measured
_WORD = re.compile(r"\w+|[^\w\s]+")

Advance = Callable[[int, int], None]
EncodedPair = tuple[GoldPair, Sentence, Sentence]


def measure(
    checkpoint: Checkpoint,
    gold: GoldText,
    home: tuple[str, Sequence[tuple[str, str]]] | None = None,
    advance: Advance = lambda done, total: None,
) -> AlignmentMap:
    """Measures all heads, in both shifts.

    Args:
        home: the name and the pairs of a text like that of training.
        advance: called after each batch with the number of pairs done and the total, for all passes.

    Raises:
        CorpusError: all pairs with sure links are too long for the model.
    """
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    every = [(pair, *_encoded(pair, tokenizer)) for pair in gold.pairs]
    most = model.config.max_positions
    encoded = [each for each in every if max(len(each[1].ids), len(each[2].ids)) < most]  # </s> is added
    if not any(pair.sure for pair, _, _ in encoded):
        raise CorpusError(
            f"{gold.file}: every pair with a sure link has {most:,} tokens or more on a side, too many for this model. "
            "Give shorter pairs, or a model with more positions."
        )
    kept = [pair for pair, _, _ in encoded]

    def heads_and_mean(weights: np.ndarray, shift: Shift) -> np.ndarray:
        mean = weights.mean(axis=1, keepdims=True, dtype=np.float64)  # (L, 1, T, S)
        return np.concatenate([weights, mean], axis=1)  # (L, H + 1, T, S)

    def best_together(weights: np.ndarray, shift: Shift) -> np.ndarray:
        # the argmax of a sum of heads is that of their mean
        return np.stack([weights[head] for head in best[shift]]).cumsum(axis=0)  # (n, T, S)

    heads = _count(model, encoded, heads_and_mean, lambda done: advance(done, 2 * len(encoded)))
    best = {shift: _best(counts.aer[:, :-1]) for shift, counts in heads.items()}
    together = _count(model, encoded, best_together, lambda done: advance(len(encoded) + done, 2 * len(encoded)))
    at_home = measure_text(model, tokenizer, *home) if home else None
    valid_loss = finite_number(checkpoint.metrics.get("valid_loss"))
    return AlignmentMap(
        weights_sha256=weights_checksum(checkpoint.path),
        gold=Gold(
            name=gold.file.name,
            sha256=sha256_of(gold.file),
            swapped=gold.swapped,
            pairs=len(kept),
            left_out=len(gold.pairs) - len(kept),
            sure=sum(len(pair.sure) for pair in kept),
            possible=sum(len(pair.possible) for pair in kept),
        ),
        predicts=_shift_rates(heads["predicts"], best["predicts"], together["predicts"]),
        reads=_shift_rates(heads["reads"], best["reads"], together["reads"]),
        diagonal=diagonal(kept),
        chance=chance(kept),
        text=measure_text(
            model, tokenizer, gold.file.name, [(source.text, target.text) for _, source, target in encoded]
        ),
        home=at_home if at_home and at_home.pairs else None,
        valid_loss=None if valid_loss is None or valid_loss < 0 else valid_loss,
    )


def measure_text(model: Transformer, tokenizer: Tokenizer, name: str, pairs: Sequence[tuple[str, str]]) -> TextMeasures:
    """Lengths, tokens and loss of a text, without pairs too long for the model."""
    ids = [(text, tokenizer.encode(text[0]), tokenizer.target.encode(text[1])) for text in pairs]
    fit = [each for each in ids if max(len(each[1]), len(each[2])) < model.config.max_positions]
    batches = (
        collate([source for _, source, _ in part], [target for _, _, target in part])
        for part in _parts(sorted(fit, key=lambda each: len(each[2])))
    )
    words = [sum(len(_WORD.findall(text[side])) for text, _, _ in fit) for side in (0, 1)]
    count = max(len(fit), 1)
    return TextMeasures(
        name=name,
        pairs=len(fit),
        source_words=words[0] / count,
        target_words=words[1] / count,
        source_tokens_per_word=sum(len(source) for _, source, _ in fit) / max(words[0], 1),
        target_tokens_per_word=sum(len(target) for _, _, target in fit) / max(words[1], 1),
        loss=mean_loss(model, batches).loss if fit else 0.0,
    )


def seems_swapped(checkpoint: Checkpoint, gold: GoldText, found: TextMeasures) -> bool:
    """Whether `gold` has a lower loss per token with source and target swapped than as read (`found`)."""
    turned = [(normalise(written(pair.target)), written(pair.source)) for pair in gold.pairs]
    other = measure_text(checkpoint.model, checkpoint.tokenizer, found.name, turned)
    return other.pairs > 0 and other.loss < found.loss


def _encoded(pair: GoldPair, tokenizer: Tokenizer) -> tuple[Sentence, Sentence]:
    return sentence([normalise(word) for word in pair.source], tokenizer), sentence(pair.target, tokenizer.target)


def _parts(items: Sequence) -> Iterator[Sequence]:
    return (items[start : start + AT_ONCE] for start in range(0, len(items), AT_ONCE))


def _count(
    model: Transformer,
    encoded: Sequence[EncodedPair],
    select: Callable[[np.ndarray, Shift], np.ndarray],
    done: Callable[[int], None],
) -> dict[Shift, Counts]:
    """For each shift, counts the links of `select(weights)` (..., T, S) from the weights of all heads (L, H, T, S)."""
    counts = {shift: Counts() for shift in SHIFTS}
    for (pair, source, target), weights in _attention(model, encoded, done):
        for shift in SHIFTS:
            words, between = word_weights(select(weights, shift), source, target, shift)  # (N), (..., N, S')
            counts[shift].add(pair, words, strongest(between))
    return counts


def _attention(
    model: Transformer, encoded: Sequence[EncodedPair], done: Callable[[int], None]
) -> Iterator[tuple[EncodedPair, np.ndarray]]:
    """Each pair with its encoder-decoder attention (L, H, T, S), padding included."""
    sites = [f"{SITES['cross'].format(layer)}.weights" for layer in range(model.config.decoder_layers)]
    ready = 0
    for part in _parts(sorted(encoded, key=lambda each: len(each[2].ids))):
        sources, targets = ([(*each[side].ids, EOS) for each in part] for side in (1, 2))
        for each, found in zip(part, trace_batch(model, sources, targets, sites), strict=True):
            yield each, np.stack([found[site] for site in sites])
        ready += len(part)
        done(ready)


def _best(aer: np.ndarray) -> list[Head]:
    """The heads with the lowest error rates, the lowest first; `aer` is (L, H)."""
    order = np.argsort(aer, axis=None, kind="stable")[:TOGETHER]
    return [(int(place) // aer.shape[1], int(place) % aer.shape[1]) for place in order]


def _shift_rates(counts: Counts, best: list[Head], together: Counts) -> ShiftRates:
    return ShiftRates(
        aer=counts.aer[:, :-1].tolist(),
        precision=counts.precision[:, :-1].tolist(),
        recall=counts.recall[:, :-1].tolist(),
        layers=counts.aer[:, -1].tolist(),
        best=best,
        together=together.aer.tolist(),
    )

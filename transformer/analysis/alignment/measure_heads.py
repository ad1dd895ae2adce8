"""A checkpoint and a gold alignment -> the map of its heads.

The gold translation is forced: the decoder reads it as it reads a target in training, and nothing is searched, so every
head is asked about the words that people have aligned. Then each layer and head, in both shifts, links every word of
the target to the word of the source that it looks at most (see words.py and error_rate.py).

A rate says how a head aligns *this* text. How far that is from what the model was trained on is measured as well: words
a sentence, pieces a word (a strange text falls into more of them), and the loss, beside the same of a text from home.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from transformer.analysis.alignment.alignment_error_rate import Counts, chance, diagonal, strongest
from transformer.analysis.alignment.alignment_map import (
    AlignmentMap,
    Gold,
    Head,
    Reading,
    TextMeasures,
    weights_checksum,
)
from transformer.analysis.alignment.gold_alignments import GoldPair
from transformer.analysis.alignment.word_attention import SHIFTS, Sentence, Shift, sentence, word_weights, written
from transformer.analysis.trace import trace_batch
from transformer.checkpoint.checkpoint_file import Checkpoint
from transformer.checkpoint.untrusted_config import finite_number
from transformer.config import EOS
from transformer.data.batches import collate
from transformer.errors import CorpusError
from transformer.model import Transformer
from transformer.model.attention_kinds import SITES
from transformer.text.normalisation import normalise
from transformer.text.tokenizer import Tokenizer
from transformer.training.loss import mean_loss

AT_ONCE = 16  # pairs in one pass: the weights of all heads of all layers are kept
TOGETHER = 6  # of so many of the best heads the mean is tried
_WORD = re.compile(r"\w+|[^\w\s]+")

Advance = Callable[[int, int], None]
Asked = tuple[GoldPair, Sentence, Sentence]


def measure(
    checkpoint: Checkpoint,
    data: Path,
    pairs: Sequence[GoldPair],
    *,
    swapped: bool,
    home: tuple[str, Sequence[tuple[str, str]]] | None,
    advance: Advance = lambda done, total: None,
) -> AlignmentMap:
    """The map.

    Args:
        data: the file of `pairs`, and `swapped` as it was read.
        home: a text like that of training, its name and pairs of source and target.
        advance: told after each batch how many pairs are done, of how many, all passes counted.

    Raises:
        CorpusError: all pairs with sure links are too long for the model.
    """
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    every = [(pair, *_read(pair, tokenizer)) for pair in pairs]
    most = model.config.max_positions
    asked = [each for each in every if max(len(each[1].ids), len(each[2].ids)) < most]  # </s> comes to it
    if not any(pair.sure for pair, _, _ in asked):
        raise CorpusError(
            f"{data}: every pair with a sure link has {most:,} pieces or more on a side, too many for this model. "
            "Give shorter pairs, or a model with more positions."
        )
    kept = [pair for pair, _, _ in asked]
    heads = _heads(model, asked, lambda done: advance(done, 2 * len(asked)))
    best = {shift: _best(counts.aer) for shift, (counts, _) in heads.items()}
    together = _together(model, asked, best, lambda done: advance(len(asked) + done, 2 * len(asked)))
    valid_loss = finite_number(checkpoint.metrics.get("valid_loss"))
    return AlignmentMap(
        weights_sha256=weights_checksum(checkpoint.path),
        gold=Gold(
            name=data.name,
            sha256=hashlib.sha256(data.read_bytes()).hexdigest(),
            swapped=swapped,
            pairs=len(kept),
            left_out=len(pairs) - len(kept),
            sure=sum(len(pair.sure) for pair in kept),
            possible=sum(len(pair.possible) for pair in kept),
        ),
        predicts=_reading(*heads["predicts"], best["predicts"], together["predicts"]),
        reads=_reading(*heads["reads"], best["reads"], together["reads"]),
        diagonal=diagonal(kept),
        chance=chance(kept),
        text=measure_text(model, tokenizer, data.name, [(source.text, target.text) for _, source, target in asked]),
        home=measure_text(model, tokenizer, *home) if home else None,
        valid_loss=None if valid_loss is None or valid_loss < 0 else valid_loss,
    )


def measure_text(model: Transformer, tokenizer: Tokenizer, name: str, pairs: Sequence[tuple[str, str]]) -> TextMeasures:
    """Lengths, pieces and loss of a text; pairs too long for the model are left out."""
    ids = [(text, tokenizer.encode(text[0]), tokenizer.encode(text[1])) for text in pairs]
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
        source_pieces=sum(len(source) for _, source, _ in fit) / max(words[0], 1),
        target_pieces=sum(len(target) for _, _, target in fit) / max(words[1], 1),
        loss=mean_loss(model, batches).loss if fit else 0.0,
    )


def seems_swapped(checkpoint: Checkpoint, pairs: Sequence[GoldPair], found: TextMeasures) -> bool:
    """Whether the model finds the text of `pairs`, of which `found` was measured, more probable the other way round."""
    turned = [(normalise(written(pair.target)), written(pair.source)) for pair in pairs]
    other = measure_text(checkpoint.model, checkpoint.tokenizer, found.name, turned)
    return other.pairs > 0 and other.loss < found.loss


def _read(pair: GoldPair, tokenizer: Tokenizer) -> tuple[Sentence, Sentence]:
    return sentence([normalise(word) for word in pair.source], tokenizer), sentence(pair.target, tokenizer)


def _parts(items: Sequence) -> Iterator[Sequence]:
    return (items[start : start + AT_ONCE] for start in range(0, len(items), AT_ONCE))


def _heads(
    model: Transformer, asked: Sequence[Asked], done: Callable[[int], None]
) -> dict[Shift, tuple[Counts, Counts]]:
    """For each shift the counts of all heads (L, H), and those of the mean of the heads of each layer (L)."""
    layers, heads = model.config.decoder_layers, model.config.heads
    counts = {shift: (Counts.none((layers, heads)), Counts.none((layers,))) for shift in SHIFTS}
    for (pair, source, target), weights in _attention(model, asked, done):
        for shift in SHIFTS:
            words, between = word_weights(weights, source, target, shift)  # (N), (L, H, N, S')
            counts[shift][0].add(pair, words, strongest(between))
            counts[shift][1].add(pair, words, strongest(between.mean(axis=1)))  # (L, N, S')
    return counts


def _together(
    model: Transformer, asked: Sequence[Asked], best: dict[Shift, list[Head]], done: Callable[[int], None]
) -> dict[Shift, Counts]:
    """For each shift the counts of the mean of its best heads: of the first, of the first two, ..."""
    counts = {shift: Counts.none((len(best[shift]),)) for shift in SHIFTS}
    for (pair, source, target), weights in _attention(model, asked, done):
        for shift in SHIFTS:
            chosen = np.stack([weights[layer, head] for layer, head in best[shift]])  # (n, T, S)
            words, between = word_weights(chosen.cumsum(axis=0), source, target, shift)  # (n, N, S'); n-fold means
            counts[shift].add(pair, words, strongest(between))
    return counts


def _attention(
    model: Transformer, asked: Sequence[Asked], done: Callable[[int], None]
) -> Iterator[tuple[Asked, np.ndarray]]:
    """Each pair with its encoder-decoder attention (L, H, T, S), padding among T and S."""
    sites = [f"{SITES['cross'].format(layer)}.weights" for layer in range(model.config.decoder_layers)]
    ready = 0
    for part in _parts(sorted(asked, key=lambda each: len(each[2].ids))):
        sources, targets = ([(*each[side].ids, EOS) for each in part] for side in (1, 2))
        for each, found in zip(part, trace_batch(model, sources, targets, sites), strict=True):
            yield each, np.stack([found[site] for site in sites])
        ready += len(part)
        done(ready)


def _best(aer: np.ndarray) -> list[Head]:
    """The heads of the lowest rates, (L, H), the lowest first."""
    order = np.argsort(aer, axis=None, kind="stable")[:TOGETHER]
    return [(int(place) // aer.shape[1], int(place) % aer.shape[1]) for place in order]


def _reading(heads: Counts, layers: Counts, best: list[Head], together: Counts) -> Reading:
    return Reading(
        aer=heads.aer.tolist(),
        precision=heads.precision.tolist(),
        recall=heads.recall.tolist(),
        layers=layers.aer.tolist(),
        best=best,
        together=together.aer.tolist(),
    )

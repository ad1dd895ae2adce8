"""Choosing among the hypotheses of a beam with a model of the other direction.

A translation that leaves a word out often has a high probability. But a model that translates back gives the missing
word a low probability. So the hypotheses y of a sentence x are ranked by log p(y | x), normalised by the length
penalty, plus a weight times the mean log p(x | y) per token of x: noisy channel reranking (Yee, Dauphin and Auli 2019,
arXiv:1908.05731) without its language model.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch.nn.utils.rnn import pad_sequence

from transformer.config import EOS, PAD, UNK, DecodingConfig
from transformer.decoding.hypotheses import check_score
from transformer.decoding.translation import Hypothesis, Translation
from transformer.decoding.translator import Translator
from transformer.errors import TranslationError
from transformer.model.forced_target import shifted_right, token_log_probabilities
from transformer.text.normalisation import clean

WEIGHT = 0.5  # chosen on validation text of en-de: pretrained/EXPERIMENTS.md
PAIRS_AT_ONCE = 64  # in one pass of the model of the other direction


@dataclass(frozen=True)
class Reranker:
    """Translates with one model, and ranks the hypotheses of each beam with the help of another.

    Attributes:
        reverse: translates from the target language to the source language.
        weight: of the mean log-probability that `reverse` gives; with 0 the order of the search stays.
    """

    translator: Translator
    reverse: Translator
    weight: float = WEIGHT

    def translate_each(
        self, sentences: Sequence[str], settings: DecodingConfig | None = None, *, batch_tokens: int = 4096
    ) -> list[Translation | TranslationError]:
        """As `Translator.translate_each`; a beam search keeps all its hypotheses."""
        settings = settings or self.translator.settings
        if settings.method == "beam":
            settings = replace(settings, n_best=settings.beam)
        found = self.translator.translate_each(sentences, settings, batch_tokens=batch_tokens)
        pairs = [
            (each.sentence, hypothesis.text)
            for each in found
            if isinstance(each, Translation)
            for hypothesis in each.hypotheses
        ]
        scores = iter(reverse_scores(self.reverse, pairs))
        return [
            ranked(each, [next(scores) for _ in each.hypotheses], self.weight)
            if isinstance(each, Translation)
            else each
            for each in found
        ]


def ranked(translation: Translation, scores: Sequence[float], weight: float = WEIGHT) -> Translation:
    """The translation with its hypotheses sorted by the sum of both scores, finished ones first.

    Args:
        scores: of each hypothesis, from `reverse_scores`.
    """
    if all(math.isinf(score) for score in scores):
        return translation
    sums = summed(translation.hypotheses, scores, weight)
    pairs = zip(translation.hypotheses, sums, strict=True)
    best_first = sorted(pairs, key=lambda pair: (pair[0].finished, pair[1]), reverse=True)
    return replace(translation, hypotheses=tuple(hypothesis for hypothesis, _ in best_first))


def summed(hypotheses: Sequence[Hypothesis], scores: Sequence[float], weight: float = WEIGHT) -> list[float]:
    """For each hypothesis the sum of its normalised score and its weighted score of the other direction."""
    return [
        hypothesis.normalised_score + (weight * score if weight else 0.0)
        for hypothesis, score in zip(hypotheses, scores, strict=True)
    ]


def reverse_scores(reverse: Translator, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """The mean log-probability of the tokens of each source, </s> included, given its translation.

    -inf if the model of the other direction cannot read the translation or write the source: one of them is empty or
    too long, or the source has characters that its vocabulary lacks.

    Args:
        reverse: translates from the language of the translations to that of the sources.
        pairs: (source, translation).

    Raises:
        TranslationError: a score is NaN.
    """
    scores = [-math.inf] * len(pairs)
    read = {i: ids for i, pair in enumerate(pairs) if (ids := _ids(reverse, *pair))}
    possible = sorted(read, key=lambda i: len(read[i][0]))  # similar lengths together: less padding
    for start in range(0, len(possible), PAIRS_AT_ONCE):
        batch = possible[start : start + PAIRS_AT_ONCE]
        for i, mean in zip(batch, _mean_log_probabilities(reverse, [read[i] for i in batch]), strict=True):
            check_score(mean)
            scores[i] = mean
    return scores


def _ids(reverse: Translator, source: str, translation: str) -> tuple[list[int], list[int]] | None:
    """(ids that the encoder of the reverse model reads, ids that its decoder has to write), </s> included; None if it
    cannot read or write them."""
    request = reverse.sources.read(translation, reverse.settings)
    written = [token.id for token in reverse.tokenizer.target.analyse(clean(source))]
    too_long = len(written) > reverse.max_length
    if not request.ids or request.problem or not written or too_long or UNK in written:
        return None
    return request.ids, [*written, EOS]


def _mean_log_probabilities(reverse: Translator, pairs: Sequence[tuple[list[int], list[int]]]) -> list[float]:
    """One pass with teacher forcing: for each pair the mean log-probability of the tokens that are written."""
    device = next(reverse.model.parameters()).device

    def padded(rows: Sequence[Sequence[int]], value: int = PAD) -> torch.Tensor:
        return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=value).to(device)

    source, target = padded([read for read, _ in pairs]), padded([written for _, written in pairs])  # (B, S), (B, T)
    with torch.inference_mode():
        logits = reverse.model(source, padded([shifted_right(written) for _, written in pairs]))  # (B, T, V)
    chosen = token_log_probabilities(logits.float(), target)  # (B, T)
    is_token = target != PAD
    means: list[float] = ((chosen * is_token).sum(dim=1) / is_token.sum(dim=1)).tolist()
    return means

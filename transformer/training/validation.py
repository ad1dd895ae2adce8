"""Scores of the model on the validation text: loss, accuracy, and BLEU and chrF of its translations."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch

from transformer.config import DecodingConfig, Recipe
from transformer.data.batches import Batch
from transformer.decoding.translator import Translator
from transformer.errors import TrainingError
from transformer.evaluation import exact_match, group_by_source, score
from transformer.model import Transformer
from transformer.text.spelling import WordList
from transformer.text.tokenizer import Tokenizer
from transformer.training.autocast import autocast
from transformer.training.divergence import RESUME_ADVICE
from transformer.training.loss import mean_loss


@dataclass(frozen=True)
class ValidationText:
    """The text that the model is evaluated on, the vocabulary of the run, and the words of its sources."""

    tokenizer: Tokenizer
    batches: Sequence[Batch]
    pairs: Sequence[tuple[str, str]]
    first_words: bool = False  # whether first words are read in lower case (`transformer/text/recasing.py`)
    words: WordList | None = None  # for the checkpoints


class Interrupted(Exception):
    """Validation was stopped before its end; it is repeated after resuming."""


def validate(
    model: Transformer,
    text: ValidationText,
    recipe: Recipe,
    update: int,
    stop: Callable[[], bool] = lambda: False,
) -> dict[str, float | str]:
    """Computes the teacher-forced loss of the text, and scores greedy translations of its first
    `validation_sentences` different sources with sacrebleu, each against all its references.

    Args:
        update: the number of updates made so far, for the message of TrainingError.

    Returns:
        `loss` (nats per token, without label smoothing), `perplexity` (per token), `accuracy` (share of tokens ranked
        first) and, unless validation_sentences is 0, `bleu`, `chrf` with their signatures and `exact_match` (share of
        outputs that equal a reference).

    Raises:
        Interrupted: `stop` returned True.
        TrainingError: the loss is NaN or infinite.
    """
    device = next(model.parameters()).device
    model.eval()

    def until_stopped() -> Iterator[Batch]:
        for batch in text.batches:
            if stop():
                raise Interrupted
            yield batch

    # Not compiled, see compilation.py. As a decorator, `set_stance` would import the compiler as soon as this module is
    # imported, which takes a second.
    with torch.compiler.set_stance("force_eager"), autocast(device, recipe.training.precision):
        mean = mean_loss(model, until_stopped())
    if not math.isfinite(mean.loss):
        raise TrainingError(
            f"The validation loss is NaN or infinite after update {update}: the weights have diverged. The last "
            f"saved state is good. {RESUME_ADVICE}"
        )
    scores: dict[str, float | str] = {
        "loss": mean.loss,
        "perplexity": mean.perplexity,
        "accuracy": mean.accuracy,
    }
    if recipe.training.validation_sentences:
        scores.update(_translate_and_score(model, text, recipe, stop))
    return scores


def _translate_and_score(
    model: Transformer, text: ValidationText, recipe: Recipe, stop: Callable[[], bool]
) -> dict[str, float | str]:
    grouped = group_by_source(text.pairs)
    sources = list(grouped)[: recipe.training.validation_sentences]
    outputs = greedy_translations(model, text, sources, recipe.decoding.max_extra_length, stop)
    references = [grouped[source] for source in sources]
    return {**score(outputs, references), "exact_match": exact_match(outputs, references)}


def greedy_translations(
    model: Transformer,
    text: ValidationText,
    sources: Sequence[str],
    max_extra_length: int,
    stop: Callable[[], bool] = lambda: False,
) -> list[str]:
    """What a model in eval mode writes for sources, each at most `max_extra_length` tokens longer than its source.

    Raises:
        Interrupted: `stop` returned True.
    """
    translator = Translator(model, text.tokenizer, first_words=text.first_words)
    greedy = DecodingConfig(method="greedy", max_extra_length=max_extra_length)
    outputs: list[str] = []
    for start in range(0, len(sources), 128):
        if stop():
            raise Interrupted
        part = translator.translate_sentences(sources[start : start + 128], greedy)
        outputs.extend(translation.text for translation in part)
    return outputs

"""Sample translations: a few sentences of the validation text, the same ones at each validation, translated greedily.

They show in words what a model has learnt, while BLEU is still near 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from transformer.evaluation import group_by_source
from transformer.model import Transformer
from transformer.training.validation import ValidationText, greedy_translations

QUANTILES = (0.25, 0.5, 0.75)  # of the sources sorted by length: a short, a medium and a long one


@dataclass(frozen=True)
class Sample:
    """A source of the validation text, its (first) reference, and what the model writes."""

    source: str
    reference: str
    translation: str


def sampled_pairs(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs that are shown, the shortest first; fewer if the text has fewer sources."""
    grouped = group_by_source(pairs)
    sources = sorted(grouped, key=len)
    chosen = dict.fromkeys(sources[int(share * len(sources))] for share in QUANTILES)
    return [(source, grouped[source][0]) for source in chosen]


def sample_translations(model: Transformer, text: ValidationText, max_extra_length: int) -> list[Sample]:
    """The samples of the validation text as the model translates them.

    Args:
        max_extra_length: how many tokens a translation may be longer than its source.
    """
    model.eval()
    pairs = sampled_pairs(text.pairs)
    outputs = greedy_translations(model, text, [source for source, _ in pairs], max_extra_length)
    return [Sample(*pair, output) for pair, output in zip(pairs, outputs, strict=True)]

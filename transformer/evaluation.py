"""How good translations are: corpus BLEU and chrF, as sacrebleu computes them on plain, detokenized text.

BLEU (Papineni et al. 2002) counts n-grams shared with references, and depends on how text is cut into words; so it is
computed nowhere here but in sacrebleu (Post 2018, arXiv:1804.08771), on what a reader would see, and is always
given with the signature that says how. Trap: BLEU of pieces, of lower-cased text, or of outputs that were
teacher-forced is another number (test_scores_are_those_of_sacrebleu_on_plain_text).

A source that stands in several rows of a corpus has that many right translations: it is translated once and
compared with all of them.
"""

from collections.abc import Iterable, Sequence

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from transformer.errors import HeadlightError


def group_by_source(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Source -> its references, in the order of their first appearance; the same reference twice counts once."""
    grouped: dict[str, dict[str, None]] = {}
    for source, target in pairs:
        grouped.setdefault(source, {})[target] = None
    return {source: list(targets) for source, targets in grouped.items()}


def score(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, float | str]:
    """Corpus BLEU and chrF2 (0 to 100), each with sacrebleu's signature.

    Args:
        hypotheses: one translation a sentence.
        references: for each of them, one or more right translations.

    Returns:
        `bleu`, `bleu_signature`, `chrf`, `chrf_signature`.

    Raises:
        HeadlightError: there is nothing to score.
    """
    if not hypotheses or len(hypotheses) != len(references) or not all(references):
        raise HeadlightError("Scores need at least one sentence, and at least one reference for each.")
    most = max(map(len, references))
    # sacrebleu wants the first references of all sentences, then the second ones, and None where there is none.
    streams = [[given[i] if i < len(given) else None for given in references] for i in range(most)]
    scores: dict[str, float | str] = {}
    for name, metric in (("bleu", BLEU()), ("chrf", CHRF())):
        scores[name] = metric.corpus_score(hypotheses, streams).score  # type: ignore[arg-type]  # None is allowed
        scores[f"{name}_signature"] = str(metric.get_signature())
    return scores

"""How good translations are: corpus BLEU and chrF, as sacrebleu computes them on plain, detokenized text.

BLEU (Papineni et al. 2002) counts n-grams shared with references, and depends on how text is split into words. So here
it is computed only by sacrebleu (Post 2018, arXiv:1804.08771) on plain text, and always given with its signature. Trap:
BLEU of tokens, of lower-cased text, or of teacher-forced outputs is another number
(test_scores_are_those_of_sacrebleu_on_plain_text).

A source that occurs in several rows of a corpus has several references: it is translated once and compared with all of
them.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from transformer.config import DecodingConfig
from transformer.decoding.translator import Translator
from transformer.errors import HeadlightError, TranslationError


def group_by_source(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Source -> its references, in the order of their first occurrence; equal references count once."""
    grouped: dict[str, dict[str, None]] = {}
    for source, target in pairs:
        grouped.setdefault(source, {})[target] = None
    return {source: list(targets) for source, targets in grouped.items()}


def score(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, float | str]:
    """Corpus BLEU and chrF2 (0 to 100), each with sacrebleu's signature.

    Args:
        hypotheses: one translation per sentence.
        references: for each of them, one or more right translations.

    Returns:
        `bleu`, `bleu_signature`, `chrf`, `chrf_signature`.

    Raises:
        HeadlightError: there is nothing to score.
    """
    if not hypotheses or len(hypotheses) != len(references) or not all(references):
        raise HeadlightError("Scores need at least one sentence, and at least one reference for each.")
    most = max(map(len, references))
    # sacrebleu takes the first references of all sentences, then the second ones, and None where one is missing.
    streams = [[given[i] if i < len(given) else None for given in references] for i in range(most)]
    scores: dict[str, float | str] = {}
    for name, metric in (("bleu", BLEU()), ("chrf", CHRF())):
        scores[name] = metric.corpus_score(hypotheses, streams).score  # type: ignore[arg-type]  # None is allowed
        scores[f"{name}_signature"] = str(metric.get_signature())
    return scores


def sentence_score(hypothesis: str, references: Sequence[str]) -> dict[str, float | str]:
    """BLEU and chrF2 of one sentence, with their signatures: names as in `score`.

    A sentence may have no 4-gram at all, so its BLEU counts only n-grams up to its own length (`eff:yes`). It is a
    rough number, and the mean over sentences is not the BLEU of a corpus.

    Raises:
        HeadlightError: there is no reference.
    """
    if not references:
        raise HeadlightError("Scores need at least one reference.")
    scores: dict[str, float | str] = {}
    for name, metric in (("bleu", BLEU(effective_order=True)), ("chrf", CHRF())):
        scores[name] = metric.sentence_score(hypothesis, references).score
        scores[f"{name}_signature"] = str(metric.get_signature())
    return scores


def as_text(result: dict[str, Any]) -> str:
    """The result of `evaluate` as text."""
    speed = result["sentences"] / max(result["seconds"], 1e-9)
    counted = f"{result['sentences']:,} sentences, {result['references']:,} references"
    lines = [
        f"BLEU {result['bleu']:.2f}    {result['bleu_signature']}",
        f"chrF {result['chrf']:.2f}    {result['chrf_signature']}",
        f"{counted}, {result['seconds']:.1f} s ({speed:.1f} a second)",
    ]
    if result["untranslated"]:
        lines.append(f"Without a translation, counted as empty: {result['untranslated']:,}. {result['problem']}")
    return "\n".join(lines)


def evaluate(
    translator: Translator,
    pairs: Iterable[tuple[str, str]],
    settings: DecodingConfig,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Translates every source of `pairs` once, and scores the outputs against all their references.

    Args:
        pairs: (source, reference).
        advance: called after each batch with the numbers of finished sources and of all.

    Returns:
        The result of `score`, and `sentences` (different sources), `references`, `untranslated` (sources without a
        translation, for example too long ones: they count as empty outputs), `problem` (the error of the first of them,
        or None), `seconds` (of translation alone).
    """
    grouped = group_by_source(pairs)
    sources = sorted(grouped, key=len)  # sentences of like length together: less padding
    outputs: list[str] = []
    problems: list[TranslationError] = []
    began = time.perf_counter()
    for start in range(0, len(sources), 256):
        found = translator.translate_each(sources[start : start + 256], settings)
        problems += [output for output in found if isinstance(output, TranslationError)]
        outputs += ["" if isinstance(output, TranslationError) else output.text for output in found]
        advance(len(outputs), len(sources))
    seconds = time.perf_counter() - began
    return {
        **score(outputs, [grouped[source] for source in sources]),
        "sentences": len(sources),
        "references": sum(map(len, grouped.values())),
        "untranslated": len(problems),
        "problem": str(problems[0]) if problems else None,
        "seconds": round(seconds, 3),
    }

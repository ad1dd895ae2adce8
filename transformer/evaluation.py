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
from dataclasses import dataclass
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from transformer.config import DecodingConfig
from transformer.decoding.reranking import Reranker
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
    streams = reference_streams(references)
    scores: dict[str, float | str] = {}
    for name, metric in (("bleu", BLEU()), ("chrf", CHRF())):
        scores[name] = metric.corpus_score(hypotheses, streams).score
        scores[f"{name}_signature"] = str(metric.get_signature())
    return scores


def reference_streams(references: Sequence[Sequence[str]]) -> list[Any]:
    """References of each sentence -> as sacrebleu takes them: the first references of all sentences, then the second
    ones, and so on; None where one is missing."""
    most = max(map(len, references))
    return [[given[i] if i < len(given) else None for given in references] for i in range(most)]


def exact_match(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """The share of translations that equal a reference."""
    return sum(one in allowed for one, allowed in zip(hypotheses, references, strict=True)) / len(hypotheses)


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
    counts = {"sentence": result["sentences"], "reference": result["references"]}
    counted = ", ".join(f"{count:,} {name}{'' if count == 1 else 's'}" for name, count in counts.items())
    lines = [
        f"BLEU {result['bleu']:.2f}    {result['bleu_signature']}",
        f"chrF {result['chrf']:.2f}    {result['chrf_signature']}",
        f"exact match {result['exact_match']:.1%}",
        f"{counted}, {result['seconds']:.1f} s ({speed:.1f} a second)",
    ]
    if result["untranslated"]:
        lines.append(untranslated_text(result["untranslated"], result["problem"]))
    return "\n".join(lines)


def untranslated_text(count: int, problem: str) -> str:
    """How many sources have no translation; `problem` is the error of the first of them."""
    return f"Without a translation, counted as empty: {count:,}. {problem}"


@dataclass(frozen=True)
class Outputs:
    """The translations of a test set by a model.

    Attributes:
        texts: source -> its translation; "" where there is none.
        problems: why sources have no translation, for example because they are too long.
        seconds: of translation alone.
    """

    texts: dict[str, str]
    problems: tuple[str, ...]
    seconds: float


def translate_sources(
    translator: Translator | Reranker,
    pairs: Iterable[tuple[str, str]],
    settings: DecodingConfig,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> Outputs:
    """Translates every source of `pairs` once.

    Args:
        pairs: (source, reference).
        advance: called after each batch with the number of finished sources and the number of all sources.
    """
    sources = sorted(group_by_source(pairs), key=len)  # sentences of similar length together: less padding
    texts = dict[str, str]()
    problems = list[str]()
    began = time.perf_counter()
    for start in range(0, len(sources), 256):
        some = sources[start : start + 256]
        for source, output in zip(some, translator.translate_each(some, settings), strict=True):
            if isinstance(output, TranslationError):
                problems.append(str(output))
            texts[source] = "" if isinstance(output, TranslationError) else output.text
        advance(len(texts), len(sources))
    return Outputs(texts, tuple(problems), time.perf_counter() - began)


def score_outputs(outputs: Outputs, pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Compares the translation of every source with all its references.

    Returns:
        The result of `score`, and `exact_match` (share of outputs that equal a reference), `sentences` (different
        sources), `references`, `untranslated` (sources without a translation: they count as empty outputs), `problem`
        (the error of the first of them, or None), `seconds`.
    """
    grouped = group_by_source(pairs)
    texts, references = [outputs.texts[source] for source in grouped], list(grouped.values())
    return {
        **score(texts, references),
        "exact_match": exact_match(texts, references),
        "sentences": len(grouped),
        "references": sum(map(len, references)),
        "untranslated": len(outputs.problems),
        "problem": outputs.problems[0] if outputs.problems else None,
        "seconds": round(outputs.seconds, 3),
    }


def evaluate(
    translator: Translator | Reranker,
    pairs: Iterable[tuple[str, str]],
    settings: DecodingConfig,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Translates every source of `pairs` once, and scores the outputs against all their references: the result of
    `score_outputs`."""
    pairs = list(pairs)
    return score_outputs(translate_sources(translator, pairs, settings, advance), pairs)

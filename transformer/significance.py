"""Whether one model is better than another, or was only lucky with the test set: paired bootstrap resampling.

The test set is drawn again 1,000 times, with replacement, and both models are scored on each draw (Koehn 2004,
aclanthology.org/W04-3250). p is the probability of a difference at least as large as the measured one between models
that are equally good. sacrebleu computes it, on plain text: so models with different tokenizers may be compared.
"""

from collections.abc import Sequence
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest

from transformer.evaluation import reference_streams

SIGNIFICANT = 0.05  # a p below it is called significant


def paired_bootstrap(
    ours: Sequence[str], theirs: Sequence[str], references: Sequence[Sequence[str]]
) -> dict[str, dict[str, float | str]]:
    """Compares two translations of the same sentences.

    Args:
        ours, theirs: one translation per sentence each.
        references: for each sentence, one or more right translations.

    Returns:
        For `bleu` and `chrf`: `ours` and `theirs` (the scores), `ours_interval` and `theirs_interval` (half of the 95 %
        confidence interval), `p`, and the `signature` of sacrebleu.
    """
    systems: list[tuple[str, Sequence[str]]] = [("theirs", theirs), ("ours", ours)]  # the first one is the baseline
    test = PairedTest(systems, {"bleu": BLEU(), "chrf": CHRF()}, reference_streams(references), "bs")  # bootstrap
    signatures, scores = test()
    compared: dict[str, dict[str, float | str]] = {}
    for name, metric in zip(("bleu", "chrf"), signatures, strict=True):
        baseline, system = (found for found in scores[metric] if not isinstance(found, str))
        compared[name] = {
            "ours": float(system.score),
            "theirs": float(baseline.score),
            "ours_interval": float(system.ci or 0.0),
            "theirs_interval": float(baseline.ci or 0.0),
            # Trap: for equal scores sacrebleu gives the smallest p, though every difference is at least 0
            # (test_a_model_is_as_good_as_itself).
            "p": 1.0 if system.score == baseline.score else float(system.p_value or 0.0),
            "signature": str(signatures[metric]),
        }
    return compared


def comparison_text(compared: dict[str, dict[str, Any]], other: str) -> str:
    """The result of `paired_bootstrap` as text; `other` is the name of the other model."""
    lines = [f"Against {other}, with 95 % intervals, by paired bootstrap resampling:"]
    for name, title in (("bleu", "BLEU"), ("chrf", "chrF")):
        found = compared[name]
        verdict = f"p = {found['p']:.3f}, "
        if found["ours"] == found["theirs"]:
            verdict += "no difference"
        elif found["p"] >= SIGNIFICANT:
            verdict += "which may be chance"
        else:
            verdict += f"significantly {'better' if found['ours'] > found['theirs'] else 'worse'}"
        lines.append(
            f"{title} {found['ours']:.2f} ± {found['ours_interval']:.2f}    there {found['theirs']:.2f} ± "
            f"{found['theirs_interval']:.2f}    {verdict}    {found['signature']}"
        )
    return "\n".join(lines)

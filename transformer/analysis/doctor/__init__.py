"""The checkpoint doctor: problems of a model, found in its weights and in its computations for a sentence.

    translator = Translator.load("pretrained/en-de.safetensors")
    for finding in diagnose(translator, "Where is the station?"):
        print(finding.title, finding.says, finding.advice)

The number behind a finding is compared with a threshold. Each threshold is a named constant with its reason, chosen so
that a model that translates well has no findings (test_the_doctor_has_no_findings_for_included_checkpoints).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from transformer.analysis.doctor.attention_findings import examine_attention
from transformer.analysis.doctor.finding import Finding, Head, Name
from transformer.analysis.doctor.length_findings import Lengths, examine_lengths, trained_lengths
from transformer.analysis.doctor.output_findings import examine_output, other_source
from transformer.analysis.doctor.vocabulary_findings import examine_letters, never_learnt
from transformer.analysis.doctor.weight_findings import examine_weights
from transformer.analysis.trace import Trace, trace
from transformer.decoding.translation import Hypothesis, Translation
from transformer.decoding.translator import Translator
from transformer.errors import TranslationError
from transformer.files.untrusted_values import printable

__all__ = [
    "SITES", "CheckpointExamination", "Finding", "Head", "Name", "as_text", "diagnose", "examine", "examine_checkpoint",
]  # fmt: skip

SITES = ("*.self_attention.weights", "*.cross_attention.weights", "logits")


@dataclass(frozen=True)
class CheckpointExamination:
    """What is known about a checkpoint without a sentence.

    Attributes:
        findings: in its weights.
        unlearnt: ids of tokens that hardly occurred in training, as far as this can be known.
        lengths: of the training sentences.
    """

    findings: tuple[Finding, ...]
    unlearnt: frozenset[int]
    lengths: Lengths


def examine_checkpoint(translator: Translator) -> CheckpointExamination:
    """The part of an examination that is the same for every sentence."""
    recipe: Mapping[str, Any] | None = translator.checkpoint.recipe if translator.checkpoint else None
    metrics: Mapping[str, Any] = translator.checkpoint.metrics if translator.checkpoint else {}
    return CheckpointExamination(
        tuple(examine_weights(translator.model)),
        never_learnt(translator.model, translator.tokenizer, recipe),
        trained_lengths(metrics, recipe),
    )


def examine(
    translator: Translator,
    known: CheckpointExamination,
    translation: Translation,
    hypothesis: Hypothesis,
    own: Trace | None = None,
) -> tuple[Finding, ...]:
    """All findings for a sentence, the most serious first, from two probed passes: with its source, and with another.

    Args:
        own: the trace of the hypothesis at SITES, if the caller has it; None computes it.
    """
    model, tokenizer = translator.model, translator.tokenizer
    if any(finding.name == "not_finite" for finding in known.findings):
        return known.findings  # nothing that such weights compute is meaningful
    own = own or trace(model, translation.source_ids, hypothesis.ids, SITES, tokenizer.token)
    other_ids = other_source(translation.source_ids, tokenizer)
    other = trace(model, other_ids, hypothesis.ids, ("logits",), tokenizer.token)
    config = model.config
    return (
        *known.findings,
        *examine_output(translation, hypothesis, own, other),
        *examine_letters(translation, known.unlearnt),
        *examine_lengths(config, known.lengths, translation, hypothesis),
        *examine_attention(own, (config.encoder_layers, config.decoder_layers)),
    )


def diagnose(translator: Translator, sentence: str) -> tuple[Finding, ...]:
    """Translates one sentence and returns all findings.

    Raises:
        TranslationError: the sentence is empty, or too long for this model.
    """
    (translation,) = translator.translate_sentences([sentence])
    if not translation.hypotheses:
        raise TranslationError("There is nothing to translate: the sentence is empty. Type a sentence.")
    return examine(translator, examine_checkpoint(translator), translation, translation.hypotheses[0])


def as_text(findings: tuple[Finding, ...]) -> str:
    """The findings as text, a block for each."""
    blocks = [f"{finding.title}\n  {printable(finding.says)}\n  {finding.advice}" for finding in findings]
    return "\n\n".join(blocks) or "Nothing found."

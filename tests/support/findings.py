"""What the doctor is asked about, and its findings by name."""

from pathlib import Path

from transformer.analysis.doctor import Finding

PRETRAINED = Path(__file__).resolve().parents[2] / "pretrained"
LETTERS = "h e a d l i g h t"


def named(findings: tuple[Finding, ...]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}

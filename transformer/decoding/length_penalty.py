"""The length penalty: how hypotheses of different lengths are compared (paper, section 6.1).

A sum of log-probabilities falls with every token, so short hypotheses would win. Therefore sums are divided by a
penalty that grows with the length l (Wu et al. 2016, arXiv:1609.08144, equation 14):

    lp(l) = ((5 + l) / 6)^alpha      "paper"
    lp(l) = l^alpha                  "power", as in Hugging Face and fairseq
    lp(l) = 1                        "none"

l is the number of predicted tokens, with </s> and without <s> (Trap: other programs count differently and have other
scores. Test: test_length_penalties_have_the_values_worked_out_by_hand).
"""

from transformer.config import DecodingConfig


def length_penalty(length: int, settings: DecodingConfig) -> float:
    """lp(l) for a hypothesis of l = `length` >= 1 predicted tokens."""
    if settings.length_penalty == "paper":
        return ((5 + length) / 6) ** settings.alpha
    if settings.length_penalty == "power":
        return float(length) ** settings.alpha
    return 1.0


def length_limit(source_length: int, settings: DecodingConfig, max_positions: int) -> int:
    """How many tokens may be predicted, </s> included: `max_extra_length` more than the source has, </s> included.

    It is at most `max_positions`, because the decoder reads one token, at one position, to predict one.
    """
    return min(source_length + settings.max_extra_length, max_positions)


def formula(length: int, settings: DecodingConfig) -> str:
    """The penalty as a formula, e.g. "((5 + 7) / 6)^0.6"."""
    if settings.length_penalty == "paper":
        return f"((5 + {length}) / 6)^{settings.alpha:g}"
    if settings.length_penalty == "power":
        return f"{length}^{settings.alpha:g}"
    return "1"

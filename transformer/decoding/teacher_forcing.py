"""Teacher forcing: the probability of each token of a given translation.

The decoder reads <s> y_1 ... y_{n-1} and predicts y_1 ... y_n in one pass, as in training, without a search.
"""

from collections.abc import Sequence

import torch

from transformer.config import EOS, UNK, DecodingConfig
from transformer.decoding.hypotheses import check_score
from transformer.decoding.length_penalty import length_penalty
from transformer.decoding.translation import Hypothesis
from transformer.errors import TranslationError
from transformer.model import Transformer
from transformer.model.forced_target import shifted_right, token_log_probabilities
from transformer.text.normalisation import clean
from transformer.text.tokenizer import Tokenizer


def given(
    model: Transformer,
    tokenizer: Tokenizer,
    source_ids: list[int],
    target: str | Sequence[int],
    settings: DecodingConfig,
) -> Hypothesis:
    """The given translation as a hypothesis, </s> included.

    Args:
        source_ids: as the encoder reads them, </s> included.
        target: text, `clean`ed as targets in training, or ids without </s>.
        settings: of the length penalty in the normalised score.

    Raises:
        TranslationError: the translation is empty, too long, or has characters that the vocabulary lacks; or the score
            is NaN.
    """
    written = _written(tokenizer, target) if isinstance(target, str) else target
    if not written:
        raise TranslationError("There is nothing to force: the given translation is empty. Type a sentence.")
    if (wrong := next((id for id in written if not EOS < id < tokenizer.vocab_size), None)) is not None:
        raise TranslationError(f"A translation cannot have the id {wrong} in it: it may contain ordinary tokens only.")
    if len(written) + 1 > model.config.max_positions:
        raise TranslationError(
            f"The given translation has {len(written):,} tokens, and this model writes at most "
            f"{model.config.max_positions - 1:,}. Shorten it."
        )
    ids = (*written, EOS)
    device = next(model.parameters()).device
    with torch.no_grad():
        logits = model(torch.tensor([source_ids], device=device), torch.tensor([shifted_right(ids)], device=device))
    exact = logits[0].cpu().double()  # (T, V); on the CPU: Apple's GPU has no float64
    log_probabilities = token_log_probabilities(exact, torch.tensor(ids)).tolist()  # (T)
    score = sum(log_probabilities)
    check_score(score)
    return Hypothesis(
        ids=ids,
        tokens=tuple(tokenizer.token(id) for id in ids),
        log_probabilities=tuple(log_probabilities),
        score=score,
        normalised_score=score / length_penalty(len(ids), settings),
        text=tokenizer.decode(list(ids)),
        finished=True,
    )


def _written(tokenizer: Tokenizer, text: str) -> list[int]:
    """The ids of a text, without </s>. Raises TranslationError."""
    text = clean(text)
    tokens = tokenizer.target.analyse(text)
    if unknown := next((token for token in tokens if token.id == UNK), None):
        raise TranslationError(
            f"The vocabulary of this checkpoint has no token for {text[unknown.begin : unknown.end]!r}, so it cannot "
            "write that. Leave it out of the given translation."
        )
    return [token.id for token in tokens]

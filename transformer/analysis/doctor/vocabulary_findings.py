"""Letters that the vocabulary does not have, and tokens whose vectors were not learnt.

The vector of a token that did not occur in training is its initial vector plus a drift (from the softmax), which is the
same for all such tokens. After long training with label smoothing, the vectors of all such tokens shrink to one point.
Most of the 256 byte tokens are such tokens, so they show which of the two has happened: either their vectors are close
together, or, without the drift, they equal the vectors that the recipe's seed draws. If neither is found (unknown seed,
or the average of several runs), there is no finding.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from transformer.analysis.doctor.finding import Finding, listed
from transformer.decoding.translation import Translation
from transformer.model import Transformer
from transformer.model.positions import draw_normal
from transformer.text.tokenizer import Tokenizer

FEWEST_BYTES = 64  # byte tokens that are needed to estimate the vector of a token that was not learnt
# "Close together": the distance from the median vector of byte tokens, divided by the median of this distance for
# ordinary tokens. In en-de it is 0.01 to 0.11 for bytes and 0.7 or more for ordinary tokens, except a few rare letters.
CLOSE = 0.25
AS_DRAWN = 0.9  # cosine of bytes with their initial vectors; of unrelated vectors it is 0 ± 1/sqrt(d_model)
FARTHER = 3.0  # a token is learnt if its 1 - cosine is this many times that of bytes (after 300 updates: 5 or more)
MOST_SHOWN = 8  # letters in a finding


@torch.inference_mode()
def never_learnt(model: Transformer, tokenizer: Tokenizer, recipe: Mapping[str, Any] | None) -> frozenset[int]:
    """The tokens whose vectors in the encoder have hardly changed in training; empty if that cannot be determined."""
    weight = model.encoder.embedding.tokens.weight.float().cpu()  # (V, D)
    kinds = [tokenizer.kind(id) for id in range(tokenizer.vocab_size)]
    is_byte = torch.tensor([kind == "byte" for kind in kinds])
    is_ordinary = torch.tensor([kind == "ordinary" for kind in kinds])
    if int(is_byte.sum()) < FEWEST_BYTES or not is_ordinary.any():
        return frozenset()
    left = weight - weight[is_byte].median(dim=0).values  # (V, D)
    away = left.norm(dim=1)  # (V)
    usual = float(away[is_ordinary].median())
    if float(away[is_byte].median()) < CLOSE / 2 * usual:  # clearly close together
        found = away < CLOSE * usual
    else:
        drawn = _drawn(model, recipe)
        if drawn is None:
            return frozenset()
        alike = torch.nn.functional.cosine_similarity(left, drawn, dim=1)  # (V)
        untouched = float(alike[is_byte].median())
        if untouched < AS_DRAWN:
            return frozenset()
        found = 1 - alike < FARTHER * (1 - untouched)
    return frozenset(torch.nonzero(found & (is_byte | is_ordinary)).flatten().tolist())


def _drawn(model: Transformer, recipe: Mapping[str, Any] | None) -> torch.Tensor | None:
    """The initial embedding (V, D), the first tensor that the recipe's seed draws; None if the seed is unknown."""
    training = (recipe or {}).get("training")
    seed = training.get("seed") if isinstance(training, dict) else None
    if type(seed) is not int or not 0 <= seed < 2**32:
        return None
    chance = torch.Generator().manual_seed(seed)  # a generator of its own, because threads share the global one
    return draw_normal(torch.empty(model.encoder.embedding.tokens.weight.shape), model.config, chance)  # (V, D)


def examine_letters(translation: Translation, unlearnt: frozenset[int]) -> Iterator[Finding]:
    """Findings in the tokens of a sentence; `unlearnt`: the result of `never_learnt`."""
    tokens = [token for token in translation.source_tokens if token.kind != "control" and token.text.strip("▁")]
    strange = [token for token in tokens if token.kind in ("byte", "unknown")]
    if strange:
        letters = list(dict.fromkeys(translation.source[token.begin : token.end] for token in strange))
        quoted = listed([f"“{letter}”" for letter in letters if letter], MOST_SHOWN)
        unknown = any(token.kind == "unknown" for token in strange)
        count = f"{len(strange)} byte{'s' if len(strange) > 1 else ''}"
        instead = "<unk> instead, the same token for each" if unknown else f"{count} instead"
        never = sum(token.id in unlearnt for token in strange)
        untouched = f", of which {never} hardly occurred in training" if never else ""
        what = "The vocabulary has none of the letters of this sentence" if len(strange) == len(tokens) else (
            "The vocabulary lacks letters of this sentence"
        )  # fmt: skip
        yield Finding(
            "no_letters",
            what,
            f"It has no token for {quoted}: the model reads {instead}{untouched}.",
            "The translation of other words may suffer, too. Write it differently, or train on text that has them.",
        )
    met = [token for token in tokens if token.kind == "ordinary" and token.id in unlearnt]
    ordinary = list(dict.fromkeys(token.text for token in met))
    if ordinary:
        yield Finding(
            "unlearnt_tokens",
            "Tokens that hardly occurred in training",
            f"{listed([f'“{token}”' for token in ordinary], MOST_SHOWN)}: in the vocabulary, but with vectors like "
            "those of tokens that do not occur in training.",
            "The model has not learned their meaning. Write it differently.",
        )

"""Letters that the vocabulary does not have, and pieces whose vectors were never learnt.

A piece that no training sentence had keeps the vector that it was drawn with, up to a drift that all such pieces share
(the softmax pushes them all alike), or, after long training with label smoothing, they have all shrunk to one point.
Most of the 256 bytes of a vocabulary are such pieces, so they show which of the two it is: either they lie close
together, or what is left of them without their drift is what the recipe's seed draws. Where it is neither (nobody knows
the seed, or it is the mean of several runs), nothing is said.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from transformer.analysis.doctor.finding import Finding, listed
from transformer.decoding.translation import Translation
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer

FEWEST_BYTES = 64  # to know from them how pieces look that were never learnt
# "Close together": nearer than this share of how far pieces usually are. In en-de bytes lie at 0.01 to 0.11, pieces at
# 0.7 and more; a few letters that hardly occur lie among the bytes.
CLOSE = 0.25
AS_DRAWN = 0.9  # cosine of bytes with the vectors that the seed draws; strange vectors have 0 ± 1/sqrt(d_model)
FARTHER = 3.0  # 1 - cosine of a piece that was learnt, in times that of the bytes; after 300 updates it is 5 or more
MOST_SHOWN = 8  # letters in a sentence of ours


@torch.inference_mode()
def never_learnt(model: Transformer, tokenizer: Tokenizer, recipe: Mapping[str, Any] | None) -> frozenset[int]:
    """The pieces whose vectors, as the encoder reads them, training has hardly touched; none where that is unknown."""
    weight = model.encoder.embedding.tokens.weight.float().cpu()  # (V, D)
    kinds = [tokenizer.kind(id) for id in range(tokenizer.vocab_size)]
    is_byte = torch.tensor([kind == "byte" for kind in kinds])
    is_piece = torch.tensor([kind == "piece" for kind in kinds])
    if int(is_byte.sum()) < FEWEST_BYTES or not is_piece.any():
        return frozenset()
    left = weight - weight[is_byte].median(dim=0).values  # (V, D)
    away = left.norm(dim=1)  # (V)
    usual = float(away[is_piece].median())
    if float(away[is_byte].median()) < CLOSE * usual / 2:
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
    return frozenset(torch.nonzero(found & (is_byte | is_piece)).flatten().tolist())


def _drawn(model: Transformer, recipe: Mapping[str, Any] | None) -> torch.Tensor | None:
    """The embedding as the seed of the recipe draws it, first of all weights: (V, D)."""
    training = (recipe or {}).get("training")
    seed = training.get("seed") if isinstance(training, dict) else None
    if type(seed) is not int or not 0 <= seed < 2**32:
        return None
    chance = torch.Generator().manual_seed(seed)  # one of its own: threads share the other
    shape = model.encoder.embedding.tokens.weight.shape
    return torch.empty(shape).normal_(std=model.config.d_model**-0.5, generator=chance)  # (V, D)


def examine_letters(translation: Translation, unlearnt: frozenset[int]) -> Iterator[Finding]:
    """Findings in the pieces of a sentence; `unlearnt` as `never_learnt` finds them."""
    pieces = [piece for piece in translation.source_pieces if piece.kind != "control" and piece.text.strip("▁")]
    strange = [piece for piece in pieces if piece.kind in ("byte", "unknown")]
    if strange:
        letters = list(dict.fromkeys(translation.source[piece.begin : piece.end] for piece in strange))
        quoted = listed([f"“{letter}”" for letter in letters if letter], MOST_SHOWN)
        unknown = any(piece.kind == "unknown" for piece in strange)
        count = f"{len(strange)} byte{'s' if len(strange) > 1 else ''}"
        instead = "<unk> instead, the same piece for each" if unknown else f"{count} instead"
        never = sum(piece.id in unlearnt for piece in strange)
        untouched = f", of which training hardly met {'any' if never == len(strange) else never}" if never else ""
        what = "The vocabulary has none of the letters of this sentence" if len(strange) == len(pieces) else (
            "The vocabulary lacks letters of this sentence"
        )  # fmt: skip
        yield Finding(
            "no_letters",
            what,
            f"It has no piece for {quoted}: the model reads {instead}{untouched}.",
            "What stands around them may suffer, too. Write it otherwise, or train on text that has them.",
        )
    met = [piece for piece in pieces if piece.kind == "piece" and piece.id in unlearnt]
    ordinary = list(dict.fromkeys(piece.text for piece in met))
    if ordinary:
        yield Finding(
            "unlearnt_pieces",
            "Pieces that training hardly met",
            f"{listed([f'“{piece}”' for piece in ordinary], MOST_SHOWN)}: in the vocabulary, but with a vector like "
            "those of pieces that no training sentence has.",
            "The model cannot know what they mean. Write it otherwise.",
        )

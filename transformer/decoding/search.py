"""The search: one loop for greedy decoding, beam search and sampling, over `model.start` and `model.step`.

Each round feeds the newest token of every row to the decoder, and the method (decoding_method.py) chooses the rows that
are kept. The state has keys and values of the past, so a round computes one position per row. A sentence that is done
leaves the batch. Its result does not depend on the other sentences.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from transformer.config import BOS, PAD, DecodingConfig
from transformer.decoding.beam import Beam
from transformer.decoding.decoding_method import DecodingMethod
from transformer.decoding.fast.fast_transformer import FastTransformer
from transformer.decoding.greedy_and_sampling import GreedyOrSampling
from transformer.decoding.length_penalty import length_limit
from transformer.decoding.repetition import Runs
from transformer.decoding.search_record import Ending, SearchRecord, Step, gather
from transformer.model import Transformer

ALTERNATIVES = 3  # tokens not taken, per row and step, in the tree of greedy decoding and sampling


@torch.inference_mode()
def search(
    model: Transformer | FastTransformer,
    sources: Sequence[list[int]],
    settings: DecodingConfig,
    prefix: Sequence[int] = (),
    keep_tree: bool = False,
) -> list[SearchRecord]:
    """Searches the best outputs for a batch.

    Args:
        model: in eval mode. It is not changed, so threads may share it.
        sources: B lists of ids, </s> included, none longer than the model's `max_positions`.
        prefix: the beginning of every output, without <s>. Shorter than the length limits.
        keep_tree: also record alternatives that the method does not need.

    Returns:
        The result for each source, computed in the dtype of the weights, also under autocast.
    """
    if model.training:
        raise ValueError("The model is in training mode, where dropout makes every search random. Call model.eval().")
    device = model.output.weight.device
    limits = [length_limit(len(source), settings, model.config.max_positions) for source in sources]
    method: DecodingMethod
    if settings.method == "beam" and settings.beam > 1:
        method = Beam(settings, limits, device)
    else:  # a beam of one is greedy
        method = GreedyOrSampling(settings, list(sources), limits, device, ALTERNATIVES if keep_tree else 0)

    padded = pad_sequence([torch.tensor(source) for source in sources], batch_first=True, padding_value=PAD)  # (B, S)
    with torch.autocast(device.type, enabled=False):
        return rounds(model, padded.to(device), method, limits, prefix)


def rounds(
    model: Transformer | FastTransformer,
    source: Tensor,
    method: DecodingMethod,
    limits: list[int],
    prefix: Sequence[int],
) -> list[SearchRecord]:
    """All steps of a search, for a source (B, S)."""
    device = source.device
    state: Any = model.start(source)  # a DecoderState, or the FastState of the inference copy
    tokens = torch.full((len(source) * method.width,), BOS, device=device)  # (R)
    length_limits = torch.tensor(limits, device=device)  # (B)
    shortest = min(limits)
    sentences = list(range(len(source)))  # those still in the batch
    steps: list[Step] = []
    endings: list[list[Ending]] = [[] for _ in sentences]
    runs = Runs(len(prefix))
    while True:
        logits = model.step(tokens, state)  # (R, V)
        logits = logits.view(len(sentences), -1, logits.shape[-1])  # (B, W, V)
        forced = prefix[len(steps)] if len(steps) < len(prefix) else None
        step = method.advance(sentences, logits, forced)
        steps.append(step)

        tokens = step.tokens.gather(1, step.kept)  # (B, W)
        parents = step.parents.gather(1, step.kept)  # (B, W): which row of its sentence each comes from
        runs.advance(tokens, parents)
        stay: Tensor | None = None  # (B'): which sentences go on; None: all
        too_long = runs.too_long()  # (B, W), in some steps
        if method.may_be_done or len(steps) >= shortest or too_long is not None:
            done = method.done() | (length_limits <= len(steps))  # (B)
            if too_long is not None:
                done = done | method.is_looping(too_long)  # (B)
            ended = done.nonzero().flatten().tolist()
            for slot in ended:
                endings[sentences[slot]] = method.endings(slot, step)
            if ended:
                stay = (~done).nonzero().flatten()
        if stay is not None:
            sentences = [sentences[slot] for slot in stay.tolist()]
            if not sentences:
                return gather(steps, endings, limits)
        if stay is not None or method.reorders:
            first_rows = torch.arange(0, len(logits) * logits.shape[1], logits.shape[1], device=device)  # (B)
            rows = parents + first_rows[:, None]  # (B, W): counted over all sentences
            if stay is not None:
                rows, tokens, length_limits = rows[stay], tokens[stay], length_limits[stay]
                method.select(stay)
                runs.select(stay)
                state.select_sentences(stay)
            state.select(rows.flatten())  # (R)
        tokens = tokens.flatten()  # (R)


def similar_lengths(
    lengths: list[int], settings: DecodingConfig, batch_tokens: int, *, equal: bool = False
) -> list[list[int]]:
    """The numbers of sentences of similar length in batches, for little padding; of equal length, for none, if `equal`.
    Sentences of length 0 are left out."""
    rows = settings.beam if settings.method == "beam" else settings.n_best  # decoded together for a sentence
    found: list[list[int]] = []
    longest = 0
    for i in sorted((i for i, length in enumerate(lengths) if length), key=lambda i: -lengths[i]):
        full = not found or (len(found[-1]) + 1) * rows * longest > batch_tokens
        if full or (equal and lengths[i] < longest):
            found.append([])
            longest = lengths[i]
        found[-1].append(i)
    return found

"""The trace: the values that the model computes for a finished translation, as arrays by name.

One teacher-forced pass over source and output, with a probe at the requested sites. Because of the causal mask it
computes what every decoding step computed, to rounding: with or without cache, greedy or beam. (Trap: only in eval
mode, and only of what the search has read. Test: test_the_trace_is_what_the_search_saw_at_each_step.)

Row t of the decoder *reads* token t and *predicts* token t + 1:

    reads      <s>  Wo   ist  der  Bahnhof  ?
    predicts   Wo   ist  der  Bahnhof  ?    </s>
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from transformer.config import BOS, PAD
from transformer.model import Probe, Transformer, census

EVERYTHING = ("*",)


@dataclass(frozen=True)
class Trace:
    """Arrays by the name of the site, without the batch axis, read-only: `(H, T, S)` for cross-attention weights.

    Masks are boolean; all other arrays are float32 (float64 if the model is).
    """

    source_ids: tuple[int, ...]  # S, </s> included
    target_ids: tuple[int, ...]  # T: what each row of the decoder reads, <s> first
    predicted_ids: tuple[int, ...]  # T: what each row predicts
    source_pieces: tuple[str, ...]  # source_ids as text
    target_pieces: tuple[str, ...]  # target_ids as text
    predicts: tuple[str, ...]  # predicted_ids as text
    arrays: dict[str, np.ndarray] = field(repr=False)

    def __getitem__(self, site: str) -> np.ndarray:
        return self.arrays[site]


def trace(
    model: Transformer,
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    sites: Iterable[str] = EVERYTHING,
    piece: Callable[[int], str] = str,
) -> Trace:
    """One probed pass.

    Args:
        model: in eval mode. It is not changed.
        source_ids: as the encoder reads them, </s> included (`Translation.source_ids`).
        target_ids: as the decoder predicted them, without <s>, and with </s> if it was predicted (`Hypothesis.ids`).
        sites: names, or patterns such as `"decoder.layers.*.cross_attention.weights"`.
        piece: the text of an id, `tokenizer.piece`.

    Raises:
        HeadlightError: no site has such a name, or a sentence is longer than the model's table of positions.
        ValueError: the model is in training mode, a sentence is empty, or its target has <s>.
    """
    (found,) = trace_batch(model, [source_ids], [target_ids], sites, piece)
    return found


def trace_batch(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    sites: Iterable[str] = EVERYTHING,
    piece: Callable[[int], str] = str,
) -> tuple[Trace, ...]:
    """One probed pass over a batch of sentences, padded on the right as in training: a trace for each.

    Ids, tokens and arrays of a shorter sentence are padded to the length of the longest.

    Args:
        sources, targets: for each sentence the ids as for `trace`, which also lists the other arguments and errors.
    """
    if model.training:
        raise ValueError("The model is in training mode, where dropout changes every pass. Call model.eval().")
    if not all(sources) or not all(targets) or not sources:
        raise ValueError("There is nothing to trace: source and target need at least one token, </s>.")
    if any(BOS in target_ids for target_ids in targets):
        raise ValueError("target_ids are the predicted ids (Hypothesis.ids), without <s>.")
    source, predicted = _padded(sources), _padded(targets)
    reads = _padded([(BOS, *target_ids[:-1]) for target_ids in targets])
    probe = Probe(census(model.config), sites)
    device = model.output.weight.device
    with torch.inference_mode():
        model(torch.tensor(source, device=device), torch.tensor(reads, device=device), probe)
    return tuple(
        Trace(
            source_ids=source[row],
            target_ids=reads[row],
            predicted_ids=predicted[row],
            source_pieces=tuple(piece(id) for id in source[row]),
            target_pieces=tuple(piece(id) for id in reads[row]),
            predicts=tuple(piece(id) for id in predicted[row]),
            arrays={site: _array(value[row]) for site, value in probe.records.items()},
        )
        for row in range(len(source))
    )


def trace_steps(
    model: Transformer, source_ids: Sequence[int], target_ids: Sequence[int], sites: Iterable[str]
) -> tuple[dict[str, np.ndarray], ...]:
    """The same translation token by token, as in the search: what each decoding step computes with the cache.

    Args:
        source_ids, target_ids, sites: as for `trace`; only sites of the decoder.

    Returns:
        For each of T steps its arrays by site, without the batch axis: one row each, so self-attention in step t (from
        0) has the shape `(H, 1, t + 1)`.

    Raises:
        HeadlightError: no site has such a name.
    """
    names, device = census(model.config), model.output.weight.device
    found = []
    with torch.inference_mode():
        state = model.start(torch.tensor([list(source_ids)], device=device))
        for read in (BOS, *target_ids[:-1]):
            probe = Probe(names, sites)
            model.step(torch.tensor([read], device=device), state, probe)
            found.append({site: _array(value[0]) for site, value in probe.records.items()})
    return tuple(found)


def _padded(rows: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    longest = max(map(len, rows))
    return [(*row, *[PAD] * (longest - len(row))) for row in rows]


def _array(value: torch.Tensor) -> np.ndarray:
    if value.dtype in (torch.bfloat16, torch.float16):
        value = value.float()
    # A copy, because many recorded tensors are views of one number or of a larger tensor.
    array: np.ndarray = value.cpu().numpy().copy()
    array.flags.writeable = False
    return array

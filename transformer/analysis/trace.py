"""The trace: the values that the model computes for a finished translation, as arrays by name.

It is one teacher-forced pass over source and output, with a probe at the requested sites. Because of the causal mask,
the pass computes the same values as the decoding steps of the search, up to rounding: with or without cache, greedy or
beam. (Trap: this is true only in eval mode, and only for tokens that the search has read. Test:
test_the_trace_is_what_the_search_saw_at_each_step.)

Row t of the decoder *reads* token t and *predicts* token t + 1:

    reads      <s>  Wo   ist  der  Bahnhof  ?
    predicts   Wo   ist  der  Bahnhof  ?    </s>

`Translator.trace` makes a trace, which can be stored, read again without the model, and turned into a table:

    traced = translator.trace("Where is the station?", "*.cross_attention.weights")
    traced.save("station.npz")
    weights = Trace.load("station.npz")["decoder.layers.0.cross_attention.weights"]  # (H, T, S)
    table = traced.to_frame("decoder.layers.0.cross_attention.weights")  # a pandas.DataFrame
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from transformer.analysis.trace_file import read_arrays, write_arrays
from transformer.analysis.trace_frame import Tokens, frame
from transformer.config import BOS, PAD
from transformer.errors import TraceError
from transformer.model import Probe, Transformer, census
from transformer.model.forced_target import shifted_right

if TYPE_CHECKING:
    import pandas as pd

EVERYTHING = ("*",)


@dataclass(frozen=True)
class Trace:
    """Arrays by the name of the site, without the batch axis, read-only: `(H, T, S)` for cross-attention weights.

    Masks are boolean; all other arrays are float32 (float64 if the model is).
    """

    source_ids: tuple[int, ...]  # S, </s> included
    target_ids: tuple[int, ...]  # T: what each row of the decoder reads, <s> first
    predicted_ids: tuple[int, ...]  # T: what each row predicts
    source_tokens: tuple[str, ...]  # source_ids as text
    target_tokens: tuple[str, ...]  # target_ids as text
    predicts: tuple[str, ...]  # predicted_ids as text
    arrays: dict[str, np.ndarray] = field(repr=False)
    sentence: str = ""  # what was translated, if it is known
    checkpoint: str = ""  # name of the checkpoint, if it is known
    checkpoint_sum: str = ""  # sha256 of its file

    def __getitem__(self, site: str) -> np.ndarray:
        """The array of one site, without the batch axis. Raises TraceError if it was not recorded."""
        if site not in self.arrays:
            raise TraceError(f"{site!r} was not recorded. Recorded: {', '.join(list(self.arrays)[:5])} …")
        return self.arrays[site]

    def named(self, sentence: str, checkpoint: str = "", checkpoint_sum: str = "") -> "Trace":
        """The same trace, which also has the sentence and the checkpoint that it was made from."""
        return replace(self, sentence=sentence, checkpoint=checkpoint, checkpoint_sum=checkpoint_sum)

    def to_frame(self, site: str) -> "pd.DataFrame":
        """The numbers of one site, or of several sites with the same axes, as a table with one number per row.

        The columns are `site`, the axes with their tokens, and `value`; trace_frame.py lists them.

        Args:
            site: a name, or a pattern such as `"decoder.layers.*.cross_attention.weights"`.

        Raises:
            TraceError: nothing of that name was recorded, or the sites have different axes.
        """
        found = {name: array for name, array in self.arrays.items() if fnmatchcase(name, site)}
        if not found:
            raise TraceError(f"{site!r} was not recorded. Trace the sentence again and name this site in `sites`.")
        return frame(found, Tokens(self.source_tokens), Tokens(self.target_tokens, self.predicts))

    def save(self, path: str | Path) -> None:
        """Writes one .npz file, without pickle, which `numpy.load` can read: trace_file.py lists what is in it.

        Raises:
            OSError: it cannot be written; an existing file is then not changed.
            ValueError: NumPy cannot store a text.
        """
        about: dict[str, object] = {
            "sentence": self.sentence, "checkpoint": self.checkpoint, "checkpoint_sum": self.checkpoint_sum,
            "source_ids": self.source_ids, "source_tokens": self.source_tokens,
            "target_ids": self.target_ids, "target_tokens": self.target_tokens,
            "predicted_ids": self.predicted_ids, "predicted_tokens": self.predicts,
        }  # fmt: skip
        write_arrays(Path(path), about, self.arrays)

    @classmethod
    def load(cls, path: str | Path) -> "Trace":
        """Reads what `save` wrote: exactly the same numbers. The file is checked, because it may come from anyone.

        Raises:
            TraceError: the file cannot be read or is not a trace; the message says what is wrong with it.
        """
        about, arrays = read_arrays(Path(path))
        found = {name: array.tolist() for name, array in about.items()}
        return cls(
            source_ids=tuple(found["source_ids"]),
            target_ids=tuple(found["target_ids"]),
            predicted_ids=tuple(found["predicted_ids"]),
            source_tokens=tuple(found["source_tokens"]),
            target_tokens=tuple(found["target_tokens"]),
            predicts=tuple(found["predicted_tokens"]),
            arrays=arrays,
            sentence=found["sentence"],
            checkpoint=found["checkpoint"],
            checkpoint_sum=found["checkpoint_sum"],
        )


def trace(
    model: Transformer,
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    sites: str | Iterable[str] = EVERYTHING,
    token_of: Callable[[int], str] = str,
) -> Trace:
    """The trace of one probed pass.

    Args:
        model: in eval mode. It is not changed.
        source_ids: as the encoder reads them, </s> included (`Translation.source_ids`).
        target_ids: as the decoder predicted them, without <s>, and with </s> if it was predicted (`Hypothesis.ids`).
        sites: names, or patterns such as `"decoder.layers.*.cross_attention.weights"`.
        token_of: the text of an id, `tokenizer.token`.

    Raises:
        HeadlightError: no site has such a name, or a sentence is longer than the model's table of positions.
        ValueError: the model is in training mode, a sentence is empty, or its target has <s>.
    """
    sites = [sites] if isinstance(sites, str) else sites
    (found,) = trace_batch(model, [source_ids], [target_ids], sites, token_of)
    return found


def trace_batch(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    sites: Iterable[str] = EVERYTHING,
    token_of: Callable[[int], str] = str,
) -> tuple[Trace, ...]:
    """One probed pass over a batch of sentences, padded on the right as in training: a trace for each.

    Ids, tokens and arrays of a shorter sentence are padded to the length of the longest.

    Args:
        sources, targets: for each sentence the ids as for `trace`, which also lists the other arguments and errors.
    """
    _check_mode(model)
    if not all(sources) or not all(targets) or not sources:
        raise ValueError("There is nothing to trace: source and target need at least one token, </s>.")
    if any(BOS in target_ids for target_ids in targets):
        raise ValueError("target_ids are the predicted ids (Hypothesis.ids), without <s>.")
    source, predicted = _padded(sources), _padded(targets)
    reads = _padded([shifted_right(target_ids) for target_ids in targets])
    probe = Probe(census(model.config), sites)
    device = model.output.weight.device
    with torch.inference_mode():
        model(torch.tensor(source, device=device), torch.tensor(reads, device=device), probe)
    return tuple(
        Trace(
            source_ids=source[row],
            target_ids=reads[row],
            predicted_ids=predicted[row],
            source_tokens=tuple(token_of(id) for id in source[row]),
            target_tokens=tuple(token_of(id) for id in reads[row]),
            predicts=tuple(token_of(id) for id in predicted[row]),
            arrays={site: _array(value[row]) for site, value in probe.records.items()},
        )
        for row in range(len(source))
    )


def trace_steps(
    model: Transformer, source_ids: Sequence[int], target_ids: Sequence[int], sites: Iterable[str]
) -> tuple[dict[str, np.ndarray], ...]:
    """What each decoding step with the cache computes: the translation is read token by token, as in the search.

    Args:
        model: in eval mode. It is not changed.
        source_ids, target_ids, sites: as for `trace`. Only what a step computes is recorded: not the encoder, and not
            the keys and values of encoder-decoder attention, which are computed once, before the first step.

    Returns:
        For each of the T steps its arrays by site, without the batch axis. An array has one row, that of the step, so
        self-attention in step t (from 0) has the shape `(H, 1, t + 1)`; logits and probabilities are (V).

    Raises:
        HeadlightError: no site has such a name.
        ValueError: the model is in training mode.
    """
    _check_mode(model)
    names, device = census(model.config), model.output.weight.device
    found = []
    with torch.inference_mode():
        state = model.start(torch.tensor([list(source_ids)], device=device))
        for read in shifted_right(target_ids):
            probe = Probe(names, sites)
            model.step(torch.tensor([read], device=device), state, probe)
            found.append({site: _array(value[0]) for site, value in probe.records.items()})
    return tuple(found)


def _check_mode(model: Transformer) -> None:
    if model.training:
        raise ValueError("The model is in training mode, where dropout changes every pass. Call model.eval().")


def _padded(rows: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    longest = max(map(len, rows))
    return [(*row, *[PAD] * (longest - len(row))) for row in rows]


def _array(value: torch.Tensor) -> np.ndarray:
    if value.dtype in (torch.bfloat16, torch.float16):
        value = value.float()
    # A copy, because many recorded tensors are views: of one number that was expanded, or of a larger tensor.
    array: np.ndarray = value.cpu().numpy().copy()
    array.flags.writeable = False
    return array

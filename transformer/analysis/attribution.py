"""How much each source token contributes to each token of a translation: three measures, none of which is attention.

With x the scaled embeddings of the source (S, D), positions not included, and f_t(x) the log-probability of token t of
the translation, given the tokens before it (teacher forcing):

    occlusion             f_t(x) - f_t(x without a word)                              (Zeiler and Fergus, 2014)
    gradient x input      sum over d of x_sd df_t/dx_sd                               (Shrikumar et al., 2016)
    integrated gradients  sum over d of (x - x')_sd int_0^1 df_t/dx_sd(x' + a (x - x')) da   (Sundararajan et al., 2017)

The baseline x' has a vector of zeros for each token except </s>, which keeps its vector. Integrated gradients are
complete: their sum over the source is f_t(x) - f_t(x'), up to the error of the numerical integral (`Integrated.gap`).
Gauss-Legendre quadrature needs many points, because log-probabilities fall steeply between x and x', and ReLUs make the
gradient jump. The two gradient methods are short formulas with `torch.autograd.grad`. captum has them too, but for
models that take one input and return one number, and captum would be one more package to pin. Results are converted to
float64 on the CPU, because Apple's GPU has no float64.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from transformer.config import EOS
from transformer.model import Probe, Transformer, census
from transformer.model.forced_target import shifted_right, token_log_probabilities

STEPS = 64  # points of the integral; with 64 the sums of en-de, which are 5 to 13, are wrong by 0.1 to 0.3
AT_ONCE = 16  # sentences in a batch; the logits of a larger batch take much memory
SITE = "encoder.embedding.scaled"
Ids = Sequence[int]


@dataclass(frozen=True)
class Integrated:
    """Integrated gradients.

    Attributes:
        values: (S, T).
        difference: (T), f(x) - f(x'), to which the values of each t should sum.
    """

    values: np.ndarray
    difference: np.ndarray

    @property
    def gap(self) -> float:
        """The largest absolute error of these sums, over all t, in nats."""
        return float(np.abs(self.values.sum(axis=0) - self.difference).max())


def log_probabilities(model: Transformer, sources: Sequence[Ids], target_ids: Ids) -> np.ndarray:
    """The log-probability of each token of a translation after each of several sources: (N, T).

    Sources of the same length form a batch, so nothing is padded. With padding, an edit of positions could give a
    token's position to padding.

    Args:
        sources: ids with </s>.
        target_ids: as predicted, without <s>.
    """
    found = np.empty((len(sources), len(target_ids)))
    for length in sorted(set(map(len, sources))):
        rows = [row for row, source in enumerate(sources) if len(source) == length]
        for start in range(0, len(rows), AT_ONCE):
            some = rows[start : start + AT_ONCE]
            with torch.inference_mode():
                batch = torch.tensor([list(sources[row]) for row in some], device=model.output.weight.device)
                found[some] = _log_probabilities_after(model, batch, target_ids).cpu().double().numpy()
    return found


def occlusion(model: Transformer, source_ids: Ids, target_ids: Ids, words: Sequence[Sequence[int]]) -> np.ndarray:
    """The log-probability that each token of a translation loses when a word is deleted: (W, T).

    Args:
        words: for each word, the positions of its tokens, from 0. The tokens after a deleted word move to earlier
            positions.
    """
    without = [[id for at, id in enumerate(source_ids) if at not in word] for word in words]
    if not words:
        return np.zeros((0, len(target_ids)))
    found = log_probabilities(model, [source_ids, *without], target_ids)
    return np.asarray(found[0] - found[1:])


def gradient_times_input(model: Transformer, source_ids: Ids, target_ids: Ids) -> np.ndarray:
    """Gradient x input of each source token, for each token of a translation: (S, T)."""
    x = _embedded(model, source_ids)
    return (_gradients(model, source_ids, target_ids, x[None])[:, 0] * x).sum(dim=-1).T.cpu().double().numpy()


def integrated_gradients(model: Transformer, source_ids: Ids, target_ids: Ids, steps: int = STEPS) -> Integrated:
    """Integrated gradients for all tokens of a translation: `steps` forward passes, and T times as many backward."""
    x = _embedded(model, source_ids)  # (S, D)
    kept = torch.tensor([id == EOS for id in source_ids], device=x.device)[:, None]  # (S, 1)
    base = torch.where(kept, x, 0.0)
    nodes, weights = np.polynomial.legendre.leggauss(steps)  # on (-1, 1)
    # From (-1, 1) to (0, 1): half of each
    points, of_points = (torch.tensor(each / 2, dtype=x.dtype, device=x.device) for each in (nodes + 1, weights))
    mean = x.new_zeros(len(target_ids), *x.shape)  # (T, S, D)
    for start in range(0, steps, AT_ONCE):
        some = slice(start, start + AT_ONCE)
        gradients = _gradients(model, source_ids, target_ids, base + points[some, None, None] * (x - base))
        mean += torch.einsum("tnsd,n->tsd", gradients, of_points[some])
    with torch.inference_mode():
        ends = _log_probabilities_after(
            model, _repeated(model, source_ids, 2), target_ids, torch.stack([x, base])
        )  # (2, T)
    values, ends = (mean * (x - base)).sum(dim=-1).T.cpu().double(), ends.cpu().double()  # (S, T), (2, T)
    return Integrated(values.numpy(), (ends[0] - ends[1]).numpy())


def _gradients(model: Transformer, source_ids: Ids, target_ids: Ids, points: Tensor) -> Tensor:
    """The gradients of each f_t at several points (N, S, D): (T, N, S, D)."""
    found: list[Tensor] = []
    with torch.enable_grad():
        points = points.detach().clone().requires_grad_()
        values = _log_probabilities_after(
            model, _repeated(model, source_ids, len(points)), target_ids, points
        )  # (N, T)
        for t in range(len(target_ids)):
            last = t == len(target_ids) - 1
            found += torch.autograd.grad(values[:, t].sum(), points, retain_graph=not last)  # one (N, S, D)
    return torch.stack(found)


def _log_probabilities_after(
    model: Transformer, source: Tensor, target_ids: Ids, embedded: Tensor | None = None
) -> Tensor:
    """The log-probabilities (N, T) after sources (N, S). `embedded` (N, S, D) replaces their scaled embeddings."""
    rows, device = len(source), source.device
    reads = torch.tensor([shifted_right(target_ids)] * rows, device=device)  # (N, T)
    predicted = torch.tensor([list(target_ids)] * rows, device=device)  # (N, T)
    if embedded is None:
        logits = model(source, reads)  # (N, T, V)
    else:
        given: Tensor = embedded
        logits = model(source, reads, Probe(census(model.config), edits={SITE: lambda now: given}))  # (N, T, V)
    return token_log_probabilities(logits, predicted)  # (N, T)


def _embedded(model: Transformer, source_ids: Ids) -> Tensor:
    embedding = model.encoder.embedding
    with torch.no_grad():
        ids = torch.tensor(list(source_ids), device=model.output.weight.device)
        return embedding.tokens(ids) * embedding.scale  # (S, D)


def _repeated(model: Transformer, source_ids: Ids, times: int) -> Tensor:
    return torch.tensor([list(source_ids)] * times, device=model.output.weight.device)  # (times, S)

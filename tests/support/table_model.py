"""A model whose probabilities are looked up in a table of random numbers, for searching at the limits of what can be.

What comes next depends on the sentence and on everything before. There is no Transformer in it, so a search that finds
the right thing here is right by itself; and it is fast enough for hundreds of random cases.
"""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import torch
from torch import Tensor

from transformer.config import BOS, EOS
from transformer.model import Transformer

SIZE = 1009


class TableState:
    def __init__(self, keys: Tensor):
        self.keys = keys  # (B): which sentence
        self.read = torch.zeros(len(keys), 0, dtype=torch.long)  # (R, T)

    def select(self, rows: Tensor) -> None:
        self.read = self.read[rows]

    def select_sentences(self, sentences: Tensor) -> None:
        self.keys = self.keys[sentences]


class TableModel:
    """Stands in for a `Transformer` in a search.

    Args:
        vocab_size: with the four special tokens.
        spread: of the logits; large ones make the model sure of itself.
        ending: added to the logit of </s>.
    """

    training = False

    def __init__(self, vocab_size: int, seed: int, spread: float = 1.5, ending: float = 0.0, max_positions: int = 99):
        generator = torch.Generator().manual_seed(seed)
        self.table = torch.randn(SIZE, vocab_size, generator=generator, dtype=torch.float64) * spread  # (N, V)
        self.table[:, EOS] += ending
        self.output = SimpleNamespace(weight=self.table)
        self.config = SimpleNamespace(max_positions=max_positions)

    def start(self, source: Tensor) -> TableState:
        return TableState(self.key(source))

    def key(self, source: Tensor) -> Tensor:
        return (source * torch.arange(1, source.shape[1] + 1)).sum(dim=1)  # PAD is 0 and adds nothing

    def step(self, tokens: Tensor, state: TableState) -> Tensor:
        if state.read.shape[0] != len(tokens):
            assert state.read.shape[1] == 0
            state.read = state.read.new_zeros(len(tokens), 0)
        state.read = torch.cat([state.read, tokens[:, None]], dim=1)  # (R, T)
        keys = state.keys.repeat_interleave(len(tokens) // len(state.keys))  # (R)
        return self.logits(keys, state.read)

    def logits(self, keys: Tensor, read: Tensor) -> Tensor:
        """keys (R), all that was read (R, T) -> (R, V)."""
        place = keys * 31
        for position in range(read.shape[1]):
            place = (place * 17 + read[:, position] * 7 + 1) % SIZE
        return self.table[place]

    def as_model(self) -> Transformer:
        return cast(Transformer, self)

    def log_probability(self, source: Sequence[int], output: Sequence[int]) -> float:
        """Of a whole output."""
        key, read, total = self.key(torch.tensor([source])), [BOS], 0.0
        for token in output:
            total += float(self.logits(key, torch.tensor([read])).log_softmax(dim=-1)[0, token])
            read.append(token)
        return total


def every_output(vocab_size: int, limit: int) -> list[list[int]]:
    """All outputs of at most `limit` tokens that end with </s>."""
    unfinished: list[list[int]] = [[]]
    finished = []
    for _ in range(limit):
        finished += [[*output, EOS] for output in unfinished]
        unfinished = [[*output, token] for output in unfinished for token in range(EOS + 1, vocab_size)]
    return finished

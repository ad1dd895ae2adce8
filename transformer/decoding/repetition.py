"""A search that repeats one token is stopped, because it would continue to the length limit.

With text unlike its training text a model can get into a loop, because a token makes the same token probable again
(Holtzman et al. 2020, arXiv:1904.09751, section 4). The search of a sentence ends when the last LONGEST_RUN tokens of
its best hypothesis are equal; in sampling, when those of all its hypotheses are. The first COUNT_FROM steps are not
counted, and only every step that is a multiple of CHECK_EVERY is checked.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

LONGEST_RUN = 32  # tokens; sequences of the toy tasks have at most 20 letters by default
COUNT_FROM = 16  # runs are counted after so many steps: most translations end earlier
CHECK_EVERY = 8  # steps, because reading a result from a GPU makes the host wait


class Runs:
    """How many times in a row each hypothesis of a search has repeated its newest token.

    Args:
        prefix_length: tokens that the model did not choose. They are not counted, because a prefix may repeat tokens.
    """

    def __init__(self, prefix_length: int) -> None:
        self.counted = -(prefix_length + COUNT_FROM)  # steps
        self.newest: Tensor | None = None  # (B, W)
        self.lengths: Tensor | None = None  # (B, W)

    def advance(self, tokens: Tensor, parents: Tensor) -> None:
        """One step: tokens (B, W), each after hypothesis parents (B, W) of its sentence."""
        self.counted += 1
        if self.counted <= 0:
            return
        if self.newest is None or self.lengths is None:
            self.lengths = torch.ones_like(tokens)  # (B, W)
        else:
            repeated = tokens == self.newest.gather(1, parents)  # (B, W)
            self.lengths = self.lengths.gather(1, parents) * repeated + 1  # (B, W)
        self.newest = tokens

    def too_long(self) -> Tensor | None:
        """(B, W) boolean: which hypotheses repeat one token. None in steps in which this is not to be read."""
        if self.lengths is None or self.counted < LONGEST_RUN or self.counted % CHECK_EVERY:
            return None
        return self.lengths >= LONGEST_RUN  # (B, W)

    def select(self, sentences: Tensor) -> None:
        """Keeps these of the B sentences."""
        if self.newest is not None and self.lengths is not None:
            self.newest, self.lengths = self.newest[sentences], self.lengths[sentences]


def ends_in_loop(ids: Sequence[int]) -> bool:
    """Whether an output without </s> was cut off because it repeated one token."""
    return len(ids) >= LONGEST_RUN and len(set(ids[-LONGEST_RUN:])) == 1

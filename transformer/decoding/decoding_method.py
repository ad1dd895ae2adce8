"""What the loop of search.py needs of a method of decoding: beam.py and greedy_and_sampling.py are two."""

from typing import Protocol

from torch import Tensor

from transformer.decoding.search_record import Ending, Step


class DecodingMethod(Protocol):
    """The state of a method, for the B sentences that are still in the batch, of W rows each."""

    @property
    def reorders(self) -> bool:
        """Whether a row may continue another row of its sentence. Otherwise row i stays row i."""

    @property
    def width(self) -> int:
        """Rows per sentence at the start, where each is <s>."""

    @property
    def may_be_done(self) -> bool:
        """Whether `done` has to be asked. That makes the host wait for the device."""

    def advance(self, sentences: list[int], logits: Tensor, forced: int | None) -> Step:
        """One step.

        Args:
            sentences: the numbers of the B sentences in the whole batch.
            logits: (B, W, V) of the next token.
            forced: the next token of a prefix, which all rows take.

        Returns:
            The candidates, and which of them are the rows of the next step.
        """

    def done(self) -> Tensor:
        """(B) boolean: more steps would not change the result."""

    def is_looping(self, too_long: Tensor) -> Tensor:
        """(B) boolean: the sentence is to be cut off, because these rows (B, W) repeat one token."""

    def endings(self, slot: int, step: Step) -> list[Ending]:
        """The results of sentence `slot` of the B, after its last step."""

    def select(self, slots: Tensor) -> None:
        """Keeps these of the B sentences."""

"""Lines that cannot be read: not UTF-8, a missing column, far too long, not text.

    [data]
    on_error = "stop"       such a line ends the run with an error that names it
    on_error = "skip"       such lines are skipped and counted, the first ten are named
    skip_limit = 0.01       ... but if they are more than this share of a text, the run ends

A fault of a whole file cannot be skipped: a missing file, a damaged .gz, aligned files of different length, UTF-16.
"""

from dataclasses import dataclass, field

from transformer.errors import BadLine, CorpusError

NAMED = 10  # how many skipped lines are named


@dataclass
class SkippedLines:
    """The lines of one text that were skipped. The object is false if there are none.

    Attributes:
        count: how many.
        first: file, line and fault of the first `NAMED`.
    """

    count: int = 0
    first: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.count > 0

    def add(self, error: BadLine) -> None:
        """Counts a line."""
        self.extend(SkippedLines(1, [error.found]))

    def extend(self, later: "SkippedLines") -> None:
        """Counts the lines of a later portion of the text."""
        self.count += later.count
        self.first = (self.first + later.first)[:NAMED]

    def check(self, name: str, read: int, limit: float) -> None:
        """Raises CorpusError if more than the share `limit` of the `read` lines were skipped, or all of them."""
        if self and self.count == read:
            raise CorpusError(
                f"{self.described(name, read)}\nSo no line is left. Correct the lines, choose other columns "
                "(data.source_column and data.target_column), or give other text."
            )
        if self.count > limit * read:
            raise CorpusError(
                f"{self.described(name, read)}\nThat is more than data.skip_limit = {limit:g} allows. Correct the "
                "lines, or choose other columns; raise data.skip_limit only if the other lines are good pairs."
            )

    def described(self, name: str, read: int) -> str:
        """A message of several lines; `read` is the number of all lines of the text."""
        named = "the first of them:" if self.count > len(self.first) else "they are:"
        lines = "".join(f"\n  {found}" for found in self.first)
        return f"{name}: {self.count:,} of {read:,} lines ({self.count / read:.2%}) cannot be read; {named}{lines}"

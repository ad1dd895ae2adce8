"""What a run reports: one JSON object a line in `metrics.jsonl`, and the same numbers for TensorBoard.

Lines carry the number of the update they were made at. When a run is resumed, lines that it had written after its last
save are dropped first: those updates will be made, and reported, again.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from torch.utils.tensorboard import SummaryWriter

from transformer.errors import TrainingError
from transformer.files.atomic_write import replacing
from transformer.files.strict_json import parse_json

Number = float | int | str


class Metrics:
    """Appends to `run_dir/metrics.jsonl` and to TensorBoard's files in `run_dir/tensorboard`.

    Args:
        update, validated: the last update, and the last validation, whose lines shall stay.

    Raises:
        TrainingError: they cannot be written.
    """

    def __init__(self, run_dir: Path, update: int = 0, validated: int = 0):
        self._path = run_dir / "metrics.jsonl"
        last = {"train": update, "valid": validated}
        kept = [line for line in read_metrics(self._path) if int(line["update"]) <= last[str(line["kind"])]]
        try:
            with replacing(self._path) as temporary:
                temporary.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
            self._file = self._path.open("a", encoding="utf-8")
            self._board = SummaryWriter(str(run_dir / "tensorboard"), purge_step=update + 1 if update else None)
        except OSError as error:
            raise self._trouble(error) from error

    def write(self, update: int, kind: str, values: Mapping[str, Number]) -> None:
        """One line: `kind` is "train" or "valid". Written through at once, so that a reader sees a live run."""
        try:
            self._file.write(json.dumps({"update": update, "kind": kind, **values}) + "\n")
            self._file.flush()
            for name, value in values.items():
                if not isinstance(value, str):
                    self._board.add_scalar(f"{kind}/{name}", value, update)
        except OSError as error:
            raise self._trouble(error) from error

    def close(self) -> None:
        """Closes both files. A disk that is full has been told of before, when they were written to."""
        for file in (self._file, self._board):
            with suppress(OSError):
                file.close()

    def _trouble(self, error: OSError) -> TrainingError:
        return TrainingError(
            f"The metrics of the run cannot be written to {self._path}: {error.strerror or error}. Free some space or "
            "make the folder writable, then go on with --resume from the last state that was saved."
        )


def read_metrics(path: Path) -> list[dict[str, Number]]:
    """All whole lines of a metrics file; what is none, as a last line cut short by a crash, is left out. A missing file
    is empty."""
    if not path.exists():
        return []
    lines = []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = parse_json(text)
        except ValueError:
            continue
        if isinstance(line, dict) and type(line.get("update")) is int and line.get("kind") in ("train", "valid"):
            lines.append(line)
    return lines

"""The metrics of a run: one JSON object per line in `metrics.jsonl`, and the same numbers for TensorBoard.

Each line has the number of its update. When a run is resumed, lines that it wrote after its last save are removed
first, because those updates will be made and reported again. The lines of kind "samples" have no numbers: they have the
sample translations of a validation.
"""

import json
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torch.utils.tensorboard import SummaryWriter

from transformer.errors import TrainingError
from transformer.files.atomic_write import replacing
from transformer.files.strict_json import parse_json
from transformer.training.samples import Sample

Number = float | int | str
KINDS = ("train", "valid", "samples")


class Metrics:
    """Appends to `run_dir/metrics.jsonl` and to TensorBoard's files in `run_dir/tensorboard`.

    Args:
        update, validated: the last update and the last validation whose lines are kept.

    Raises:
        TrainingError: they cannot be written.
    """

    def __init__(self, run_dir: Path, update: int = 0, validated: int = 0):
        self._path = run_dir / "metrics.jsonl"
        last = {"train": update, "valid": validated, "samples": validated}
        kept = [line for line in read_metrics(self._path) if int(line["update"]) <= last[str(line["kind"])]]
        try:
            with replacing(self._path) as temporary:
                temporary.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
            self._file = self._path.open("a", encoding="utf-8")
            self._board = SummaryWriter(str(run_dir / "tensorboard"), purge_step=update + 1)
        except OSError as error:
            raise self._trouble(error) from error

    def write(self, update: int, kind: str, values: Mapping[str, Number]) -> None:
        """Writes one line: `kind` is "train" or "valid". It is flushed, so that a reader sees the progress of a run."""
        try:
            self._line(update, kind, values)
            for name, value in values.items():
                if not isinstance(value, str):
                    self._board.add_scalar(f"{kind}/{name}", value, update)
        except OSError as error:
            raise self._trouble(error) from error

    def write_samples(self, update: int, samples: Sequence[Sample], text: str) -> None:
        """Writes one line for sample translations; `text`: the same for TensorBoard."""
        try:
            self._line(update, "samples", {"samples": [asdict(sample) for sample in samples]})
            self._board.add_text("samples", textwrap.indent(text, "    "), update)  # indented: shown as code
        except OSError as error:
            raise self._trouble(error) from error

    def _line(self, update: int, kind: str, values: Mapping[str, object]) -> None:
        self._file.write(json.dumps({"update": update, "kind": kind, **values}) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Closes both files. Errors are ignored: a full disk was reported before, when the files were written to."""
        for file in (self._file, self._board):
            with suppress(OSError):
                file.close()

    def _trouble(self, error: OSError) -> TrainingError:
        return TrainingError(
            f"The metrics of the run cannot be written to {self._path}: {error.strerror or error}. Free some space or "
            "make the folder writable, then continue with --resume from the last state that was saved."
        )


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """All valid lines of a metrics file. Others are skipped, such as a last line that a crash has cut. A missing file
    is empty."""
    if not path.exists():
        return []
    lines = []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = parse_json(text)
        except ValueError:
            continue
        if isinstance(line, dict) and type(line.get("update")) is int and line.get("kind") in KINDS:
            lines.append(line)
    return lines

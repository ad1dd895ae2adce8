"""What a run reports: one JSON object a line in `metrics.jsonl`, and the same numbers for TensorBoard.

Lines carry the number of the update they were made at. When a run is resumed from update u, lines after u are dropped
first: those updates will be made, and reported, again.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from torch.utils.tensorboard import SummaryWriter

Number = float | int | str


class Metrics:
    """Appends to `run_dir/metrics.jsonl` and to TensorBoard's files in `run_dir/tensorboard`."""

    def __init__(self, run_dir: Path, resumed_at: int = 0):
        path = run_dir / "metrics.jsonl"
        kept = [line for line in read_metrics(path) if int(line["update"]) <= resumed_at]
        path.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
        self._file = path.open("a", encoding="utf-8")
        self._board = SummaryWriter(str(run_dir / "tensorboard"), purge_step=resumed_at + 1 if resumed_at else None)

    def write(self, update: int, kind: str, values: Mapping[str, Number]) -> None:
        """One line: `kind` is "train" or "valid". Written through at once, so that a reader sees a live run."""
        self._file.write(json.dumps({"update": update, "kind": kind, **values}) + "\n")
        self._file.flush()
        for name, value in values.items():
            if not isinstance(value, str):
                self._board.add_scalar(f"{kind}/{name}", value, update)

    def close(self) -> None:
        self._file.close()
        self._board.close()


def read_metrics(path: Path) -> list[dict[str, Number]]:
    """All whole lines of a metrics file; a last line cut short by a crash is left out. A missing file is empty."""
    if not path.exists():
        return []
    lines = []
    for text in path.read_text(encoding="utf-8").splitlines():
        try:
            lines.append(json.loads(text))
        except json.JSONDecodeError:
            continue
    return lines

"""CTranslate2 in a process of its own, into which torch never comes: as it is served, and as its speed should be timed.

The process answers requests, one JSON list a line: a folder and what to do with it. It keeps each model it has loaded.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


class Served:
    """Use it in a `with` block, which ends the process.

    Args:
        threads: CPU threads that it computes with.
    """

    def __init__(self, threads: int = 1):
        self.command = [sys.executable, str(Path(__file__)), str(threads)]

    def __enter__(self) -> "Served":
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def translate(self, folder: Path, batches: list[list[list[str]]], options: dict[str, Any]) -> tuple[float, Any]:
        """Batches of sentences of pieces, without </s>: seconds, and of each sentence (pieces, normalised score).

        Args:
            options: of `translate_batch`; and `compute_type`, of the model.
        """
        return self._ask("translate", folder, batches, options)

    def score(self, folder: Path, pairs: tuple[list[list[str]], list[list[str]]]) -> list[list[float]]:
        """Log-probabilities of the pieces of each target, and of the </s> after them."""
        return self._ask("score", folder, pairs, {})

    def _ask(self, *request: Any) -> Any:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(request, default=str) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def serve(threads: int) -> None:
    """The process."""
    import ctranslate2

    models: dict[tuple[str, str], Any] = {}
    for line in sys.stdin:
        task, folder, data, options = json.loads(line)
        compute_type = options.pop("compute_type", "float32")
        if (folder, compute_type) not in models:
            models[folder, compute_type] = ctranslate2.Translator(
                folder, compute_type=compute_type, inter_threads=1, intra_threads=threads
            )
        model = models[folder, compute_type]
        answer: Any
        if task == "score":
            answer = [found.log_probs for found in model.score_batch(*data)]
        else:
            start = time.perf_counter()
            found = [one for batch in data for one in model.translate_batch(batch, return_scores=True, **options)]
            seconds = time.perf_counter() - start
            answer = seconds, [(one.hypotheses[0], one.scores[0]) for one in found]
        assert "torch" not in sys.modules
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve(int(sys.argv[1]))

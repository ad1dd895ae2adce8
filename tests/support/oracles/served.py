"""CTranslate2 in a process of its own, into which torch never comes: as it is served, and as its speed should be timed.

The process keeps each model it has loaded.
"""

import sys
import time
from pathlib import Path
from typing import Any

from tests.support.oracles.process import Process, serve


class Served(Process):
    """Use it in a `with` block, which ends the process.

    Args:
        threads: CPU threads that it computes with.
    """

    def __init__(self, threads: int = 1):
        super().__init__(sys.executable, "tests.support.oracles.served", threads)

    def translate(self, folder: Path, batches: list[list[list[str]]], options: dict[str, Any]) -> tuple[float, Any]:
        """Batches of sentences of tokens, without </s>: seconds, and of each sentence (tokens, normalised score).

        Args:
            options: of `translate_batch`; and `compute_type`, of the model.
        """
        return self.ask("translate", folder, batches, options)

    def score(self, folder: Path, pairs: tuple[list[list[str]], list[list[str]]]) -> list[list[float]]:
        """Log-probabilities of the tokens of each target, and of the </s> after them."""
        return self.ask("score", folder, pairs, {})


def main(threads: int) -> None:
    """The process."""
    import ctranslate2

    models: dict[tuple[str, str], Any] = {}

    def answer(task: str, folder: str, data: Any, options: dict[str, Any]) -> Any:
        compute_type = options.pop("compute_type", "float32")
        if (folder, compute_type) not in models:
            models[folder, compute_type] = ctranslate2.Translator(
                folder, compute_type=compute_type, inter_threads=1, intra_threads=threads
            )
        model = models[folder, compute_type]
        assert "torch" not in sys.modules
        if task == "score":
            return [found.log_probs for found in model.score_batch(*data)]
        start = time.perf_counter()
        found = [one for batch in data for one in model.translate_batch(batch, return_scores=True, **options)]
        seconds = time.perf_counter() - start
        return seconds, [(one.hypotheses[0], one.scores[0]) for one in found]

    serve(answer)


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""A peer in a process of its own: what it needs stays out of ours, and what we load stays out of it.

The process is a module of this repository, run by any interpreter; it gets one JSON list a line, which it answers with
one line of JSON. `serve` is its side, `Process` ours.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parents[3]


class Process:
    """Use it in a `with` block, which ends the process.

    Args:
        python: path of the interpreter.
        module: its dotted name.
        threads: CPU threads that it computes with: its one argument.
    """

    def __init__(self, python: str, module: str, threads: int):
        self.command = [python, "-m", module, str(threads)]

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            self.command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def ask(self, *request: Any) -> Any:
        """The answer to a request, whose paths are absolute.

        Raises:
            RuntimeError: the process ended instead of answering.
        """
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(request, default=str) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"`{' '.join(self.command)}` ended without an answer. Why, it says above.")
        return json.loads(answer)


def serve(answer: Callable[..., Any]) -> None:
    """Answers requests until no more come. What else is printed there must go to stderr."""
    for line in sys.stdin:
        print(json.dumps(answer(*json.loads(line))), flush=True)

"""A file that is not a usable checkpoint is refused: one error lists everything that is wrong with it, and what to do.

The problems are found in three places, in this order: `safetensors_layout.py` (the kind of file, its size, the byte
ranges), `header.py` (version, config, names and shapes), `checkpoint_file.py` (weights that are NaN, the tokenizer).
"""

from pathlib import Path
from typing import NoReturn

from transformer.errors import CheckpointError

MAX_LISTED = 20  # problems listed one by one
ADVICE = "Use a .safetensors file that Headlight wrote; if it is one, copy or download it again."


def refuse(path: Path, problems: list[str], advice: str = ADVICE) -> NoReturn:
    """Raises the CheckpointError that lists all problems of a file, and says what to do."""
    if len(problems) == 1:
        raise CheckpointError(f"{path} is not a checkpoint that Headlight can load. {problems[0]} {advice}".rstrip())
    listed = [f"- {problem}" for problem in problems[:MAX_LISTED]]
    if len(problems) > MAX_LISTED:
        listed.append(f"- and {len(problems) - MAX_LISTED} more problems.")
    lines = [f"{path} is not a checkpoint that Headlight can load:", *listed, advice]
    raise CheckpointError("\n".join(lines).rstrip())

"""The checkpoints that the open one can be compared with, the most similar first."""

from app.library import checkpoints
from app.library.catalogue import Entry, entry
from app.library.checkpoints import CheckpointFile
from app.library.snapshots import run_and_update, snapshots
from app.stage.checkpoint_choice import uploads


def other_checkpoints(mine: CheckpointFile) -> dict[str, CheckpointFile]:
    """All checkpoints but the open one, by name, the most similar first.

    If the open one is a snapshot, the other snapshots of its run come first. Then come checkpoints that have the same
    languages and, by their headers, the same vocabulary size, heads and decoder layers. Files that cannot be opened are
    last.
    """
    found = run_and_update(mine.name)
    of_run = {file.name: file for file in reversed(snapshots(found[0]).values())} if found else {}  # the latest first
    files = of_run | checkpoints.checkpoints() | uploads()
    files.pop(mine.name, None)

    def unlike(file: CheckpointFile) -> tuple[bool, ...]:
        one, other = entry(file), entry(mine)
        facts = [(*each.languages, each.is_toy, *_sizes(each)) for each in (one, other)]
        return entry(file).header is None, file.name not in of_run, *(a != b for a, b in zip(*facts, strict=True))

    return {file.name: file for file in sorted(files.values(), key=unlike)}


def has_its_task(file: CheckpointFile, mine: CheckpointFile) -> bool:
    """Whether two checkpoints translate from the same language into the same language."""
    one, other = entry(file), entry(mine)
    return (one.languages, one.is_toy) == (other.languages, other.is_toy)


def _sizes(known: Entry) -> tuple[int, int, int]:
    config = known.header.config if known.header else None
    return (config.vocab_size, config.heads, config.decoder_layers) if config else (0, 0, 0)

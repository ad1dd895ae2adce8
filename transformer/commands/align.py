"""The command `align`: how well each attention head of a checkpoint aligns words, compared with people."""

import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transformer.commands.options import CheckpointFile, Device
from transformer.errors import CorpusError
from transformer.progress_bar import show_progress

if TYPE_CHECKING:
    from transformer.checkpoint.checkpoint_file import Checkpoint

HOME_PAIRS = 2000  # read from `home`: enough for two digits of the loss


def align(
    checkpoint: CheckpointFile,
    data: Annotated[
        Path,
        typer.Option(metavar="FILE.tsv[.gz]", help="Gold alignments: two sentences in words, sure and possible links."),
    ],
    swap: Annotated[
        bool, typer.Option("--swap", help="The second column is the source, the first its translation.")
    ] = False,
    home: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.tsv[.gz]",
            help="A text like that of training, in the columns of the recipe, for comparison; 2,000 pairs are read. "
            "Default: the recipe's data.valid, if that file exists.",
        ),
    ] = None,
    store: Annotated[
        bool, typer.Option("--store", help="Store the map beside the checkpoint, as NAME.alignment.json.")
    ] = False,
    device: Device = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print the map as one JSON object.")] = False,
) -> None:
    """Measure which head aligns words.

    The decoder reads the given translations. Each head of its encoder-decoder attention links each word to the word of
    the source that has the largest weight, and the links are compared with the gold ones. The result is the
    alignment error rate of each layer and head, measured twice: when the decoder predicts a word, and when it reads it.
    With --store the app shows the map, and opens word alignments with the best heads.

    A line of the file: two sentences, words separated by one space, then sure and possible links such as 0-0 2-1 (word
    of the first column - word of the second, from 0), separated by TABs. Without the fourth column all links are sure.

    \b
    Examples:
      python -m transformer align pretrained/en-de.safetensors --data gold-en-de.tsv.gz --store
      python -m transformer align pretrained/en-de.safetensors --data gold-de-en.tsv.gz --swap --home valid.tsv.gz
    """
    from dataclasses import asdict

    from transformer.analysis.alignment.alignment_map import write_map
    from transformer.analysis.alignment.alignment_report import as_text
    from transformer.analysis.alignment.gold_alignments import read_gold
    from transformer.analysis.alignment.measure_heads import measure, seems_swapped
    from transformer.checkpoint.checkpoint_file import load_checkpoint
    from transformer.device import choose_device

    gold = read_gold(data, swap=swap)
    loaded = load_checkpoint(checkpoint, choose_device(device))
    with show_progress("pairs") as advance:
        found = measure(loaded, gold, _home(loaded, home), advance)
    if seems_swapped(loaded, gold, found.text):
        other = "without --swap" if swap else "with --swap"
        typer.echo(f"Source and target seem swapped: the other direction has a lower loss. Try {other}.", err=True)
    typer.echo(json.dumps(asdict(found)) if as_json else as_text(found))
    if store:
        typer.echo(f"Written: {write_map(found, checkpoint)}", err=True)


def _home(checkpoint: "Checkpoint", given: Path | None) -> tuple[str, list[tuple[str, str]]] | None:
    """A text like that of training: the given file, or the recipe's validation text if that file exists."""
    from transformer.data.corpus import Columns, plain_pairs

    data = (checkpoint.recipe or {}).get("data", {})
    valid = data.get("valid") if isinstance(data, dict) else None
    columns = [data.get(name) if isinstance(data, dict) else None for name in ("source_column", "target_column")]
    source, target = (column if isinstance(column, int) else i for i, column in enumerate(columns, 1))
    if given is None and isinstance(valid, str) and valid.endswith((".tsv", ".tsv.gz")) and Path(valid).is_file():
        given = Path(valid)
    if given is None:
        return None
    text = Columns(given, source, target)
    usable = (pair for portion in text.portions() for pair in plain_pairs(text, portion) if all(pair))
    pairs = list(islice(usable, HOME_PAIRS))
    if not pairs:
        raise CorpusError(f"{given}: no line has text on both sides. Are these the right columns?")
    return "/".join(given.parts[-2:]), pairs

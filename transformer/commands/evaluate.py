"""The command `evaluate`: scores of a checkpoint on a test set, its translations, and a comparison with another one."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transformer.commands.options import (
    Beam,
    CheckpointFile,
    Device,
    Precision,
    Rerank,
    beside_other_programs,
    check_output,
    open_translator,
    settings_of,
    with_reranking,
)
from transformer.data.hugging_face_address import is_data_set
from transformer.files.atomic_write import replacing
from transformer.progress_bar import show_progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from transformer.commands.scored_text import ScoredText
    from transformer.config import DecodingConfig
    from transformer.decoding.reranking import Reranker
    from transformer.decoding.translator import Translator
    from transformer.evaluation import Outputs


def evaluate(
    checkpoint: CheckpointFile,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Sentences and their translations: .tsv or .tsv.gz, one pair per line; hf:NAME:CONFIG:SPLIT; or, with "
            "--target, the sentences alone.",
        ),
    ] = None,
    target: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The translations, aligned with --data line by line.")
    ] = None,
    required_words: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.tsv", help="Instead of --data: sentences, and words that their translations must contain."
        ),
    ] = None,
    source_column: Annotated[
        int, typer.Option(min=1, metavar="N", help="Column of the sentences, counted from 1.")
    ] = 1,
    target_column: Annotated[int, typer.Option(min=1, metavar="N", help="Column of the translations.")] = 2,
    source_language: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of a Hugging Face data set. Default: the recipe's.")
    ] = None,
    target_language: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of a Hugging Face data set. Default: the recipe's.")
    ] = None,
    hypotheses: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the translations here: one line for each line of the test set."),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="CHECKPOINT", help="Another model: is the difference of the scores significant?"),
    ] = None,
    beam: Beam = None,
    rerank: Rerank = None,
    device: Device = "auto",
    precision: Precision = "float32",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Score a checkpoint on a test set.

    The scores are BLEU and chrF by sacrebleu, with their signatures. Rows with the same source are references of one
    sentence, which is translated once. Rows with an empty side are left out; in the file of --hypotheses their lines
    are empty.

    With --against the same sentences are translated by another model, too, and sacrebleu's paired bootstrap test says
    whether the difference may be chance. Scores are of plain text, so the two may have different vocabularies; they
    must have the same languages. Each is decoded by its own recipe; --beam applies to both, --rerank to the first only.

    Without --data, a model of a toy task is scored on up to 1,000 pairs that are held out from training.

    With --required-words no score is computed: the command counts the translations that have all words that a file asks
    for (names, numbers, a negation, ...), and prints those that lack one. transformer/required_words.py has the format.

    \b
    Examples:
      python -m transformer evaluate pretrained/en-de.safetensors --data test.tsv.gz
      python -m transformer evaluate my.safetensors --data test.en --target test.de --hypotheses out.txt
      python -m transformer evaluate my.safetensors --data test.tsv.gz --against pretrained/en-de.safetensors
      python -m transformer evaluate my.safetensors --data hf:wmt/wmt14:de-en:test --beam 4
      python -m transformer evaluate pretrained/reverse.safetensors
      python -m transformer evaluate en-de.safetensors --data test.tsv.gz --rerank de-en.safetensors
      python -m transformer evaluate my.safetensors --required-words pretrained/hundred-sentences/en-de.tsv
      python -m transformer evaluate my.safetensors --data de-en.tsv --source-column 2 --target-column 1 --json
    """
    from transformer import required_words as words
    from transformer.commands.model_comparison import compare, open_other
    from transformer.commands.scored_text import read_scored_text
    from transformer.evaluation import as_text, score_outputs

    _check_options(data, target, required_words, hypotheses, against)
    _check_parts(data, target, (source_column, target_column), (source_language, target_language))
    check_output(hypotheses, "--hypotheses", checkpoint, data, target, against, rerank)
    required = words.read_required(required_words) if required_words else []
    translator = open_translator(checkpoint, device, precision)
    settings = settings_of(translator, beam)
    searching = with_reranking(translator, rerank, settings, device, precision)
    with show_progress("sentences") as advance, beside_other_programs(translator):
        if required:
            result = words.check_words(searching, required, settings, advance)
            shown = words.as_text(result)
        else:
            named = (source_language, target_language)
            text = read_scored_text(translator, data, target, (source_column, target_column), named)
            other = open_other(against, translator, device, precision, beam) if against else None
            outputs = _translate(searching, text, settings, hypotheses, advance)
            result = score_outputs(outputs, text.pairs)
            shown = as_text(result)
            if other:
                result["against"], compared = compare(other, outputs, text.pairs, settings, advance)
                shown += f"\n\n{compared}"
    result |= {"checkpoint": str(checkpoint), "data": str(data or required_words or "pairs of the toy task")}
    result |= {"device": str(next(translator.model.parameters()).device), "precision": precision}
    result |= {name: str(file) for name, file in (("target", target), ("rerank", rerank)) if file}
    result |= {"decoding": asdict(settings), "date": date.today().isoformat()}
    typer.echo(json.dumps(result, ensure_ascii=False) if as_json else shown)


def _translate(
    translator: "Translator | Reranker",
    text: "ScoredText",
    settings: "DecodingConfig",
    hypotheses: Path | None,
    advance: "Callable[[int, int], None]",
) -> "Outputs":
    """Translates a test set. When all of it is translated, the file of --hypotheses is replaced, if one is named."""
    from transformer.decoding.translate_lines import as_one_line
    from transformer.evaluation import translate_sources

    with (
        _replacing_a_file(hypotheses) if hypotheses else nullcontext() as place
    ):  # opened before translating, so that an error is reported at once
        outputs = translate_sources(translator, text.pairs, settings, advance)
        if place:
            with place.open("w", encoding="utf-8", newline="\n") as file:
                lines = (as_one_line(outputs.texts[row[0]]) if all(row) else "" for row in text.rows)
                file.writelines(f"{line}\n" for line in lines)
    return outputs


@contextmanager
def _replacing_a_file(path: Path) -> Iterator[Path]:
    """Yields the path to write to: a temporary file, which then replaces `path` (or its target, if `path` is a link). A
    pipe or a device, such as /dev/stdout, cannot be replaced, so it is written to directly."""
    if path.exists() and not path.is_file():
        yield path
    else:
        with replacing(path.resolve()) as temporary:
            yield temporary


def _check_options(
    data: str | None, target: Path | None, required_words: Path | None, hypotheses: Path | None, against: Path | None
) -> None:
    if data is not None and required_words is not None:
        raise typer.BadParameter("give one of --data and --required-words.")
    if required_words is not None and (hypotheses or against):
        raise typer.BadParameter("--hypotheses and --against are for scores: give --data instead of --required-words.")
    if target is not None and data is None:
        raise typer.BadParameter("--target is aligned with the sentences of --data: give --data, too.")
    if target is not None and data is not None and is_data_set(data):
        raise typer.BadParameter("a Hugging Face data set (hf:) brings both sides: leave --target out.")


def _check_parts(
    data: str | None, target: Path | None, columns: tuple[int, int], named: tuple[str | None, str | None]
) -> None:
    of_hugging_face = data is not None and is_data_set(data)
    if any(named) and not of_hugging_face:
        raise typer.BadParameter("--source-language and --target-language are for Hugging Face data sets (hf:).")
    if columns != (1, 2) and (data is None or of_hugging_face or target is not None):
        raise typer.BadParameter("--source-column and --target-column are for one file with both sides.")

"""The commands for checkpoint files: `average` several, `inspect` one, examine it with `doctor`, `export` it for
another engine."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from transformer.commands.options import CheckpointFile, open_translator
from transformer.errors import ConfigError


def average(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The checkpoint to write.")],
    checkpoints: Annotated[list[Path], typer.Argument(metavar="CHECKPOINT", help="The checkpoints to average.")],
) -> None:
    """Average the weights of checkpoints of one run.

    The mean of the last few often translates better than each of them (section 6.1 of the paper). An existing file
    is not overwritten.

    \b
    Example:
      python -m transformer average mean.safetensors runs/mine/recent/*.safetensors
    """
    from transformer.checkpoint.averaging import average_checkpoints

    if out.exists() or len(checkpoints) < 2:  # most likely OUT was forgotten
        there = f"{out} exists already. " if out.exists() else ""
        raise ConfigError(f"{there}Name first the new file to write, then at least two checkpoints to average.")
    average_checkpoints(out, checkpoints)
    typer.echo(f"{out} is the average of {len(checkpoints)} checkpoints.", err=True)


def inspect(
    checkpoint: CheckpointFile,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what is in a checkpoint.

    That is its configuration, parameters by part, tokenizer, metrics, and every site of the model that can be probed,
    with its shape.

    \b
    Examples:
      python -m transformer inspect pretrained/en-de.safetensors
      python -m transformer inspect pretrained/en-de.safetensors --json
    """
    from transformer.analysis.inspection import as_text, describe
    from transformer.checkpoint.checkpoint_file import load_checkpoint

    description = describe(load_checkpoint(checkpoint))
    typer.echo(json.dumps(description) if as_json else as_text(description))


def doctor(
    checkpoint: CheckpointFile,
    sentence: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A sentence to translate, for more tests.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array, one object per finding.")] = False,
) -> None:
    """Say what is wrong with a checkpoint.

    In the weights: NaN, LayerNorm gains that have exploded, dead feed-forward units. With a sentence also: a decoder
    that ignores the source, attention that is uniform or stays on one token, characters that are not in the vocabulary,
    a sentence longer than those of the training, an output that repeats itself. A good model has no findings.

    \b
    Examples:
      python -m transformer doctor pretrained/en-de.safetensors
      python -m transformer doctor pretrained/en-de.safetensors --sentence "Where is the 🚂?"
    """
    from transformer.analysis.doctor import as_text, diagnose, examine_checkpoint

    translator = open_translator(checkpoint, "cpu")
    findings = examine_checkpoint(translator).findings if sentence is None else diagnose(translator, sentence)
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in findings]))
    else:
        typer.echo(as_text(findings))


def export(
    checkpoint: CheckpointFile,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write. It must not exist yet.")],
    to: Annotated[Literal["ctranslate2", "huggingface"], typer.Option(help="The format.")] = "ctranslate2",
    quantization: Annotated[
        Literal["float32", "float16", "bfloat16", "int8"], typer.Option(help="How the weights are stored.")
    ] = "float32",
) -> None:
    """Write a model for CTranslate2 or for Hugging Face.

    The folder gets the model, its vocabulary, and for CTranslate2 a README.md with the code that translates.
    In float32, all or nearly all translations are the same. With --to huggingface it is a model that
    `transformers.AutoModelForSeq2SeqLM.from_pretrained` loads, in float32: MarianMT, or with pre-norm Pegasus.

    \b
    Examples:
      python -m transformer export --to ctranslate2 pretrained/en-de.safetensors en-de-ct2
      python -m transformer export --to ctranslate2 pretrained/en-de.safetensors en-de-int8 --quantization int8
      python -m transformer export --to huggingface pretrained/en-de.safetensors en-de-hf
    """
    from transformer.export.ctranslate2_model import export_ctranslate2
    from transformer.export.huggingface_model import export_huggingface

    translator = open_translator(checkpoint, "cpu")
    assert translator.checkpoint is not None
    if to == "huggingface":
        if quantization != "float32":
            raise ConfigError("--quantization is for --to ctranslate2. Hugging Face gets float32.")
        loads = export_huggingface(translator.checkpoint, folder, translator.settings)
        typer.echo(f"{folder} is a model of Hugging Face: load it with transformers.{loads}.from_pretrained.", err=True)
        return
    export_ctranslate2(translator.checkpoint, folder, translator.settings, quantization)
    typer.echo(f"{folder} is a model for {to}. {folder / 'README.md'} says how to translate with it.", err=True)

"""The command `import`: a model that others trained becomes a checkpoint, which every page of the app opens."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from transformer.errors import ConfigError


def import_model(
    kind: Annotated[Literal["marian"], typer.Argument(metavar="marian", help="The kind of model.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Its folder, as Hugging Face stores it.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The checkpoint to write: a new .safetensors file.")],
    half: Annotated[bool, typer.Option(help="Store the weights in half precision.")] = True,
) -> None:
    """Make a checkpoint from a MarianMT model of Hugging Face.

    For example, the opus-mt models of Helsinki-NLP. With --no-half, logits and translations are those of Hugging Face;
    the default rounds the weights to float16. In the app the checkpoint is opened by "Open your own checkpoint", or
    from the folder pretrained/. The licence of the model does not change.

    \b
    Examples:
      hf download Helsinki-NLP/opus-mt-en-de --local-dir opus-mt-en-de
      python -m transformer import marian opus-mt-en-de pretrained/opus-mt-en-de.safetensors
    """
    from transformer.importing.marian_import import import_marian

    if out.exists():
        raise ConfigError(f"{out} exists already. Name a new file.")
    config = import_marian(folder, out, half=half).model.config
    layers = f"{config.encoder_layers} + {config.decoder_layers} layers, {config.heads} heads, d_model {config.d_model}"
    typer.echo(f"{out} is the {kind} model of {folder}: {layers}, {config.vocab_size:,} tokens.", err=True)

"""The command line: train, queue, translate, evaluate, align, average, inspect, doctor, export, import.

    python -m transformer COMMAND --help

Each command prints its errors as sentences on stderr and ends with status 1 (2 if the command itself was wrong).
Results go to stdout, messages to stderr. The commands are in `transformer/commands`; modules that need torch are
imported inside them, so that --help is fast.
"""

import errno
import logging
from typing import Any

import typer
from typer.core import TyperGroup

from transformer.commands.align import align
from transformer.commands.checkpoint_files import average, doctor, export, inspect
from transformer.commands.evaluate import evaluate
from transformer.commands.import_model import import_model
from transformer.commands.queue import queue
from transformer.commands.train import train
from transformer.commands.translate import translate
from transformer.errors import ConfigError, HeadlightError, Stopped

OUT_OF_MEMORY = (
    "The memory of {where} is full ({reason}). To train, lower data.tokens_per_batch and raise training.accumulate by "
    "as much, for the same updates in smaller parts. A run cannot be resumed with other batches: start one in another "
    "--run-dir, with --init-from and the last.safetensors of the first to keep its weights. To translate or "
    "to score, give fewer sentences at once{instead}."
)


class Commands(TyperGroup):
    """All commands; an error that a user can correct is printed without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        logging.basicConfig(format="%(message)s")  # to stderr
        logging.getLogger("transformer").setLevel(logging.INFO)
        try:
            return super().invoke(ctx)
        except HeadlightError as error:
            typer.echo(str(error) if isinstance(error, Stopped) else f"Error: {error}", err=True)
            raise typer.Exit(2 if isinstance(error, ConfigError) else 1) from None
        except (RuntimeError, MemoryError) as error:
            if not (message := _out_of_memory(error)):
                raise
            typer.echo(f"Error: {message}", err=True)
            raise typer.Exit(1) from None
        except OSError as error:  # a missing file, a full disk
            if error.errno == errno.EPIPE:  # `... | head -1`: typer handles it
                raise
            full = " Free some space and give the command again." if error.errno == errno.ENOSPC else ""
            where = error.filename2 or error.filename or "A file could not be read or written"  # filename2 is written
            typer.echo(f"Error: {where}: {error.strerror or error}.{full}", err=True)
            raise typer.Exit(1) from None


def _out_of_memory(error: RuntimeError | MemoryError) -> str:
    """The message for this error; "" if it is another one. torch, which is not imported here, has an error class for
    the memory of a GPU and none for the memory of the machine."""
    _, of_the_machine, reason = str(error).rpartition("DefaultCPUAllocator: ")
    reason = reason.strip().partition(". ")[0]
    if of_the_machine or isinstance(error, MemoryError):
        return OUT_OF_MEMORY.format(where="this machine", reason=reason or "none is left", instead="")
    if type(error).__name__ == "OutOfMemoryError" or "out of memory" in reason:
        return OUT_OF_MEMORY.format(where="the GPU", reason=reason, instead=", or --device cpu")
    return ""


app = typer.Typer(
    cls=Commands,
    help="Train a Transformer, translate with it, and look inside. Each command has --help of its own, with examples.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain text, so that examples (after a \b, which keeps their lines) can be copied
    pretty_exceptions_enable=False,
)

for command in (train, queue, translate, evaluate, align, average, inspect, doctor, export):  # in the order of the help
    app.command()(command)
app.command("import")(import_model)

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
from transformer.errors import ConfigError, HeadlightError, Stopped, out_of_memory


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
            if not (message := out_of_memory(error)):
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

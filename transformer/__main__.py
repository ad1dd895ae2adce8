"""`python -m transformer`: see `transformer.cli`."""

from transformer.cli import app

app(prog_name="python -m transformer")

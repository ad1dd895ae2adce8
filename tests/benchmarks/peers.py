"""The option --opennmt of benchmarks: another library that needs its own interpreter."""

import subprocess

import typer


def with_opennmt(python: str | None) -> str | None:
    """Checks the option."""
    if python is not None:
        try:
            subprocess.run([python, "-W", "ignore", "-c", "import onmt"], check=True)
        except (OSError, subprocess.CalledProcessError) as problem:
            raise typer.BadParameter(
                f"{python} is not a Python that can import OpenNMT-py ({problem}). Make one with `python -m venv "
                "FOLDER` and `FOLDER/bin/pip install OpenNMT-py==3.0.4 torch==2.13.0`, and give FOLDER/bin/python."
            ) from None
    return python

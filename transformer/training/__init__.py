"""Training: trainer.py reads top to bottom; the other files are the parts that it uses."""

from transformer.training.trainer import train

__all__ = ["train"]

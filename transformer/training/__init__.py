"""Training: one recipe that reads top to bottom (trainer.py), and the parts it is made of."""

from transformer.training.trainer import train

__all__ = ["train"]

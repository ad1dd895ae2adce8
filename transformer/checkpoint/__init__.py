"""Checkpoints: one safe file in, one safe file out; averaging."""

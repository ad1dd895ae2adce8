"""Checkpoints: each is stored as one safe file. Several can be averaged."""

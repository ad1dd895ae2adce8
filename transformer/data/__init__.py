"""Corpora: reading, cleaning, toy tasks, preparation on disk, batches by tokens."""

"""Models that others trained, as checkpoints of Headlight."""

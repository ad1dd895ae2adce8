"""The page models."""

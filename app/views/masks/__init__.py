"""The page masks."""
